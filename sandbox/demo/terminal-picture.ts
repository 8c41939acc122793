const WIDTH = 118;
const LINE_PX = 18;
const CHARACTER_PX = 7.8;
const MARGIN_PX = 16;

/** The colours of a terminal, by the sign of a line. */
const colours: Readonly<Record<string, string>> = {
  '›': '#56b6c2',
  '✔': '#98c379',
  '–': '#e5c07b',
  '⇢': '#c678dd',
  '✘': '#e06c75',
  '·': '#7f848e',
};

/** Returns an SVG without scripts and external files. */
export const toSvg = (title: string, width: number, height: number, content: readonly string[]): string =>
  [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escape(title)}</title>`,
    ...content,
    '</svg>',
    '',
  ].join('\n');

/** Returns a picture of a terminal. */
export function terminalPicture(title: string, lines: readonly string[]): string {
  const shown = lines.map((line) => (line.length > WIDTH ? `${line.slice(0, WIDTH - 1)}…` : line));
  const width = Math.ceil(WIDTH * CHARACTER_PX + 2 * MARGIN_PX);
  const height = (shown.length + 1) * LINE_PX + 2 * MARGIN_PX;
  return toSvg(title, width, height, [
    `<rect width="${width}" height="${height}" rx="8" fill="#21252b"/>`,
    '<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="13" fill="#d7dae0" xml:space="preserve">',
    ...shown.map((line, index) => toText(line, MARGIN_PX + (index + 1) * LINE_PX)),
    '</g>',
  ]);
}

function toText(line: string, y: number): string {
  const [, time = '', sign = '', rest = ''] = /^(\s*[0-9.]+ s {2})(\S)( .*)$/u.exec(line) ?? [];
  const colour = colours[sign];
  const content =
    colour === undefined
      ? escape(line)
      : `<tspan fill="#7f848e">${time}</tspan><tspan fill="${colour}">${sign}</tspan>${escape(rest)}`;
  return `<text x="${MARGIN_PX}" y="${y}">${content}</text>`;
}

export const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
