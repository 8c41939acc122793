import { join } from 'node:path';
import { Yaml } from 'cdk8s';
import { chartFiles } from '../helm/chart.ts';
import { synthesize, withEverything } from '../operator.ts';
import { parseSettings } from '../settings/settings.ts';

/** Below the project's folder; nothing else lies in it. */
export const renderingsFolder = join('infra', 'renderings');

/**
 * Returns the renderings of the constructs: the plain YAML with the defaults, the plain YAML with everything enabled, and the chart.
 * They are committed, so that each change of a construct shows its effect on every delivery.
 */
export function renderings(): Readonly<Record<string, string>> {
  const defaults = parseSettings({});
  // An updater, and no token: plain YAML is not the place for one.
  const { updater, lumigoToken } = defaults;
  const plain = {
    'plain/defaults.yaml': Yaml.stringify(...synthesize(defaults)),
    'plain/everything.yaml': Yaml.stringify(...synthesize({ ...withEverything(defaults), updater, lumigoToken })),
  };
  const chart = Object.entries(chartFiles()).map(([path, text]) => [join('chart', path), text] as const);
  return Object.fromEntries(
    [...Object.entries(plain), ...chart].map(([path, text]) => [join(renderingsFolder, path), text]),
  );
}
