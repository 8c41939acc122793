import { expect, it } from '@jest/globals';
import { instrumented, made } from '../../sandbox/testing/injection.ts';
import { workloadKinds } from '../contract.ts';
import { toTemplate, withTemplate } from '../injection/workload.ts';
import type { Client } from '../kubernetes/http/client.ts';
import { removeInstrumentation } from './remove-instrumentation.ts';

const rollout = instrumented(made({}, workloadKinds.rollout));
const template = toTemplate(rollout) ?? { spec: { containers: [] } };
const malformed = withTemplate(rollout, { ...template, spec: { ...template.spec, volumes: [null as never] } });

it.each([
  [[], [/^Rollout shop\/app stays instrumented: its pod template is malformed, .* is null\./]],
  [['shop'], [/^the deadline passed with 1 still instrumented: Rollout shop\/app\./]],
])(
  'names a malformed workload after the deadline, with its reason unless its namespace is kept: %j',
  async (kept, expected) => {
    const pages = async function* (kind: object, { metadataOnly }: { readonly metadataOnly?: boolean }) {
      if (kind === workloadKinds.rollout && metadataOnly !== true) yield { items: [malformed] };
    };
    const client = { pages } as unknown as Client;
    const { problems, unclean } = await removeInstrumentation(client, { kept: new Set(kept), traced: new Set() }, 0);
    expect(problems).toEqual(expected.map((text) => expect.stringMatching(text)));
    expect([...unclean]).toEqual(['shop']);
  },
);
