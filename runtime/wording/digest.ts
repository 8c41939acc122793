import { hash } from 'node:crypto';

/** A text that is no longer costs no more memory than its digest. In characters. */
const MAX_KEPT_CHARACTERS = 64;

/**
 * Returns the text itself if it is short, else a digest of it: 22 characters that differ for every other text. For what a tenant
 * wrote and is only compared, so that its length costs no memory.
 */
export const digest = (text: string): string =>
  text.length <= MAX_KEPT_CHARACTERS ? text : hash('sha256', text, 'base64url').slice(0, 22);
