import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Manifest } from '../../infra/constructs/manifest.ts';

/** The newest release of the original operator. */
export const recordedVersion = '69';

/** The output of `helm template` of the original's chart with all features, without descriptions, configurations, scripts and keys. */
const recordedFile = fileURLToPath(new URL('v69.json', import.meta.url));

interface RecordedRelease {
  readonly values: Readonly<Record<string, unknown>>;
  /** The objects of `helm install lumigo` in the namespace `lumigo-system`. */
  readonly objects: readonly Manifest[];
  readonly hooks: readonly Manifest[];
}

export const originalRelease = (): RecordedRelease => JSON.parse(readFileSync(recordedFile, 'utf8')) as RecordedRelease;
