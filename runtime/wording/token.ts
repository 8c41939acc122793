/** A Lumigo token (https://docs.lumigo.io/docs/lumigo-tokens). */
const shape = 't_[0-9a-fA-F]{21}';
const whole = new RegExp(`^${shape}$`);
const anywhere = new RegExp(shape, 'g');

export const tokenShape = '"t_" and 21 hexadecimal characters';

export const isToken = (value: string): boolean => whole.test(value);

export const tokenOrEmpty = new RegExp(`^(${shape})?$`);

/** Returns whether a text may have a token, or the beginning of one. */
export const mayHoldToken = (text: string): boolean => /t_[0-9a-f]{8}|[0-9a-f]{21}/i.test(text);

/** Replaces tokens, because a foreign message may quote one. */
export const withoutTokens = (text: string): string => text.replaceAll(anywhere, 't_…');
