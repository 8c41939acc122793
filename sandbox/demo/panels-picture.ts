import { escape, toSvg } from './terminal-picture.ts';

/** The distance of two values of a series. */
export const STEP_SECONDS = 5;

export interface Series {
  readonly legend: string;
  /** Seconds since 1970, and the value. */
  readonly points: readonly (readonly [number, number])[];
}

export type DrawnPanel = { readonly title: string; readonly unit: string; readonly series: readonly Series[] };

const WIDTH = 460;
const HEIGHT = 176;
const GAP = 12;
const COLUMNS = 2;
/** The place of the lines in a panel. The legend is below it. */
const plot = { x: 64, y: 34, width: WIDTH - 80, height: 96 };
const MAX_LEGENDS = 4;
const MAX_LETTERS = 24;
const colours = ['#73bf69', '#f2cc0c', '#5794f2', '#ff9830', '#f2495c', '#b877d9', '#8ab8ff', '#c4162a'];

/** The units of Grafana that the dashboard uses. The others are rates. */
const units: Readonly<Record<string, { readonly unit?: string; readonly factor: number }>> = {
  short: { factor: 1 },
  bytes: { unit: 'byte', factor: 1 },
  d: { unit: 'day', factor: 1 },
  s: { unit: 'millisecond', factor: 1_000 },
};

function toText(value: number, name: string): string {
  const { unit, factor } = units[name] ?? { factor: 1 };
  const style = unit === undefined ? {} : ({ style: 'unit', unit, unitDisplay: 'narrow' } as const);
  const format = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3, ...style });
  return `${format.format(value * factor)}${name in units ? '' : '/s'}`;
}

/** Returns a picture of panels with lines. */
export function panelsPicture(title: string, panels: readonly DrawnPanel[]): string {
  const width = COLUMNS * (WIDTH + GAP) + GAP;
  const height = Math.ceil(panels.length / COLUMNS) * (HEIGHT + GAP) + GAP;
  return toSvg(title, width, height, [
    `<rect width="${width}" height="${height}" fill="#111217"/>`,
    '<g font-family="Inter, Helvetica, Arial, sans-serif" font-size="11" fill="#ccccdc" stroke-linecap="round">',
    ...panels.map((panel, index) => {
      const x = GAP + (index % COLUMNS) * (WIDTH + GAP);
      const y = GAP + Math.floor(index / COLUMNS) * (HEIGHT + GAP);
      return `<g transform="translate(${x} ${y})">${drawPanel(panel)}</g>`;
    }),
    '</g>',
  ]);
}

function drawPanel({ title, unit, series }: DrawnPanel): string {
  const points = series.flatMap((each) => each.points);
  const times = points.map(([time]) => time);
  const from = Math.min(...times);
  const to = Math.max(...times);
  const top = Math.max(...points.map(([, value]) => value)) || 1;
  const toX = (time: number) => plot.x + ((time - from) / (to - from || 1)) * plot.width;
  const toY = (value: number) => plot.y + (1 - value / top) * plot.height;
  const grid = [0, top / 2, top].map((value) => {
    const line = `<path d="M${plot.x} ${toY(value)}h${plot.width}" stroke="#2c3235"/>`;
    return `${line}<text x="${plot.x - 6}" y="${toY(value) + 4}" text-anchor="end">${toText(value, unit)}</text>`;
  });
  const paths = series.map((each, index) => {
    // A line ends where a value is missing, and a single value is a dot.
    const steps = each.points.map(([time, value], at) => {
      const isNext = time - (each.points[at - 1]?.[0] ?? -Infinity) <= STEP_SECONDS;
      return `${isNext ? 'L' : 'M'}${toX(time).toFixed(1)} ${toY(value).toFixed(1)}${isNext ? '' : 'h0'}`;
    });
    return `<path d="${steps.join('')}" stroke="${colours[index % colours.length]}" stroke-width="1.5"/>`;
  });
  return [
    `<rect width="${WIDTH}" height="${HEIGHT}" rx="3" fill="#181b1f"/>`,
    `<text x="12" y="20" font-size="13" font-weight="600">${escape(title)}</text>`,
    ...(points.length === 0 ? [`<text x="${WIDTH / 2}" y="90" text-anchor="middle">No data</text>`] : grid),
    `<g fill="none">${paths.join('')}</g>`,
    ...series.slice(0, MAX_LEGENDS).map(({ legend }, index) => drawLegend(legend, index)),
  ].join('');
}

function drawLegend(legend: string, index: number): string {
  const x = plot.x + (index % 2) * 195;
  const y = plot.y + plot.height + 18 + Math.floor(index / 2) * 15;
  const shown = legend.length > MAX_LETTERS ? `…${legend.slice(1 - MAX_LETTERS)}` : legend;
  return `<path d="M${x} ${y - 4}h10" stroke="${colours[index]}" stroke-width="3"/><text x="${x + 15}" y="${y}">${escape(shown)}</text>`;
}
