export type Printer = ReturnType<typeof printerTo>;

/** @param colours true for a terminal */
export function printerTo(write: (text: string) => void, colours: boolean) {
  const started = performance.now();
  const paint = (code: string, text: string): string => (colours ? `\u001b[${code}m${text}\u001b[0m` : text);
  const line = (sign: string, text: string): void => {
    const seconds = ((performance.now() - started) / 1_000).toFixed(1).padStart(6);
    write(`${paint('2', `${seconds} s`)}  ${sign} ${text}\n`);
  };
  return {
    title: (text: string): void => write(`\n${paint('1', text)}\n\n`),
    step: (text: string): void => line(paint('36', '›'), text),
    instrumented: (what: string, how: string): void => line(paint('32', '✔'), `${what.padEnd(26)} ${how}`),
    skipped: (what: string, why: string): void => line(paint('33', '–'), `${what.padEnd(26)} ${why}`),
    arrived: (what: string, how: string): void => line(paint('35', '⇢'), `${what.padEnd(34)} ${how}`),
    wrong: (text: string): void => line(paint('31', '✘'), text),
    aside: (text: string): void => line(paint('2', '·'), paint('2', text)),
    text: (lines: readonly string[]): void => write(`${lines.join('\n')}\n`),
  };
}
