import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { passagesOfPage } from './page.ts';
import type { Finding } from './passage.ts';
import { getFindings } from './rules.ts';
import { passagesOfSource } from './source.ts';
import { findingsOfSubject, subjectsToCheck } from './subjects.ts';
import { SKIPPED, USER_PAGES } from './words.ts';

/**
 * Checks the English of pages, programs and commit subjects (CONTRIBUTING.md, section "Style"). Prints the findings, and exits with 1 if
 * there are any. `--file FILE` checks one file.
 */

const FOLDERS = ['runtime', 'infra', 'sandbox', 'bench', 'docs'];

const isUserPage = (file: string): boolean =>
  USER_PAGES.some((page) => (page.endsWith('/') ? file.startsWith(page) : file === page));

function check(file: string): readonly string[] {
  const text = readFileSync(file, 'utf8');
  const passages = file.endsWith('.md')
    ? passagesOfPage(text, isUserPage(file) ? 'userPage' : 'page')
    : passagesOfSource(file, text);
  return passages.flatMap(getFindings).map((finding) => shown(`${file}:${finding.line}`, finding));
}

function checkAll(): readonly string[] {
  const inFolders = FOLDERS.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  );
  const files = [...readdirSync('.'), ...inFolders].filter(
    (file) => /\.(?:md|ts|mjs|cjs|js)$/.test(file) && !SKIPPED.test(file),
  );
  const subjects = subjectsToCheck().flatMap(([hash, subject]) =>
    findingsOfSubject(subject).map((finding) => shown(`commit ${hash}`, finding)),
  );
  return [...files.flatMap(check), ...subjects];
}

const shown = (where: string, { found, instead, rule }: Omit<Finding, 'line'>): string =>
  `${where}: '${found}' → '${instead}' (rule ${rule})\n`;

const { file } = parseArgs({ options: { file: { type: 'string' } } }).values;
const findings = file === undefined ? checkAll() : check(file);
if (findings.length > 0) {
  process.stdout.write(`${findings.join('')}findings: ${findings.length}\n`);
  process.exitCode = 1;
}
