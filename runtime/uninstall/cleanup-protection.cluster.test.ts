import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { startControlPlane, type ControlPlane } from '../../sandbox/control-plane/control-plane.ts';
import { install, type Installation } from '../../sandbox/manager/install.ts';
import { managerTransport } from '../../sandbox/manager/service-account.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { readAudit } from '../../sandbox/testing/audit.ts';
import { installedAs } from '../../sandbox/testing/protection.ts';
import { cleanupFinalizer, suffixes } from '../contract.ts';
import { createClient } from '../kubernetes/http/client.ts';
import { toApiError } from '../kubernetes/http/errors.ts';
import type { Transport } from '../kubernetes/http/transport.ts';
import { CleanupProtection } from './cleanup-protection.ts';
import { getAccount } from './protected-objects.ts';

const notStreamed = toApiError({ message: 'sendInitialEvents is forbidden' }, { status: 422, subject: 'The watch' });

let cluster: ControlPlane;
let installation: Installation;
beforeAll(async () => {
  cluster = await startControlPlane({ audit: true });
  installation = await install(cluster.client, {});
});
afterAll(() => cluster?.stop());

async function protect(through: (transport: Transport) => Transport = (transport) => transport) {
  const transport = through(await managerTransport(cluster, installation));
  const installed = installedAs(installation);
  const stop = new AbortController();
  const logger = pino({ enabled: false });
  const running = new CleanupProtection({ transport, installed, needed: () => true, news: [], logger }).run({
    ...{ signal: stop.signal, fence: () => undefined, previousRenewTime: undefined },
  });
  const end = async (): Promise<void> => {
    stop.abort();
    await running;
    transport.close();
  };
  return { account: getAccount(installed), end };
}

describe('the protection of the clean-up', () => {
  it('protects all objects, in whatever order it reads them, also if each has its own list [F61]', async () => {
    const { account, end } = await protect((transport) => ({
      ...transport,
      // API servers before Kubernetes 1.32 answer like this. The list of the account takes a moment longer.
      async stream(request) {
        if (request.path.includes('serviceaccounts')) await sleep(500);
        if (request.query?.['sendInitialEvents'] === true) throw notStreamed;
        return transport.stream(request);
      },
    }));
    await eventually(async () =>
      expect((await cluster.client.get(account)).metadata.finalizers).toContain(cleanupFinalizer),
    );
    await end();
    await cluster.client.patch(account, { kind: 'merge', body: { metadata: { finalizers: null } } });
  });

  it('is restored within a moment if another writer has replaced a protected object', async () => {
    const { account, end } = await protect();
    const isProtected = async () =>
      expect((await cluster.client.get(account)).metadata.finalizers).toContain(cleanupFinalizer);
    await eventually(isProtected);
    await cluster.client.patch(account, { kind: 'merge', body: { metadata: { finalizers: null } } });
    await eventually(isProtected);
    await end();
  });

  it('backs off if its changes are refused, instead of four requests a second [F8]', async () => {
    const { settings } = installation;
    const role = { group: 'rbac.authorization.k8s.io', version: 'v1', plural: 'clusterroles' };
    const name = `${settings.name}${suffixes.managerRole}`;
    const rules = (await cluster.client.get({ ...role, name }))['rules'] as { resources: string[]; verbs: string[] }[];
    const less = rules.map((rule) =>
      rule.resources.includes('serviceaccounts') ? { ...rule, verbs: ['get', 'list', 'watch'] } : rule,
    );
    await cluster.client.patch({ ...role, name }, { kind: 'merge', body: { rules: less } });
    const transport = await managerTransport(cluster, installation);
    const body = { metadata: { annotations: { probe: 'yes' } } };
    const probe = () =>
      createClient(transport).patch(getAccount(installedAs(installation)), { kind: 'merge', body }, { dryRun: true });
    // The API server withdraws a right a moment after it stores the role.
    await eventually(() => expect(probe()).rejects.toThrow('cannot patch resource'));
    transport.close();
    const refused = () =>
      readAudit(cluster).filter(
        ({ verb, objectRef, responseStatus }) =>
          verb === 'patch' && objectRef?.resource === 'serviceaccounts' && responseStatus?.code === 403,
      );
    const { length } = refused();
    const { account, end } = await protect();
    await cluster.client.patch(account, { kind: 'merge', body: { metadata: { finalizers: null } } });
    await eventually(() => expect(refused().length).toBeGreaterThan(length + 4));
    const times = refused()
      .slice(length)
      .map(({ requestReceivedTimestamp }) => Date.parse(requestReceivedTimestamp));
    await end();
    const [first = 0, , , , fifth = 0] = times;
    // Waits of at least 0.25, 0.5, 1 and 2 s, one of which can end early by the news of a watch that begins.
    expect(fifth - first).toBeGreaterThan(1_500);
  });
});
