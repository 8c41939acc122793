export type Kind = 'userPage' | 'page' | 'comment' | 'message' | 'title';

/** A paragraph, cell, item or literal: sentences that belong together. */
export interface Passage {
  readonly kind: Kind;
  /** Each piece of code and each expression is one `x`. */
  readonly text: string;
  /** The text with its code. */
  readonly raw: string;
  /** Counted from 1. A line feed in `text` starts the next line. */
  readonly line: number;
}

export interface Finding {
  readonly line: number;
  readonly rule: 'words' | 'beginning' | 'length' | 'semicolons' | 'facts' | 'subject';
  readonly found: string;
  readonly instead: string;
}

export const lineFeeds = (text: string): number => text.split('\n').length - 1;
