import { beforeAll, describe, expect, it } from '@jest/globals';
import { runtime } from '@pulumi/pulumi';
import { synthesize, type Manifest } from './manifests.ts';
import { LumigoOperator, wavesOf } from './pulumi-component.ts';
import { parseSettings } from './settings.ts';

/** What the program registers with the engine; that the engine does as it is told is the engine's own matter. */
const registered: { type: string; name: string; inputs: Record<string, unknown> }[] = [];
beforeAll(() =>
  runtime.setMocks({
    newResource: ({ type, name, inputs }) => {
      registered.push({ type, name, inputs: inputs as Record<string, unknown> });
      return { id: name, state: inputs as Record<string, unknown> };
    },
    call: () => ({}),
  }),
);

const given = { cluster: { name: 'production' }, monitoredNamespaces: [{ namespace: 'shop' }] };
const sorted = (manifests: readonly Manifest[]) =>
  manifests.toSorted((a, b) => (`${a.kind}/${a.metadata.name}` < `${b.kind}/${b.metadata.name}` ? -1 : 1));

describe('the Pulumi component', () => {
  it('registers the objects of the plain manifests, and nothing else', async () => {
    registered.length = 0;
    const operator = new LumigoOperator('lumigo', { settings: given });
    await runtime.disconnect();
    const groups = registered.filter(({ type }) => type === 'kubernetes:yaml/v2:ConfigGroup');
    const objs = groups.flatMap(({ inputs }) => inputs['objs'] as Manifest[]);
    const withoutHint = objs.map((manifest) =>
      manifest.kind === 'Deployment'
        ? { ...manifest, metadata: { ...manifest.metadata, annotations: undefined } }
        : manifest,
    );
    expect(JSON.parse(JSON.stringify(sorted(withoutHint as Manifest[])))).toEqual(
      JSON.parse(JSON.stringify(sorted(synthesize(parseSettings(given), 'Pulumi')))),
    );
    expect(operator).toMatchObject({ namespace: 'lumigo-system', monitoredNamespaces: ['shop'] });
  });

  it('puts the definition up after the manager, so that it goes before it', () => {
    const waves = wavesOf(synthesize(parseSettings(given), 'Pulumi'));
    expect(waves.map(({ name }) => name)).toEqual(['operator', 'api', 'lumigoes']);
    const kindsOf = (wave: string) => waves.find(({ name }) => name === wave)?.objs.map(({ kind }) => kind);
    expect(kindsOf('api')).toEqual(['CustomResourceDefinition', 'MutatingWebhookConfiguration']);
    expect(kindsOf('operator')).toContain('Deployment');
  });

  it('registers nothing where the settings cannot be installed', () => {
    registered.length = 0;
    expect(() => new LumigoOperator('lumigo', { settings: { nope: 1 } })).toThrow("The settings of 'lumigo'");
    expect(registered).toEqual([]);
  });
});
