import { describe, expect, it } from '@jest/globals';
import { settings } from '../../sandbox/testing/injection.ts';
import { inject } from './inject.ts';
import { remove } from './remove.ts';
import type { PodTemplate } from '../api/objects.ts';

const app = (fields: object) => ({ name: 'app', image: 'app:1', ...fields });
const limits = (resource: string, amount: string) => app({ resources: { limits: { [resource]: amount } } });
const disk = (amount: string, more: object = {}) => ({ ...limits('ephemeral-storage', amount), ...more });
const sidecar = { restartPolicy: 'Always' };
const starting = (app: object, ...initContainers: readonly object[]) => ({ containers: [app], initContainers });
const other = { name: 'other', resources: { limits: { cpu: '1' } } };
const twice = ['/opt/lumigo', '/opt/lumigo/'].map((mountPath) => ({ name: 'v', mountPath }));
const fromField = { name: 'LD_PRELOAD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } };
const mounted = (mountPath: string, source?: object) => ({
  containers: [app({ volumeMounts: [{ name: 'v', mountPath }] })],
  ...(source && { volumes: [{ name: 'v', ...source }] }),
});
const ours = { name: 'lumigo-injector', emptyDir: {} };
const data = { name: 'data', emptyDir: {} };
const named = { name: 'lumigo-injector' };
const injector = { ...named, env: [{ name: 'TARGET_DIRECTORY', value: '/target' }] };
const claim = { claimName: 'c' };
const readOnlyVolume = /read-only volume 'v' is mounted at \/opt, so/;
const withApp = (more: object) => ({ containers: [app({})], ...more });

describe('a pod that cannot be injected [D6, F24]', () => {
  it.each<[string, object, RegExp]>([
    ['an LD_PRELOAD from elsewhere', { containers: [app({ env: [fromField] })] }, /its LD_PRELOAD uses valueFrom/],
    ['a mount inside', mounted('/opt/lumigo/config', { emptyDir: {} }), /mounted at \/opt\/lumigo\/config, inside/],
    ['a mount inside, with two slashes', mounted('/opt//lumigo/x', { emptyDir: {} }), /at \/opt\/\/lumigo\/x, inside/],
    ['a mounted claim of a StatefulSet', mounted('/opt/lumigo'), /volume claim 'v' is mounted at \/opt\/lumigo/],
    ['a ConfigMap above', mounted('/opt', { configMap: { name: 'c' } }), readOnlyVolume],
    ['an image above', mounted('/opt', { image: { reference: 'assets' } }), readOnlyVolume],
    [
      'a read-only claim above',
      mounted('/opt', { persistentVolumeClaim: { ...claim, readOnly: true } }),
      readOnlyVolume,
    ],
    ['a read-only share above', mounted('/opt', { nfs: { server: 's', path: '/', readOnly: true } }), readOnlyVolume],
    [
      'a read-only mount above',
      { containers: [app({ volumeMounts: [{ name: 'v', mountPath: '/opt', readOnly: true }] })] },
      readOnlyVolume,
    ],
    ['two mounts in its place', { containers: [app({ volumeMounts: twice })] }, /more than one mount at \/opt\/lumigo/],
    ['a volume of that name', withApp({ volumes: [{ name: 'lumigo-injector' }] }), /already has a volume named/],
    ['a container of that name', withApp({ initContainers: [{ name: 'lumigo-injector' }] }), /already has a container/],
    ['a volume and a container of these names', withApp({ volumes: [ours], initContainers: [named] }), /already has/],
    [
      'an injector without its volume',
      withApp({ volumes: [data], initContainers: [injector] }),
      /already has a container/,
    ],
    [
      'no room on the disk',
      { containers: [limits('ephemeral-storage', '100500k'), other] },
      /limits \(101M in total\) are too/,
    ],
    ['a byte too little', { containers: [limits('ephemeral-storage', '249999999')] }, /ephemeral-storage limits/],
    ['an init container with little room', starting(app({}), disk('100M')), /limits \(100M in total\) are too/],
    ['a sidecar with little room', starting(app({}), disk('100M', sidecar)), /limits \(100M in total\) are too/],
    ['little room in each phase', starting(disk('240M'), disk('230M')), /limits \(240M in total\) are too/],
    ['a late sidecar', starting(app({}), disk('200M'), disk('100M', sidecar)), /limits \(200M in total\) are too/],
    ['a limit of nothing', starting(app({}), disk('0')), /limits \(0M in total\) are too/],
    ['too little of a processor', { containers: [limits('cpu', '10m')] }, /cpu limit \(10m\) is too low.* needs 25m/],
  ])('has %s, as the reason says', (_what, spec, reason) => {
    expect(inject({ spec } as PodTemplate, settings).refused).toMatch(reason);
  });

  it.each<[string, object]>([
    ['a writable volume above', mounted('/opt', { emptyDir: {} })],
    ['a writable claim above', mounted('/opt', { persistentVolumeClaim: claim })],
    ['a mount in its place, with two slashes', mounted('/opt//lumigo', { emptyDir: {} })],
    ['a mount in its place, with a slash at the end', mounted('/opt/lumigo/', { emptyDir: {} })],
    ['just enough of the disk', { containers: [limits('ephemeral-storage', '250M')] }],
    ['enough room in an init container', starting(disk('100M'), disk('250M'))],
    ['enough room with its sidecar', starting(disk('100M'), disk('150M', sidecar))],
    [
      'enough room in an init container with the sidecar before',
      starting(disk('99M'), disk('100M', sidecar), disk('150M')),
    ],
    ['just enough of a processor', { containers: [limits('cpu', '25m')] }],
    ['another container with enough of a processor', { containers: [limits('cpu', '10m'), other] }],
  ])('is not one with %s, which stays after the removal', (_what, spec) => {
    const result = inject({ spec } as PodTemplate, settings);
    expect(result).toMatchObject({ skipped: [] });
    expect(remove((result as { template: PodTemplate }).template)).toEqual({ spec });
  });
});
