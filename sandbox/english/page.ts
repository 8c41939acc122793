import { lexer, type Token, type Tokens } from 'marked';
import { lineFeeds, type Kind, type Passage } from './passage.ts';

type Block = Omit<Passage, 'kind'>;

/** `npm run generate` writes these parts. The check reads their text in its source. */
const GENERATED = /<!-- (\S+): generated -->[^]*?<!-- \/\1 -->/g;

/** Returns the prose of a page, or of a comment, which is Markdown as well: no code blocks, no HTML. */
export const passagesOfPage = (markdown: string, kind: Kind): readonly Passage[] =>
  inBlocks(lexer(markdown.replaceAll(GENERATED, onlyLineFeeds)), 1).map((block) => ({ ...block, kind }));

function inBlocks(tokens: readonly Token[], line: number): readonly Block[] {
  let at = line;
  return tokens.flatMap((token) => {
    const blocks = inBlock(token, at);
    at += lineFeeds(token.raw);
    return blocks;
  });
}

function inBlock(token: Token, line: number): readonly Block[] {
  switch (token.type) {
    case 'heading':
    case 'paragraph':
    case 'text':
      return [{ text: plain(token), raw: token.raw, line }];
    case 'list':
      return inBlocks((token as Tokens.List).items, line);
    case 'list_item':
    case 'blockquote':
      return inBlocks((token as Tokens.Blockquote).tokens, line);
    case 'table':
      return inTable(token as Tokens.Table, line);
    default:
      return [];
  }
}

/** The first row is two lines below the heads. */
const inTable = ({ header, rows }: Tokens.Table, line: number): readonly Block[] =>
  [header, [], ...rows].flatMap((cells, row) =>
    cells.map(({ text, tokens }) => ({ text: tokens.map(plain).join(''), raw: text, line: line + row })),
  );

function plain(token: Token): string {
  if (token.type === 'codespan' || /^<?https?:\S+$/.test(token.raw)) return `x${onlyLineFeeds(token.raw)}`;
  if (token.type === 'image' || token.type === 'html') return onlyLineFeeds(token.raw);
  if (token.type === 'br') return '\n';
  return 'tokens' in token && token.tokens ? token.tokens.map(plain).join('') : token.raw;
}

const onlyLineFeeds = (text: string): string => '\n'.repeat(lineFeeds(text));
