import { describe, expect, it } from '@jest/globals';
import { instrumented, made } from '../../sandbox/testing/injection.ts';
import { workloadKinds, type WorkloadKind } from '../contract.ts';
import type { PodTemplate, Workload } from '../api/objects.ts';
import { toTemplate } from '../injection/workload.ts';
import type { Client, KubernetesObject } from '../kubernetes/http/client.ts';
import { brokenPods } from './generation-pods.ts';

type Labels = Readonly<Record<string, string>>;

/** Returns a client of an API server with these pods, and a list with the number of pods on each page that it sent. */
function serve(there: readonly KubernetesObject[]) {
  const sent: number[] = [];
  const matches = ({ labels = {} }: { labels?: Labels }, selector = ''): boolean =>
    selector.split(',').every((each) => {
      const [key = '', value] = each.split('=');
      return key === '' || (value === undefined ? key in labels : labels[key] === value);
    });
  const pages: Client['pages'] = async function* (_ref, { labelSelector, limit = 500 } = {}) {
    const found = there.filter(({ metadata }) => matches(metadata, labelSelector));
    for (let start = 0; start === 0 || start < found.length; start += limit) {
      const items = await Promise.resolve(found.slice(start, start + limit));
      sent.push(items.length);
      yield { items, resourceVersion: '1', bytes: 0 };
    }
  };
  return { sent, client: { pages } as unknown as Client };
}

function workload(kind: WorkloadKind, name: string, more: object = {}): Workload {
  const injected = instrumented(made({}, kind));
  const metadata = { ...injected.metadata, name, uid: name };
  const spec = { ...(injected['spec'] as object), selector: { matchLabels: { app: name } } };
  return { ...injected, spec, metadata, ...more };
}

/** Returns pods of a workload's present template. */
function podsOf(of: Workload, number: number, labels: Labels = {}, prefix = of.metadata.name): KubernetesObject[] {
  const template = toTemplate(of) as PodTemplate;
  const ownerReferences = [
    { apiVersion: of.apiVersion, kind: of.kind, name: prefix ?? '', uid: of.metadata.uid ?? '', controller: true },
  ];
  return Array.from({ length: number }, (_, index) => ({
    ...{ apiVersion: 'v1', kind: 'Pod', spec: template.spec, status: {} },
    metadata: {
      ...{ name: `${prefix}-${index}`, uid: `${prefix}-${index}`, ownerReferences },
      labels: { ...template.metadata?.labels, app: of.metadata.name ?? '', ...labels },
      annotations: { ...template.metadata?.annotations },
    },
  })) as unknown as KubernetesObject[];
}

const { statefulSet } = workloadKinds;

describe('the broken pods of a StatefulSet', () => {
  const injected = workload(statefulSet, 'db');
  const clean = {
    ...injected,
    spec: { ...(made({}, statefulSet)['spec'] as object), selector: { matchLabels: { app: 'db' } } },
  };

  it('are those that have the injection, which its template no longer has', async () => {
    const [broken, other] = podsOf(injected, 2);
    const { metadata } = other as KubernetesObject;
    const without = { ...other, metadata: { ...metadata, annotations: {} } } as KubernetesObject;
    const { client } = serve([broken as KubernetesObject, without]);
    expect(await brokenPods(clean, client)).toMatchObject([{ name: 'db-0' }]);
  });

  it('are none while its template has the injection', async () => {
    expect(await brokenPods(injected, serve(podsOf(injected, 2)).client)).toEqual([]);
  });
});
