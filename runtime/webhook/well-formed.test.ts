import { expect, it } from '@jest/globals';
import { workloadOf } from '../../sandbox/testing/workloads.ts';
import { workloads } from '../contract.ts';
import { isWellFormed } from './well-formed.ts';

const [deployment] = workloads;
const pod = (more: object) => workloadOf(deployment, 'shop', 'app', { pod: more });
const required = 'requiredDuringSchedulingIgnoredDuringExecution';
const app = { name: 'app', image: 'app:1' };

it('takes what an API server sends', () => {
  for (const kind of workloads)
    expect(isWellFormed(workloadOf(kind, 'shop', 'app', { env: [{ name: 'A' }] }))).toBe(true);
  expect(isWellFormed({ apiVersion: 'v1', kind: 'Other', metadata: {} })).toBe(true);
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
])('F21: takes no object with %s', (_case, object) => expect(isWellFormed(object)).toBe(false));
