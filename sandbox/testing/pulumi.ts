import { beforeAll, beforeEach } from '@jest/globals';
import { runtime } from '@pulumi/pulumi';

type Registered = Pick<runtime.MockResourceArgs, 'type' | 'name'> & { readonly inputs: Record<string, unknown> };

/** The provider `tls` is a program of the engine. */
const issued = { certPem: 'certificate', privateKeyPem: 'SEC1', privateKeyPemPkcs8: 'PKCS 8' };
const mark = { '4dabf18193072939515e22adb298388d': '1b47061264138c4ac30d75fd1eb44270' };
/** Returns a value as Pulumi's SDK marks a secret. */
export const asSecret = (value: unknown) => ({ ...mark, value });

/** Returns the resources that a test registers with Pulumi, which runs without an engine. It is empty at the start of each test. */
export function recordResources(): readonly Registered[] {
  const registered: Registered[] = [];
  beforeAll(() =>
    runtime.setMocks({
      newResource: ({ type, name, inputs }) => {
        registered.push({ type, name, inputs: inputs as Registered['inputs'] });
        return { id: name, state: { ...inputs, ...(type.startsWith('tls:') && issued) } };
      },
      call: () => ({}),
    }),
  );
  beforeEach(() => void (registered.length = 0));
  return registered;
}
