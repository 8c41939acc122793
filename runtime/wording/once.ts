/** Passes on each text only the first time. */
export function once(print: (text: string) => void): (text: string) => void {
  const printed = new Set<string>();
  return (text) => {
    if (!printed.has(text)) print(text);
    printed.add(text);
  };
}
