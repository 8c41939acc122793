import { existsSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { parse } from 'yaml';
import { writeChart } from './chart.ts';

/** The chart that `cdk8s synth --format helm` has begun before it starts the app. */
export interface Scaffold {
  readonly folder: string;
  /** What `--chart-version` says. */
  readonly version: string;
}

/**
 * The format is not among what cdk8s tells an app, but the app's output is then the `templates` of a chart whose other files
 * cdk8s has just written: they are known by their description, so that nobody's own chart is taken for one.
 */
export function scaffoldAround(output: string): Scaffold | undefined {
  const folder = dirname(output);
  const file = join(folder, 'Chart.yaml');
  if (basename(output) !== 'templates' || !existsSync(file)) return undefined;
  const { description, version } = parse(readFileSync(file, 'utf8')) as Readonly<Record<string, string>>;
  return description?.startsWith('Generated chart for ') && version !== undefined ? { folder, version } : undefined;
}

/** Puts the chart of `npm run chart` where cdk8s' own would be: that one has no values, and the definition twice. */
export function completeChart({ folder, version }: Scaffold): void {
  discard({ folder });
  writeChart(folder, version);
}

/** Half a chart is worse than none. */
export const discard = ({ folder }: Pick<Scaffold, 'folder'>): void => rmSync(folder, { recursive: true });
