import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { formatKnown, lowered, outdated, overdrawn, parseKnown, type Counts } from './known.ts';
import { passagesOfPage } from './page.ts';
import type { Finding } from './passage.ts';
import { getFindings } from './rules.ts';
import { passagesOfSource } from './source.ts';
import { findingsOfSubject, subjectsToCheck } from './subjects.ts';
import { SKIPPED, USER_PAGES } from './words.ts';

/**
 * Checks the English of pages, programs and commit subjects (CONTRIBUTING.md, section "Style"). Exits with 1 if a file has more or fewer
 * findings than sandbox/english/known.txt lists. `--update` lowers its numbers, `--file FILE` and `--all` print findings.
 */

const LIST = join('sandbox', 'english', 'known.txt');
const FOLDERS = ['runtime', 'infra', 'sandbox', 'bench', 'docs'];

const isUserPage = (file: string): boolean =>
  USER_PAGES.some((page) => (page.endsWith('/') ? file.startsWith(page) : file === page));

function check(file: string): readonly Finding[] {
  const text = readFileSync(file, 'utf8');
  const passages = file.endsWith('.md')
    ? passagesOfPage(text, isUserPage(file) ? 'userPage' : 'page')
    : passagesOfSource(file, text);
  return passages.flatMap(getFindings);
}

const filesToCheck = (): readonly string[] =>
  [
    ...readdirSync('.'),
    ...FOLDERS.flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
    ),
  ].filter((file) => /\.(?:md|ts|mjs|cjs|js)$/.test(file) && !SKIPPED.test(file));

const shown = (where: string, { found, instead, rule }: Omit<Finding, 'line'>): string =>
  `${where}: '${found}' → '${instead}' (rule ${rule})\n`;
const inFile = (file: string, findings: readonly Finding[]): readonly string[] =>
  findings.map((finding) => shown(`${file}:${finding.line}`, finding));

const print = (lines: readonly string[]): number => {
  process.stdout.write(lines.join(''));
  return lines.length > 0 ? 1 : 0;
};

function checkTree(mayUpdate: boolean): number {
  const findings = new Map(filesToCheck().map((file) => [file, check(file)]));
  const counts: Counts = new Map([...findings].map(([file, { length }]) => [file, length]));
  const listed = parseKnown(readFileSync(LIST, 'utf8'));
  const known = mayUpdate ? lowered(listed, counts) : listed;
  if (mayUpdate) writeFileSync(LIST, formatKnown(known));
  const subjects = subjectsToCheck().flatMap(([hash, subject]) =>
    findingsOfSubject(subject).map((finding) => shown(`commit ${hash}`, finding)),
  );
  const [more, fewer] = [overdrawn(known, counts), outdated(known, counts)];
  const difference = (file: string): string =>
    `${file}: ${counts.get(file) ?? 0} found, ${known.get(file) ?? 0} listed`;
  const lines = [
    ...more.flatMap((file) => inFile(file, findings.get(file) ?? [])),
    ...subjects,
    ...more.map((file) => `${difference(file)}: fix what this change added\n`),
    ...fewer.map((file) => `${difference(file)}: run \`npm run english -- --update\` and commit ${LIST}\n`),
  ];
  const [files, commits] = [more.length + fewer.length, subjects.length];
  return print(files + commits > 0 ? [...lines, `files: ${files}, commit subjects: ${commits}\n`] : []);
}

function checkFiles(files: readonly string[]): number {
  const lines = files.flatMap((file) => inFile(file, check(file)));
  return print(lines.length > 0 ? [...lines, `findings: ${lines.length}\n`] : []);
}

const { values } = parseArgs({
  options: { file: { type: 'string' }, all: { type: 'boolean' }, update: { type: 'boolean', default: false } },
});
if (values.file !== undefined) process.exitCode = checkFiles([values.file]);
else process.exitCode = values.all ? checkFiles(filesToCheck()) : checkTree(values.update);
