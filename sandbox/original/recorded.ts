import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Manifest } from '../../infra/constructs/manifest.ts';

/** The newest release of the original operator, and for long its last. */
export const recordedVersion = '69';

/**
 * The output of `helm template` of the original's chart, with `lumigoToken.value`, a namespace in `monitoredNamespaces` and
 * `clusterCollection.logs` on. Descriptions, the programs' configurations, shell scripts and keys are removed.
 */
const recordedFile = fileURLToPath(new URL('v69.json', import.meta.url));

interface RecordedRelease {
  /** The values of its chart with their defaults. */
  readonly values: Readonly<Record<string, unknown>>;
  /** What `helm install lumigo` makes of it in the namespace `lumigo-system`. */
  readonly objects: readonly Manifest[];
  readonly hooks: readonly Manifest[];
}

export const originalRelease = (): RecordedRelease => JSON.parse(readFileSync(recordedFile, 'utf8')) as RecordedRelease;
