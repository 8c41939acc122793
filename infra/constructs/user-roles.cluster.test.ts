import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { lumigo } from '../../runtime/contract.ts';
import { startControlPlane, type ControlPlane } from '../../sandbox/control-plane/control-plane.ts';
import { apply } from '../../sandbox/manager/apply.ts';
import { install } from '../../sandbox/manager/install.ts';
import { ensureBinaries } from '../../sandbox/programs/build.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { userRoles } from './user-roles.ts';

let cluster: ControlPlane;
let kubectl = '';
const namespace = 'shop';
const roles = ['admin', 'edit', 'view'] as const;
type Role = (typeof roles)[number];

beforeAll(async () => {
  cluster = await startControlPlane();
  kubectl = (await ensureBinaries(['kubectl']))['kubectl'] ?? '';
  await install(cluster.client, {});
  for (const name of [namespace, 'elsewhere'])
    await apply(cluster.client, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  for (const role of roles) await bind(role);
  // A Kubernetes controller aggregates the operator's rules into its roles asynchronously.
  await eventually(async () => expect(await may('view', 'get')).toBe(true));
  for (const role of ['admin', 'edit'] as const)
    await eventually(async () => expect(await may(role, 'create')).toBe(true));
});
afterAll(() => cluster?.stop());

const getUser = (role: Role): string => `the-${role}`;

async function bind(role: Role): Promise<void> {
  const rbac = 'rbac.authorization.k8s.io';
  await apply(cluster.client, {
    apiVersion: `${rbac}/v1`,
    kind: 'RoleBinding',
    metadata: { name: role, namespace },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup: rbac, kind: 'User', name: getUser(role) }],
  } as Parameters<typeof apply>[1]);
}

async function may(role: Role, verb: string, more: Readonly<Record<string, string>> = {}): Promise<boolean> {
  const resourceAttributes = { group: lumigo.group, resource: lumigo.plural, namespace, verb, ...more };
  const { object } = await cluster.client.create(
    { group: 'authorization.k8s.io', version: 'v1', plural: 'subjectaccessreviews' },
    {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      metadata: {},
      spec: { user: getUser(role), resourceAttributes },
    },
  );
  return (object['status'] as { allowed: boolean }).allowed;
}

const changing = ['create', 'update', 'patch', 'delete', 'deletecollection'];
const reading = ['get', 'list', 'watch'];

function as(role: Role, args: readonly string[], input = ''): { ok: boolean; stderr: string } {
  const who = ['--kubeconfig', cluster.kubeconfig, '--as', getUser(role), '-n', namespace];
  const { status, stderr } = spawnSync(kubectl, [...args, ...who], { input, encoding: 'utf8' });
  return { ok: status === 0, stderr };
}

const manifest = JSON.stringify({
  apiVersion: lumigo.apiVersion,
  kind: lumigo.kind,
  metadata: { name: 'lumigo' },
  spec: { lumigoToken: { secretRef: { name: 'lumigo-credentials', key: 'token' } } },
});

describe('the roles of users', () => {
  it.each(['admin', 'edit'] as const)('let an `%s` of a namespace do everything with its Lumigo', async (role) => {
    for (const verb of [...reading, ...changing]) expect([verb, await may(role, verb)]).toEqual([verb, true]);
    expect(await may(role, 'create', { namespace: 'elsewhere' })).toBe(false);
  });

  it('let a `view` of it see it, and change nothing', async () => {
    for (const verb of reading) expect([verb, await may('view', verb)]).toEqual([verb, true]);
    for (const verb of changing) expect([verb, await may('view', verb)]).toEqual([verb, false]);
    expect(await may('view', 'get', { namespace: 'elsewhere' })).toBe(false);
  });

  it('reserve the status for the operator, and grant no Secret', async () => {
    for (const role of roles) {
      expect(await may(role, 'get', { subresource: 'status' })).toBe(true);
      for (const verb of ['update', 'patch']) expect(await may(role, verb, { subresource: 'status' })).toBe(false);
    }
    expect(await may('view', 'get', { group: '', resource: 'secrets' })).toBe(false);
    expect(userRoles.flatMap(({ rules }) => rules.flatMap(({ apiGroups }) => apiGroups))).not.toContain('');
  });

  it('apply to kubectl: the editor creates one, the viewer reads it and cannot delete it', () => {
    expect(as('view', ['create', '-f', '-'], manifest)).toMatchObject({ ok: false });
    expect(as('edit', ['create', '-f', '-'], manifest)).toEqual({ ok: true, stderr: '' });
    expect(as('view', ['get', 'lumigo', 'lumigo'])).toEqual({ ok: true, stderr: '' });
    const refused = as('view', ['delete', 'lumigo', 'lumigo']);
    expect(refused).toMatchObject({ ok: false, stderr: expect.stringContaining('cannot delete resource "lumigoes"') });
    expect(as('edit', ['delete', 'lumigo', 'lumigo'])).toEqual({ ok: true, stderr: '' });
  });
});
