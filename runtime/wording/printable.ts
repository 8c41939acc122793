/** Halves of characters, and those that control a terminal or the direction of text, except line feed and tab. */
const STEERING = /(?![\t\n])[\p{Cc}\p{Cs}\p{Bidi_Control}\u2028\u2029]/gu;

export const printable = (text: string): string => text.replaceAll(STEERING, '�');
