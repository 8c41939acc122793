/** Says on the terminal what happens, with the time since the start. Colours only where somebody watches. */
export class Narrator {
  private readonly started = performance.now();

  constructor(
    private readonly write: (text: string) => void,
    private readonly colours: boolean,
  ) {}

  title(text: string): void {
    this.write(`\n${this.paint('1', text)}\n\n`);
  }

  /** A step of the way there. */
  step(text: string): void {
    this.line(this.paint('36', '›'), text);
  }

  instrumented(what: string, how: string): void {
    this.line(this.paint('32', '✔'), `${what.padEnd(26)} ${how}`);
  }

  leftAlone(what: string, why: string): void {
    this.line(this.paint('33', '–'), `${what.padEnd(26)} ${why}`);
  }

  /** Something that reached Lumigo's place. */
  arrived(what: string, how: string): void {
    this.line(this.paint('35', '⇢'), `${what.padEnd(34)} ${how}`);
  }

  wrong(text: string): void {
    this.line(this.paint('31', '✘'), text);
  }

  /** Something that goes on beside: a build, for example. */
  aside(text: string): void {
    this.line(this.paint('2', '·'), this.paint('2', text));
  }

  text(lines: readonly string[]): void {
    this.write(`${lines.join('\n')}\n`);
  }

  private line(sign: string, text: string): void {
    const seconds = ((performance.now() - this.started) / 1_000).toFixed(1).padStart(6);
    this.write(`${this.paint('2', `${seconds} s`)}  ${sign} ${text}\n`);
  }

  private paint(code: string, text: string): string {
    return this.colours ? `\u001b[${code}m${text}\u001b[0m` : text;
  }
}
