import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { synthesize, withEverything } from '../operator.ts';
import { publisher } from '../settings/publisher.ts';
import { parseSettings } from '../settings/settings.ts';
import { artifactHub, changesIn } from './artifact-hub.ts';

describe('the annotations for Artifact Hub', () => {
  const read = (annotations: Readonly<Record<string, string>>, key: string): unknown =>
    parse(annotations[`artifacthub.io/${key}`] ?? '');

  it('have each image that any settings use', () => {
    const settings = parseSettings({});
    const objects = synthesize({ ...withEverything(settings), updater: settings.updater }, 'Helm');
    const used = [...JSON.stringify(objects).matchAll(/"image":"([^"]+)"/g)].map(([, image]) => image);
    const listed = read(artifactHub('1.0.0', publisher), 'images') as readonly { readonly image: string }[];
    expect(new Set(used).size).toBeGreaterThan(3);
    expect(listed.map(({ image }) => image)).toEqual(expect.arrayContaining(used));
  });

  it('have the definition with an example, and links and a key if there are any', () => {
    const signKey = { fingerprint: 'C874011F0AB405110D02105534365D9472D7468F', url: 'https://acme.example/key.asc' };
    const { charts } = publisher;
    const own = { ...publisher, docs: 'https://acme.example/docs', charts: { ...charts, signKey } };
    const annotations = artifactHub('1.0.0', own);
    expect(read(annotations, 'crds')).toMatchObject([{ kind: 'Lumigo', name: 'lumigoes.operator.lumigo.io' }]);
    expect(read(annotations, 'crdsExamples')).toMatchObject([{ kind: 'Lumigo' }]);
    expect(read(annotations, 'links')).toContainEqual({ name: 'Documentation', url: 'https://acme.example/docs' });
    expect(read(annotations, 'signKey')).toEqual(signKey);
    expect(artifactHub('1.0.0', { ...publisher, charts: { ...charts, signKey: undefined } })).not.toHaveProperty([
      'artifacthub.io/signKey',
    ]);
  });

  it.each([
    ['1.0.0', false],
    ['1.0.0-rc.1', true],
  ])('say if the version %s is a prerelease', (version, expected) => {
    expect(read(artifactHub(version, publisher), 'prerelease')).toBe(expected);
  });

  it('have the changes of the version, by kind', () => {
    const changelog =
      '# Changelog\n\n## 1.1.0\n\n### Added\n- One\n  of two lines.\n\n### Fixed\n- Two.\n\n## 1.0.0\n\n- Old\n';
    expect(changesIn(changelog, '1.1.0')).toEqual([
      { kind: 'added', description: 'One of two lines.' },
      { kind: 'fixed', description: 'Two.' },
    ]);
    expect(changesIn(changelog, '2.0.0')).toEqual([]);
  });
});
