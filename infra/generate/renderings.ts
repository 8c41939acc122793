import { join } from 'node:path';
import { Yaml } from 'cdk8s';
import { chartFiles } from '../helm/chart.ts';
import { synthesize } from '../manifests.ts';
import { withEverything } from '../operator.ts';
import { parseSettings } from '../settings/settings.ts';

/** Below the project's folder; nothing else lies in it. */
export const renderingsFolder = join('infra', 'renderings');

/**
 * What comes out of the constructs, whole: the plain YAML with the defaults and with all that can be switched on, and the chart. It is
 * committed so that whoever changes a construct sees, and whoever reviews it, what the change does to every delivery.
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
