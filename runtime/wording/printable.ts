/** Everything that steers a terminal but the end of a line and a tab: colours, the cursor, the title, text from right to left. */
const STEERING = /(?![\t\n])[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/** A text as it may be shown: what anybody may write into a field of an object is shown, and does nothing. */
export const printable = (text: string): string => text.replaceAll(STEERING, '�');
