import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { Yaml } from 'cdk8s';
import { COMMAND_FILE } from './npm-package.ts';
import type { Release } from './release.ts';

/** The manifest for `kubectl krew install --manifest-url`. */
export const KREW_FILE = 'lumigo-krew.yaml';

/** Returns the manifest of the kubectl plugin, whose archive is the npm package. @param published the address of the folder with it */
export const krewManifest = (
  { version, publisher }: Pick<Release, 'version' | 'publisher'>,
  archive: string,
  published: string,
) =>
  Yaml.stringify({
    apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
    kind: 'Plugin',
    metadata: { name: 'lumigo' },
    spec: {
      version: `v${version}`,
      homepage: publisher.home,
      shortDescription: 'Check and explain tracing by the Lumigo operator',
      description:
        'Checks an installation of the Lumigo Kubernetes operator, previews and explains its changes, and writes a report for support.',
      caveats: 'The plugin needs Node.js 20.19 or newer on your PATH.',
      platforms: [
        {
          selector: { matchExpressions: [{ key: 'os', operator: 'In', values: ['linux', 'darwin'] }] },
          uri: `${published}/${basename(archive)}`,
          sha256: createHash('sha256').update(readFileSync(archive)).digest('hex'),
          bin: `package/${COMMAND_FILE}`,
        },
      ],
    },
  });
