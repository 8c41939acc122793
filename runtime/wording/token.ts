/** A Lumigo token, as a pattern: the whole value, nothing around it (https://docs.lumigo.io/docs/lumigo-tokens). */
const shape = 't_[0-9a-fA-F]{21}';
const whole = new RegExp(`^${shape}$`);
const anywhere = new RegExp(shape, 'g');

/** The shape in words, for messages; none of them holds any part of a value. */
export const tokenShape = '"t_" and 21 hexadecimal characters';

export const isToken = (value: string): boolean => whole.test(value);

/** A token, or nothing. */
export const tokenOrEmpty = new RegExp(`^(${shape})?$`);

/** Returns whether a text may hold a token, or the beginning of one. */
export const mayHoldToken = (text: string): boolean => /t_[0-9a-f]{8}|[0-9a-f]{21}/i.test(text);

/** A text without the tokens that stand in it: somebody else's message may quote one. */
export const withoutTokens = (text: string): string => text.replaceAll(anywhere, 't_…');
