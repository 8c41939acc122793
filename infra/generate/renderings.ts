import { join } from 'node:path';
import { Yaml } from 'cdk8s';
import { chartFiles } from '../helm/chart.ts';
import { synthesize, withEverything } from '../operator.ts';
import { parseSettings } from '../settings/settings.ts';

export const renderingsFolder = join('infra', 'renderings');

/** Returns plain YAML with the defaults, plain YAML with all features, and the chart. */
export function renderings(): Readonly<Record<string, string>> {
  const defaults = parseSettings({});
  // Plain YAML must not contain a token.
  const { updater, lumigoToken } = defaults;
  const everything = { ...withEverything(defaults), updater, lumigoToken };
  const chart = Object.entries(chartFiles()).map(([path, text]) => [join(renderingsFolder, 'chart', path), text]);
  return {
    [join(renderingsFolder, 'plain', 'defaults.yaml')]: Yaml.stringify(...synthesize(defaults)),
    [join(renderingsFolder, 'plain', 'everything.yaml')]: Yaml.stringify(...synthesize(everything)),
    ...Object.fromEntries(chart),
  };
}
