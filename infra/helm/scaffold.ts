import { existsSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { parse } from 'yaml';
import { writeChart } from './chart.ts';

/** The chart that `cdk8s synth --format helm` starts to write before it starts the app. */
export interface Scaffold {
  readonly folder: string;
  /** The value of `--chart-version`. */
  readonly version: string;
}

/**
 * Returns the chart around the output folder, if there is one. cdk8s does not pass the format to an app. But with `--format helm` the
 * output is the folder `templates` of a chart that cdk8s has just written. Its description distinguishes it from a user's chart.
 */
export function scaffoldAround(output: string): Scaffold | undefined {
  const folder = dirname(output);
  const file = join(folder, 'Chart.yaml');
  if (basename(output) !== 'templates' || !existsSync(file)) return undefined;
  const { description, version } = parse(readFileSync(file, 'utf8')) as Readonly<Record<string, string>>;
  return description?.startsWith('Generated chart for ') && version !== undefined ? { folder, version } : undefined;
}

/** Replaces cdk8s' chart by that of `npm run chart`: cdk8s' chart has no values, and has the definition twice. */
export function completeChart({ folder, version }: Scaffold): void {
  discard({ folder });
  writeChart(folder, version);
}

/** Deletes a chart that is not complete. */
export const discard = ({ folder }: Pick<Scaffold, 'folder'>): void => rmSync(folder, { recursive: true });
