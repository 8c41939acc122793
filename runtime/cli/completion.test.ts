import { describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { completionFor } from './completion.ts';
import { createProgram } from './program.ts';
import { processShell } from './shell.ts';

const program = createProgram(processShell());

function offered(...words: readonly string[]): string[] {
  const script = `${completionFor('bash', program)}
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _lumigo; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync('bash', ['-c', script, 'bash', ...words], { encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout.trim().split('\n');
}

describe('the completion', () => {
  it('offers the commands that begin like the typed word, without those of the pods', () => {
    const all = ['check', 'completion', 'diagnose', 'explain', 'preview', 'status', 'uninstall'];
    expect(offered('lumigo', '').sort()).toEqual(all);
    expect(offered('lumigo', 'ex')).toEqual(['explain']);
  });

  it('offers the flags of a command, and those of every command', () => {
    expect(offered('lumigo', 'preview', '--')).toEqual(
      expect.arrayContaining(['--namespace', '--assume-lumigo', '--output', '--kubeconfig', '--context']),
    );
    expect(offered('lumigo', 'uninstall', '--n')).toEqual(['']);
  });

  it('has the same for zsh and fish', () => {
    expect(completionFor('zsh', program)).toContain(completionFor('bash', program));
    expect(completionFor('fish', program)).toContain(
      "complete -c lumigo -f -n '__fish_seen_subcommand_from status' -l watch -s w",
    );
  });
});
