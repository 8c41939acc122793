export type Kind = 'userPage' | 'page' | 'comment' | 'message' | 'title';

/** A paragraph, cell, item or literal: sentences that belong together. */
export interface Passage {
  readonly kind: Kind;
  /** Plain text: each piece of code and each expression is one `x`. */
  readonly text: string;
  /** The same as written, with its code. */
  readonly raw: string;
  /** Counted from 1. A line feed in `text` starts the next one. */
  readonly line: number;
}

export interface Finding {
  readonly line: number;
  readonly rule: 'words' | 'beginning' | 'length' | 'semicolons' | 'facts' | 'subject';
  readonly found: string;
  readonly instead: string;
}

/** Returns the number of line feeds. */
export const lineFeeds = (text: string): number => text.split('\n').length - 1;
