import { existsSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { parse } from 'yaml';
import { writeChart } from './chart.ts';

/** The chart that `cdk8s synth --format helm` writes before it starts the app. */
export interface Scaffold {
  readonly folder: string;
  readonly version: string;
}

/** Returns cdk8s' chart around the output folder, if any. cdk8s does not pass `--format` to an app, so the chart's description is read. */
export function scaffoldAround(output: string): Scaffold | undefined {
  const folder = dirname(output);
  const file = join(folder, 'Chart.yaml');
  if (basename(output) !== 'templates' || !existsSync(file)) return undefined;
  const { description, version } = parse(readFileSync(file, 'utf8')) as Readonly<Record<string, string>>;
  return description?.startsWith('Generated chart for ') && version !== undefined ? { folder, version } : undefined;
}

/** Replaces cdk8s' chart by that of `npm run chart`, because cdk8s' has no values and has the definition twice. */
export function completeChart({ folder, version }: Scaffold): void {
  rmSync(folder, { recursive: true });
  writeChart(folder, version);
}
