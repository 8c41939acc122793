/** Halves of characters, and those that control a terminal or the direction of text, except line feed and tab. */
const STEERING = /(?![\t\n])[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

export const printable = (text: string): string => text.replaceAll(STEERING, '�');
