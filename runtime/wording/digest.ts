import { hash } from 'node:crypto';

const MAX_KEPT_CHARACTERS = 64;

/** Returns a short text itself, else a digest of 22 characters, so that a tenant's long text costs no memory. */
export const digest = (text: string): string =>
  text.length <= MAX_KEPT_CHARACTERS ? text : hash('sha256', text, 'base64url').slice(0, 22);
