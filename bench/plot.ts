interface Point {
  /** How many workloads. */
  readonly x: number;
  readonly y: number;
}

interface Plot {
  readonly title: string;
  readonly unit: string;
  readonly series: readonly { readonly name: string; readonly points: readonly Point[] }[];
}

const WIDTH = 640;
const HEIGHT = 360;
const area = { left: 70, right: 470, top: 50, bottom: 310 };
const colours = ['#8c959f', '#0969da', '#cf222e'];

/** Lines over how many workloads there are, both ways in powers of ten, so that what grows in proportion is a line of 45 degrees. SVG. */
export function plot({ title, unit, series }: Plot): string {
  const points = series.flatMap((each) => each.points);
  const xs = points.map((point) => point.x);
  const ys = points.map((point) => point.y);
  const x = scale(xs, [area.left, area.right]);
  const y = scale(ys, [area.bottom, area.top]);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" font-family="system-ui, sans-serif" font-size="13" fill="#1f2328">`,
    `<title>${title}</title>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    `<text x="20" y="28" font-size="15" font-weight="600">${title}</text>`,
    ...x.ticks.map((at) =>
      grid([x.of(at), area.top], [x.of(at), area.bottom], [x.of(at), area.bottom + 20], label(at)),
    ),
    ...y.ticks.map((at) =>
      grid([area.left, y.of(at)], [area.right, y.of(at)], [area.left - 26, y.of(at) + 4], `${label(at)} ${unit}`),
    ),
    `<text x="${(area.left + area.right) / 2}" y="${area.bottom + 40}" text-anchor="middle">Deployments</text>`,
    ...series.flatMap(({ name, points: own }, index) => {
      const at = own.map((point) => [x.of(point.x), y.of(point.y)] as const);
      return line(name, at, index);
    }),
    '</svg>',
    '',
  ].join('\n');
}

/** From the power of ten below the least to that above the greatest. */
function scale(values: readonly number[], [from, to]: readonly [number, number]) {
  const low = Math.floor(Math.log10(Math.min(...values)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))));
  return {
    of: (value: number) => from + ((Math.log10(value) - low) / (high - low)) * (to - from),
    ticks: Array.from({ length: high - low + 1 }, (_, step) => 10 ** (low + step)),
  };
}

type At = readonly [number, number];

const label = (value: number): string => value.toLocaleString('en');

const grid = ([x1, y1]: At, [x2, y2]: At, [x, y]: At, text: string): string =>
  `<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" stroke="#d0d7de"/><text x="${x}" y="${y}" text-anchor="middle">${text}</text>`;

function line(name: string, at: readonly At[], index: number): string[] {
  const colour = colours[index] ?? '#1f2328';
  const round = at.map(([x, y]) => [x.toFixed(1), y.toFixed(1)] as const);
  return [
    `<polyline points="${round.map((each) => each.join(',')).join(' ')}" fill="none" stroke="${colour}" stroke-width="2"/>`,
    ...round.map(([x, y]) => `<circle cx="${x}" cy="${y}" r="3" fill="${colour}"/>`),
    `<text x="${area.right + 14}" y="${area.top + 14 + 20 * index}" fill="${colour}">${name}</text>`,
  ];
}
