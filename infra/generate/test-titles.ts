import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('../..', import.meta.url));
const trees = ['infra', 'runtime', 'sandbox'];

/** A `describe`, `it` or `test` of a file, with those inside of it. */
interface Titled {
  readonly title: string;
  readonly inner: readonly Titled[];
}

/** Returns docs/contributing/tests.md: the titles of all tests, by folder and file. */
export function testTitles(): string {
  const files = trees.flatMap((tree) =>
    readdirSync(join(root, tree), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.test.ts'))
      .map((file) => join(tree, file)),
  );
  const folders = [...new Set(files.map(dirname))].sort();
  return [
    '# Titles of the tests',
    '',
    'Generated from the test files by `npm run generate`; do not edit. A title with `%s` or `$` stands for a row of a table.',
    ...folders.flatMap((folder) => [
      '',
      `## ${folder}`,
      ...files
        .filter((file) => dirname(file) === folder)
        .sort()
        .flatMap(section),
    ]),
    '',
  ].join('\n');
}

function section(file: string): string[] {
  const source = ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.Latest);
  const lines = titlesIn(source).flatMap((each) => toLines(each, ''));
  return lines.length === 0 ? [] : ['', `### ${file.slice(dirname(file).length + 1)}`, '', ...lines];
}

const toLines = ({ title, inner }: Titled, indent: string): string[] => [
  `${indent}- ${escaped(title)}`,
  ...inner.flatMap((each) => toLines(each, `${indent}  `)),
];

const escaped = (text: string): string => text.replaceAll(/\s+/g, ' ').replaceAll(/[\\`*_<>[\]|#]/g, '\\$&');

function titlesIn(node: ts.Node): Titled[] {
  const found: Titled[] = [];
  ts.forEachChild(node, (child) => {
    const title = toTitle(child);
    if (title === undefined) found.push(...titlesIn(child));
    else found.push({ title, inner: titlesIn(child) });
  });
  return found;
}

/** Returns the title of a call such as `it('…', …)` or `describe.each(rows)('…', …)`; undefined for any other node. */
function toTitle(node: ts.Node): string | undefined {
  if (!ts.isCallExpression(node) || !['describe', 'it', 'test'].includes(getName(node.expression))) return undefined;
  const [first] = node.arguments;
  if (first === undefined || node.arguments.length < 2) return undefined;
  if (ts.isStringLiteralLike(first)) return first.text;
  return ts.isTemplateExpression(first)
    ? [first.head.text, ...first.templateSpans.map(({ literal }) => literal.text)].join('%s')
    : undefined;
}

/** Returns the name at the root of `it`, `it.each` and `it.each(rows)`. */
function getName(expression: ts.Expression): string {
  if (ts.isIdentifier(expression)) return expression.text;
  if (ts.isPropertyAccessExpression(expression) || ts.isCallExpression(expression))
    return getName(expression.expression);
  return ts.isTaggedTemplateExpression(expression) ? getName(expression.tag) : '';
}
