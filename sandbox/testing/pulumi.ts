import { beforeAll, beforeEach } from '@jest/globals';
import { runtime } from '@pulumi/pulumi';

interface Registered {
  readonly type: string;
  readonly name: string;
  readonly inputs: Record<string, unknown>;
}

/** Returns the resources that a test registers with Pulumi, which runs without an engine. It is empty at the start of each test. */
export function recordResources(): readonly Registered[] {
  const registered: Registered[] = [];
  beforeAll(() =>
    runtime.setMocks({
      newResource: ({ type, name, inputs }) => {
        registered.push({ type, name, inputs: inputs as Record<string, unknown> });
        return { id: name, state: inputs as Record<string, unknown> };
      },
      call: () => ({}),
    }),
  );
  beforeEach(() => void (registered.length = 0));
  return registered;
}
