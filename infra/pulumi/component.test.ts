import { describe, expect, it } from '@jest/globals';
import { RunError, runtime, secret, type ComponentResourceOptions } from '@pulumi/pulumi';
import { recordResources } from '../../sandbox/testing/pulumi.ts';
import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { parse } from 'yaml';
import { synthesize } from '../operator.ts';
import type { Manifest } from '../constructs/manifest.ts';
import { LumigoOperator, type LumigoOperatorArgs } from './component.ts';
import { readConfiguration } from './configuration.ts';
import { parseSettings } from '../settings/settings.ts';
import { operatorVersion } from '../settings/version.ts';

const registered = recordResources();

async function register(args: LumigoOperatorArgs, options?: ComponentResourceOptions): Promise<LumigoOperator> {
  const operator = new LumigoOperator('lumigo', args, options);
  await runtime.disconnect();
  return operator;
}

const given = {
  cluster: { name: 'production' },
  monitoredNamespaces: [{ namespace: 'shop' }],
  networkPolicy: { enabled: true },
};
const sorted = (manifests: readonly Manifest[]) =>
  manifests.toSorted((a, b) => (`${a.kind}/${a.metadata.name}` < `${b.kind}/${b.metadata.name}` ? -1 : 1));
const groups = () => registered.filter(({ type }) => type === 'kubernetes:yaml/v2:ConfigGroup');
const secrets = () => registered.filter(({ type }) => type === 'kubernetes:core/v1:Secret');
const token = `t_${'a'.repeat(21)}`;

function catchError(action: () => unknown): Error | undefined {
  try {
    action();
  } catch (error) {
    return error as Error;
  }
  return undefined;
}

