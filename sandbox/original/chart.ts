import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Manifest } from '../../infra/constructs/manifest.ts';
import { originalRelease, recordedVersion } from './recorded.ts';

/** Writes a chart with the recorded objects of the original's release `lumigo`. Given objects replace those of the same kind and name. */
export function writeOriginalChart(folder: string, instead: readonly Manifest[] = []): void {
  const { values, objects, hooks } = originalRelease();
  const key = ({ kind, metadata }: Manifest) => `${kind}/${metadata.name}`;
  const replaced = new Map(instead.map((object) => [key(object), object]));
  mkdirSync(join(folder, 'templates'), { recursive: true });
  const write = (name: string, content: unknown) => writeFileSync(join(folder, name), JSON.stringify(content));
  write('Chart.yaml', {
    apiVersion: 'v2',
    name: 'lumigo-operator',
    version: recordedVersion,
    appVersion: recordedVersion,
  });
  write('values.yaml', values);
  const all = [...objects, ...hooks];
  all.forEach((object, index) => write(`templates/${index}.yaml`, replaced.get(key(object)) ?? object));
}
