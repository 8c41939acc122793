import { describe, expect, it } from '@jest/globals';
import { RunError, runtime, secret, type ComponentResourceOptions } from '@pulumi/pulumi';
import { recordResources } from '../../sandbox/testing/pulumi.ts';
import { renderTracedNamespace } from '../constructs/traced-namespace.ts';
import { TracedNamespace, type TracedNamespaceArgs } from './traced-namespace.ts';

const registered = recordResources();

const token = `t_${'a'.repeat(21)}`;
const namespace = 'shop';

async function register(args: TracedNamespaceArgs, options?: ComponentResourceOptions) {
  new TracedNamespace('shop', args, options);
  await runtime.disconnect();
  return registered.slice(1);
}

describe('the Pulumi component TracedNamespace', () => {
  it('registers the objects of the construct, in the order in which they need each other', async () => {
    const args = { namespace, labels: { team: 'shop' }, spec: { logging: { enabled: true } } };
    const objects = (await register(args)).map(({ inputs }) => inputs);
    const [created, lumigo] = renderTracedNamespace(args);
    expect(objects).toMatchObject([{ kind: created?.kind, metadata: created?.metadata }, lumigo]);
  });

  it('keeps a token secret, in the Secret that the Lumigo resource names', async () => {
    const reference = { secret: { name: 'own' }, key: 'lumigo' };
    const [, held, lumigo] = await register({ namespace, token: reference, lumigoToken: secret(token) });
    expect(held).toMatchObject({ type: 'kubernetes:core/v1:Secret', inputs: { metadata: { name: 'own', namespace } } });
    // Pulumi's mark of a secret, by its SDK.
    expect(held?.inputs['stringData']).toMatchObject({
      '4dabf18193072939515e22adb298388d': '1b47061264138c4ac30d75fd1eb44270',
      value: { lumigo: token },
    });
    expect(lumigo?.inputs['spec']).toEqual({ lumigoToken: { secretRef: { name: 'own', key: 'lumigo' } } });
    expect(JSON.stringify(lumigo)).not.toContain(token);
  });

  it('takes another token with `protect`: the Secret, which is replaced, does not inherit it', async () => {
    const unprotected: string[] = [];
    const transformation = ({ name, opts }: { name: string; opts: { protect?: unknown } }) => {
      if (opts.protect === false) unprotected.push(name);
    };
    const options = { protect: true, transformations: [transformation as never] };
    await register({ namespace, lumigoToken: secret(token) }, options);
    expect(unprotected).toEqual(['shop-token']);
  });

  it('refuses a token of another shape before anything is registered, and does not show it', () => {
    const make = () => new TracedNamespace('shop', { namespace, lumigoToken: 'hunter2' });
    expect(make).toThrow(RunError);
    expect(make).not.toThrow('hunter2');
    expect(registered).toEqual([]);
  });
});