describe('the Pulumi component', () => {
  it('registers the objects of the plain manifests, and a certificate', async () => {
    const operator = await register({ settings: given });
    const objs = groups().flatMap(({ inputs }) => inputs['objs'] as Manifest[]);
    expect(JSON.parse(JSON.stringify(sorted(objs)))).toEqual(
      JSON.parse(JSON.stringify(sorted(synthesize(parseSettings(given), 'Pulumi')))),
    );
    expect(operator).toMatchObject({ namespace: 'lumigo-system' });
    const [certificate, ...more] = secrets();
    expect(more).toEqual([]);
    expect(certificate?.inputs).toMatchObject({ metadata: { name: 'lumigo-lumigo-operator-webhook-certificates' } });
    expect(registered.filter(({ type }) => type.startsWith('tls:')).map(({ name }) => name)).toEqual([
      'lumigo-webhook',
      'lumigo-webhook',
    ]);
  });

  it('orders certificate, manager and definition, so that removal deletes the definition first', async () => {
    await register({ settings: given });
    const order = [...groups(), ...secrets()]
      .toSorted((a, b) => registered.indexOf(a) - registered.indexOf(b))
      .map(({ name }) => name);
    expect(order).toEqual(['lumigo-namespace', 'lumigo-webhook-certificates', 'lumigo-operator', 'lumigo-api']);
    const getKinds = (wave: string) =>
      (groups().find(({ name }) => name === wave)?.inputs['objs'] as Manifest[]).map(({ kind }) => kind);
    expect(getKinds('lumigo-namespace')).toEqual(['Namespace']);
    // Pulumi waits for a Service until its pods answer, so all others are created together.
    expect(getKinds('lumigo-operator')).toEqual(expect.arrayContaining(['Service', 'Deployment', 'ServiceAccount']));
    expect(getKinds('lumigo-api')).toEqual(['CustomResourceDefinition', 'MutatingWebhookConfiguration']);
  });

  it('names each object after its group, so that an alias of the component also holds for it', async () => {
    await register({ settings: given });
    // By default, the provider begins the name of each object with the name of its group.
    for (const { name, inputs } of groups()) expect(inputs['resourcePrefix'] ?? name).toMatch(new RegExp(`^${name}`));
  });

  it('can be upgraded with `protect`: what is replaced does not inherit it', async () => {
    const unprotected: string[] = [];
    const transformation = ({ name, opts }: { name: string; opts: { protect?: unknown } }) => {
      if (opts.protect === false) unprotected.push(name);
    };
    const options = { protect: true, transformations: [transformation as never] };
    await register({ settings: given, lumigoToken: secret(token) }, options);
    expect(unprotected).toEqual(['lumigo-webhook', 'lumigo-webhook', 'lumigo-webhook-certificates', 'lumigo-token']);
  });

  it('does not wait for the node collectors, which after a move start last', async () => {
    await register({ settings: { clusterCollection: { logs: { enabled: true } } } });
    const objs = groups().flatMap(({ inputs }) => inputs['objs'] as Manifest[]);
    const unawaited = objs.filter(({ metadata }) => metadata.annotations?.['pulumi.com/skipAwait'] === 'true');
    expect(unawaited.map(({ kind }) => kind)).toEqual(['DaemonSet']);
  });

  it('keeps the token secret, and only in its own Secret', async () => {
    await register({ settings: given, lumigoToken: secret(token) });
    const holders = registered.filter(({ inputs }) => JSON.stringify(inputs).includes(token));
    expect(holders.map(({ name }) => name)).toEqual(['lumigo-token']);
    expect(holders[0]?.inputs['stringData']).toMatchObject({
      '4dabf18193072939515e22adb298388d': '1b47061264138c4ac30d75fd1eb44270',
    });
  });

  it.each(['operator', 'external'])('makes no certificate if certificates.issuer is %s', async (issuer) => {
    await register({ settings: { certificates: { issuer } } });
    expect(registered.filter(({ type }) => type.startsWith('tls:') || type.includes('Secret'))).toEqual([]);
  });

  it('renews its certificate in the last 30 days, and with each version', async () => {
    const triggers: unknown[] = [];
    const transformation = ({ type, opts }: { type: string; opts: { replacementTrigger?: unknown } }) => {
      if (type.startsWith('tls:')) triggers.push(opts.replacementTrigger);
    };
    await register({ settings: {} }, { transformations: [transformation as never] });
    expect(triggers).toEqual([operatorVersion(), operatorVersion()]);
    const certificate = registered.find(({ type }) => type.endsWith(':SelfSignedCert'));
    expect(certificate?.inputs).toMatchObject({ validityPeriodHours: 8_760, earlyRenewalHours: 720 });
  });

  it('respects the transformations of the program that uses it', async () => {
    const transformation = ({ type, props, opts }: { type: string; props: object; opts: object }) =>
      type === 'kubernetes:core/v1:Secret' ? { props: { ...props, immutable: true }, opts } : undefined;
    await register({ settings: {} }, { transformations: [transformation as never] });
    expect(secrets().map(({ inputs }) => inputs['immutable'])).toEqual([true]);
  });

  it.each([
    ['unknown settings', { settings: { nope: 1 } }, "The settings of 'lumigo'"],
    ['settings of another delivery', { settings: { updater: { mode: 'upgrade' } } }, 'updater.mode'],
    ['a token that is none', { lumigoToken: 'hunter2' }, 'lumigoToken'],
  ])('refuses %s without a stack, which the SDK takes 20 s to show [F93]', (_case, args, message) => {
    const refused = catchError(() => new LumigoOperator('lumigo', args));
    expect(RunError.isInstance(refused)).toBe(true);
    expect(refused?.stack).toBeUndefined();
    expect(inspect(refused, { colors: true })).not.toContain(' at ');
    expect(refused?.message).toContain(message);
    expect(refused?.message).not.toContain('hunter2');
    expect(registered).toEqual([]);
  });

  it.each([
    ['lumigoToken', 'hunter2', 'lumigoToken is no Lumigo token'],
    ['settings', '{"lumigoToken":{"value":"hunter2"', "configuration 'settings' is not a map"],
  ])('checks %s of the stack before anything is registered [F94]', (key, value, message) => {
    runtime.setAllConfig({ [`project:${key}`]: value }, [`project:${key}`]);
    const refused = catchError(readConfiguration);
    runtime.setAllConfig({});
    expect(refused?.message).toContain(message);
    expect([refused?.message.includes('hunter2'), refused?.stack]).toEqual([false, undefined]);
  });

  it.each(['production', 'staging'])('has in Pulumi.%s.yaml an example whose settings can be installed', (stack) => {
    const { config } = parse(readFileSync(`Pulumi.${stack}.yaml`, 'utf8')) as { config: Record<string, object> };
    expect(parseSettings(config['lumigo-kubernetes-operator:settings']).cluster.name).toBe(stack);
  });
});
