import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { parse } from 'yaml';
import { ConfigError, describeError } from '../../wording/errors.ts';

/** Merges as kubectl does: the first file that has a name or a current context wins. In the library, the last one does. */
export function mergeFiles(files: readonly string[]): KubeConfig {
  const all = files.map((file) => {
    const config = new KubeConfig();
    // An empty file has nothing, and kubectl itself writes contexts without a cluster.
    if (parse(readFileSync(file, 'utf8')) !== null) config.loadFromFile(file, { onInvalidEntry: 'filter' });
    return config;
  });
  const merged = new KubeConfig();
  merged.loadFromOptions({
    clusters: firstOfName(all.flatMap(({ clusters }) => clusters)),
    users: firstOfName(all.flatMap(({ users }) => users)),
    contexts: firstOfName(all.flatMap(({ contexts }) => contexts)),
    currentContext: all.map(({ currentContext }) => currentContext).find(Boolean),
  });
  return merged;
}

const firstOfName = <T extends { readonly name: string }>(all: readonly T[]): readonly T[] =>
  all.filter(({ name }, index) => all.findIndex((each) => each.name === name) === index);

/** With one of them, the program would act as another user than kubectl. */
const unsupported = ['as-groups', 'as-uid', 'as-user-extra'];

interface Entry {
  readonly name: string;
  readonly user?: Readonly<Record<string, unknown>>;
}

/** Adds the token of a file to the current user. The library ignores it, and keys that would make it another user. */
export function completeUser(config: KubeConfig, files: readonly string[]): void {
  const current = config.getCurrentUser();
  if (current === null) return;
  for (const file of files) {
    const content = parse(readFileSync(file, 'utf8')) as { readonly users?: readonly Entry[] | null } | null;
    const found = content?.users?.find(({ name }) => name === current.name);
    if (found === undefined) continue;
    const { tokenFile, ...user } = found.user ?? {};
    const subject = `The user '${found.name}' of ${file}`;
    const key = unsupported.find((each) => each in user);
    if (key !== undefined)
      throw new ConfigError([`${subject} sets ${key}, which this program does not support. Pass another context.`]);
    if (typeof tokenFile === 'string')
      config.users = [{ ...current, token: readToken(resolve(dirname(file), tokenFile), subject) }];
    return;
  }
}

function readToken(file: string, subject: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new ConfigError([`${subject} has a token file that cannot be read: ${describeError(error)}`]);
  }
}
