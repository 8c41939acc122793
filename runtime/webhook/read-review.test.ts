import { expect, it } from '@jest/globals';
import { createWorkload } from '../../sandbox/testing/workloads.ts';
import { workloadKinds, workloads } from '../contract.ts';
import { readReview } from './read-review.ts';
import { reviewType } from './review.ts';

const { deployment } = workloadKinds;
const pod = (more: object) => createWorkload(deployment, 'shop', 'app', { pod: more });
const required = 'requiredDuringSchedulingIgnoredDuringExecution';
const app = { name: 'app', image: 'app:1' };

function read(object: unknown) {
  const bytes = Buffer.from(JSON.stringify({ ...reviewType, request: { uid: 'u', object, oldObject: object } }));
  const request = readReview({ bytes, length: bytes.length });
  if ('status' in request) throw new Error(request.message);
  return [request.object, request.oldObject];
}

it('reads the objects that an API server sends', () => {
  const every = workloads.map((kind) => createWorkload(kind, 'shop', 'app', { env: [{ name: 'A' }] }));
  for (const object of [...every, { apiVersion: 'v1', kind: 'Other', metadata: {} }])
    expect(read(object)).toEqual([object, object]);
});

it('reads a Rollout with empty amounts, which its open definition stores', () => {
  const { rollout } = workloadKinds;
  for (const resources of [{ limits: { cpu: null }, requests: { cpu: 1 } }, { limits: null }]) {
    const object = createWorkload(rollout, 'shop', 'app', { pod: { containers: [{ ...app, resources }] } });
    expect(read(object)).toEqual([object, object]);
  }
});

it.each<[string, unknown]>([
  ['a text', 'x'],
  ['nothing', null],
  ['a type that is a map', { apiVersion: [{ toString: 0 }], kind: 'Deployment', metadata: {} }],
  ['no metadata', {}],
  ['a name that is a map', { metadata: { name: { toString: 0 } } }],
  ['labels that are a text', { metadata: { labels: 'x'.repeat(1_000_000) } }],
  ['a label that is a map', { metadata: { labels: { a: {} } } }],
  ['annotations that are a list', { metadata: { annotations: [] } }],
  ['a container that is a text', pod({ containers: ['x'] })],
  ['variables that are a map', pod({ containers: [{ ...app, env: {} }] })],
  ['a variable whose value is a number', pod({ containers: [{ ...app, env: [{ name: 'LD_PRELOAD', value: 0 }] }] })],
  ['an amount that is a map', pod({ containers: [{ ...app, resources: { limits: { cpu: { toString: 0 } } } }] })],
  ['a node selector that is null', pod({ nodeSelector: null })],
  ['terms that are a text', pod({ affinity: { nodeAffinity: { [required]: { nodeSelectorTerms: 'x' } } } })],
  ['a mount without a path', pod({ containers: [{ ...app, volumeMounts: [{ name: 'a' }] }] })],
  ['volumes that are a text', pod({ volumes: 'x' })],
  ['init containers that are a number', pod({ initContainers: 3 })],
])('reads no object with %s [F21]', (_case, object) => expect(read(object)).toEqual([undefined, undefined]));
