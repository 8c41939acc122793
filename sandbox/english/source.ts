import ts from 'typescript';
import { passagesOfPage } from './page.ts';
import type { Passage } from './passage.ts';

const PARSING = { languageVersion: ts.ScriptTarget.Latest, jsDocParsingMode: ts.JSDocParsingMode.ParseNone };

/** Returns the prose of a program: comments, titles of tests, and texts for people. */
export function passagesOfSource(file: string, source: string): readonly Passage[] {
  const tree = ts.createSourceFile(file, source, PARSING, true);
  const messages: Passage[] = [];
  const literals: ts.Node[] = [];
  const visit = (node: ts.Node): void => {
    if (isLiteralToken(node)) literals.push(node);
    messages.push(...getMessage(node, file));
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return [...getComments(withoutLiterals(source, literals), tree), ...messages];
}

const getLine = (tree: ts.SourceFile, position: number): number => tree.getLineAndCharacterOfPosition(position).line;

const isLiteralToken = (node: ts.Node): boolean =>
  ts.isLiteralExpression(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node);

/** Blanks literals, in which `//` begins no comment. Positions are kept. */
function withoutLiterals(source: string, literals: readonly ts.Node[]): string {
  let at = 0;
  const parts = literals.map((node) => {
    const before = source.slice(at, node.getStart());
    const literal = source.slice(node.getStart(), node.end);
    at = node.end;
    return before + literal.replaceAll(/[^\n]/g, ' ');
  });
  return parts.join('') + source.slice(at);
}

const COMMENT = /\/\*[^]*?\*\/|\/\/.*(?:\n[ \t]*\/\/.*)*/g;
const COMMENT_MARKS = /^[ \t]*(?:\/\*+|\*\/|\*|\/\/+)[ \t]?|[ \t]*\*\/$/gm;
const DIRECTIVE = /^\s*(?:eslint|@ts-|prettier-|@__|#__)/;

const getComments = (source: string, tree: ts.SourceFile): readonly Passage[] =>
  [...source.matchAll(COMMENT)].flatMap(({ 0: comment, index }) => {
    const text = comment.replaceAll(COMMENT_MARKS, '');
    if (DIRECTIVE.test(text)) return [];
    const before = getLine(tree, index);
    // A tag of a doc comment begins a paragraph.
    const markdown = text.replaceAll(/^@\w+/gm, '- ');
    return passagesOfPage(markdown, 'comment').map((each) => ({ ...each, line: each.line + before }));
  });

/** A literal, a template or a sum of them is one text. Each paragraph is a passage at its first line. */
function getMessage(node: ts.Node, file: string): readonly Passage[] {
  const text = isPartOfSum(node) ? undefined : toText(node);
  if (text === undefined) return [];
  const isTitle = isTestTitle(node);
  if (!isTitle && file.endsWith('.test.ts')) return [];
  const line = getLine(node.getSourceFile(), node.getStart()) + 1;
  return text
    .split(/\n\s*\n/)
    .filter((paragraph) => isTitle || isProse(paragraph))
    .map((raw) => ({ kind: isTitle ? 'title' : 'message', text: plain(raw), raw, line }));
}

const plain = (text: string): string => text.replaceAll(/`[^`]*`/g, 'x').replaceAll('\n', ' ');

const isSum = (node: ts.Node): node is ts.BinaryExpression =>
  ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken;
const isPartOfSum = ({ parent }: { readonly parent: ts.Node | undefined }): boolean =>
  parent !== undefined && isSum(parent);

function toText(node: ts.Node): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isTemplateExpression(node))
    return node.head.text + node.templateSpans.map(({ literal }) => `x${literal.text}`).join('');
  if (!isSum(node)) return undefined;
  const left = toText(node.left);
  const right = toText(node.right);
  return left === undefined && right === undefined ? undefined : `${left ?? 'x'}${right ?? 'x'}`;
}

const isTestTitle = ({ parent: call }: ts.Node): boolean =>
  ts.isCallExpression(call) && /^(?:it|test|describe)\b/.test(call.expression.getText());

/** Returns true for four words or more, most of them plain. A query, a path, a script or YAML is no prose. */
function isProse(text: string): boolean {
  const tokens = plain(text).trim().split(/\s+/);
  const words = tokens.filter((token) => /^["'“(]*[A-Za-z][a-z’'-]*[.,:;!?)"'”]*$/.test(token));
  return words.length >= 4 && words.length >= 0.7 * tokens.length && !/[{}]\s*$|^\s*[#/]|=>|&&|\|\|/.test(text);
}
