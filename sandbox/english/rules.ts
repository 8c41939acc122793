import { lineFeeds, type Finding, type Passage } from './passage.ts';
import { HEADLESS, HEADLESS_FIRST, MAX_SEMICOLONS, MAX_WORDS, NOT_FOR_USERS, WORDS, type Word } from './words.ts';

type Text = Omit<Passage, 'raw'>;

interface Sentence extends Text {
  /** In its passage. */
  readonly isFirst: boolean;
}

/** The white space is a group, so that a split keeps its line feeds. */
const SENTENCE_END = /(?<=[^\s.][.!?]["'”’)\]]*)(?<!\b(?:e\.g|i\.e|vs|cf)\.)(\s+)/;
/** A number of docs/contributing/numbers.md and a mark of a list are no words of the sentence. */
const PREFIX = /^(?:[DF]\d+(?:, | and )?)+:\s|^[^\p{L}\p{N}]+/u;

export const getFindings = (passage: Passage): readonly Finding[] =>
  [
    ...toSentences(passage).flatMap((sentence) => RULES.flatMap((rule) => rule(sentence))),
    ...(passage.kind === 'userPage' ? matches(NOT_FOR_USERS, { ...passage, text: passage.raw }, 'facts') : []),
  ].toSorted((a, b) => a.line - b.line);

function toSentences({ kind, text, line }: Passage): readonly Sentence[] {
  const sentences: Sentence[] = [];
  let at = line;
  for (const [index, part] of text.split(SENTENCE_END).entries()) {
    if (index % 2 === 0 && part !== '') sentences.push({ kind, text: part, line: at, isFirst: index === 0 });
    at += lineFeeds(part);
  }
  return sentences;
}

const matches = (words: readonly Word[], { kind, text, line }: Text, rule: 'words' | 'facts'): readonly Finding[] =>
  words
    .filter(({ only = kind }) => only === kind)
    .flatMap(({ pattern, instead }) =>
      [...text.matchAll(pattern)].map((match) => {
        const found = match[0].replaceAll(/\s+/g, ' ');
        return { line: line + lineFeeds(text.slice(0, match.index)), rule, found, instead };
      }),
    );

function beginning({ kind, text, line, isFirst }: Sentence): readonly Finding[] {
  const words = text.replace(PREFIX, '').trim();
  if (/\?["'”’)\]]*$/.test(words) || countWords(words) < 4) return [];
  const isHead = isFirst && (kind === 'comment' || kind === 'title');
  const found = (HEADLESS.exec(words) ?? (isHead ? HEADLESS_FIRST.exec(words) : null))?.[0];
  return found === undefined ? [] : [{ line, rule: 'beginning', found, instead: "begin with the thing's name" }];
}

function length({ kind, text, line }: Sentence): readonly Finding[] {
  const words = countWords(text);
  const most = kind === 'userPage' ? MAX_WORDS.userPage : MAX_WORDS.other;
  return words <= most ? [] : [{ line, rule: 'length', found: `${words} words`, instead: `at most ${most}` }];
}

function semicolons({ text, line }: Sentence): readonly Finding[] {
  const count = text.split(';').length - 1;
  if (count <= MAX_SEMICOLONS) return [];
  return [{ line, rule: 'semicolons', found: `${count} semicolons`, instead: 'sentences or a list' }];
}

const countWords = (text: string): number => text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;

const RULES = [(sentence: Sentence) => matches(WORDS, sentence, 'words'), beginning, length, semicolons];
