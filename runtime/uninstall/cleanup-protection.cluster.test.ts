import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { parseSettings } from '../../infra/settings/settings.ts';
import { startControlPlane, type ControlPlane } from '../../sandbox/control-plane/control-plane.ts';
import { toRef } from '../../sandbox/manager/apply.ts';
import { install, type Installation } from '../../sandbox/manager/install.ts';
import { managerTransport } from '../../sandbox/manager/service-account.ts';
import { operatorRequests, readAudit } from '../../sandbox/testing/audit.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { cleanupFinalizer, suffixes } from '../contract.ts';
import { createClient } from '../kubernetes/http/client.ts';
import { ApiError } from '../kubernetes/http/errors.ts';
import type { ApiRequest, Transport } from '../kubernetes/http/transport.ts';
import { CleanupProtection } from './cleanup-protection.ts';
import { getAccount, protectedObjects } from './protected-objects.ts';
import { cleanUpOnShutdown } from './shutdown-cleanup.ts';

const notStreamed = new ApiError({ message: 'sendInitialEvents is forbidden' }, { status: 422, subject: 'The watch' });
const settings = parseSettings({}, 'The test');
const installed = { operatorName: settings.name, operatorNamespace: settings.namespace };

let cluster: ControlPlane;
let installation: Installation;
beforeAll(async () => {
  cluster = await startControlPlane({ audit: true, controllerManager: false });
});
afterAll(() => cluster?.stop());

/** Longer than the interval between two signs that a replica still cleans up. */
const SLOW_MS = 4_000;

async function removeWhileHeld(): Promise<void> {
  installation = await install(cluster.client, {});
  const held = protectedObjects(installed);
  for (const ref of held)
    await cluster.client.patch(ref, { kind: 'merge', body: { metadata: { finalizers: [cleanupFinalizer] } } });
  const deployments = installation.manifests.filter(({ kind }) => kind === 'Deployment').map(toRef);
  for (const ref of [...deployments, ...held]) await cluster.client.delete(ref);
}

const letsAccountGo = ({ method, path, body }: ApiRequest): boolean =>
  method === 'PATCH' && path.endsWith(suffixes.manager) && JSON.stringify(body).includes('/metadata/finalizers');

describe('the clean-up at the end', () => {
  it('sends nothing as a released account, however late it learns of the release', async () => {
    await removeWhileHeld();
    const transport = await managerTransport(cluster, installation);
    let letGoAt = '';
    const slow: Transport = {
      ...transport,
      async request(request) {
        const answer = await transport.request(request);
        if (!letsAccountGo(request)) return answer;
        letGoAt = new Date().toISOString();
        await sleep(SLOW_MS);
        return answer;
      },
    };
    const logger = pino({ enabled: false });
    const config = { ...installed, podName: 'replica', removalDeadlineSeconds: 1 };
    await cleanUpOnShutdown({ transport: slow, config, logger });
    transport.close();
    const requests = operatorRequests(cluster, installation);
    expect(requests).not.toEqual([]);
    expect(letGoAt).not.toBe('');
    expect(requests.filter(({ requestReceivedTimestamp: at }) => at > letGoAt)).toEqual([]);
  });
});

async function protect(through: (transport: Transport) => Transport = (transport) => transport, fence = () => {}) {
  const transport = through(await managerTransport(cluster, installation));
  const stop = new AbortController();
  const logger = pino({ enabled: false });
  const running = new CleanupProtection({ transport, config: installed, needed: () => true, news: [], logger }).run({
    signal: stop.signal,
    fence,
    previousRenewTime: undefined,
  });
  const end = async (): Promise<void> => {
    stop.abort();
    await running;
    transport.close();
  };
  return end;
}

const account = getAccount(installed);
const unprotect = () => cluster.client.patch(account, { kind: 'merge', body: { metadata: { finalizers: null } } });
const waitForProtectedAccount = () =>
  eventually(async () => expect((await cluster.client.get(account)).metadata.finalizers).toContain(cleanupFinalizer));

describe('the protection of the clean-up', () => {
  beforeAll(async () => {
    installation = await install(cluster.client, {});
  });

  it('protects all objects, in whatever order it reads them, also if each has its own list [F61]', async () => {
    const end = await protect((transport) => ({
      ...transport,
      // API servers before Kubernetes 1.32 answer like this. The list of the account takes a moment longer.
      async stream(request) {
        if (request.path.includes('serviceaccounts')) await sleep(500);
        if (request.query?.['sendInitialEvents'] === true) throw notStreamed;
        return transport.stream(request);
      },
    }));
    await waitForProtectedAccount();
    await end();
    await unprotect();
  });

  it('is restored within a moment if another writer has replaced a protected object', async () => {
    const end = await protect();
    await waitForProtectedAccount();
    await unprotect();
    await waitForProtectedAccount();
    await end();
  });

  it.each([
    ['restores nothing if its term ends before', false, ({ path }: ApiRequest) => path.endsWith('/token')],
    ['restores the account whole if its term ends in between', true, ({ method }: ApiRequest) => method === 'PATCH'],
  ])('%s', async (_what, isRestored, endsAt) => {
    const term = { isDeleted: false, isOver: false };
    const endingAt = (transport: Transport): Transport => ({
      ...transport,
      async request(request) {
        const answer = await transport.request(request);
        term.isOver ||= term.isDeleted && endsAt(request);
        return answer;
      },
    });
    const fence = () => {
      if (term.isOver) throw new Error('the term is over');
    };
    const end = await protect(endingAt, fence);
    const read = async () => (await cluster.client.get(account)).metadata;
    await waitForProtectedAccount();
    await cluster.client.delete(account);
    term.isDeleted = true;
    const { uid } = await read();
    await eventually(async () => expect(term.isOver).toBe(true), { timeoutMs: 30_000 });
    if (isRestored) await eventually(async () => expect((await read()).uid).not.toBe(uid));
    await end();
    if (!isRestored) expect(await read()).toMatchObject({ uid, finalizers: [cleanupFinalizer] });
    await unprotect();
    installation = await install(cluster.client, {});
  });

  it('backs off if its changes are refused, instead of four requests a second [F8]', async () => {
    const role = { group: 'rbac.authorization.k8s.io', version: 'v1', plural: 'clusterroles' };
    const name = `${settings.name}${suffixes.managerRole}`;
    const rules = (await cluster.client.get({ ...role, name }))['rules'] as { resources: string[]; verbs: string[] }[];
    const less = rules.map((rule) =>
      rule.resources.includes('serviceaccounts') ? { ...rule, verbs: ['get', 'list', 'watch'] } : rule,
    );
    await cluster.client.patch({ ...role, name }, { kind: 'merge', body: { rules: less } });
    const transport = await managerTransport(cluster, installation);
    const body = { metadata: { annotations: { probe: 'yes' } } };
    const probe = () => createClient(transport).patch(account, { kind: 'merge', body }, { dryRun: true });
    // The API server withdraws a right a moment after it stores the role.
    await eventually(() => expect(probe()).rejects.toThrow('cannot patch resource'));
    transport.close();
    const refused = () =>
      readAudit(cluster).filter(
        ({ verb, objectRef, responseStatus }) =>
          verb === 'patch' && objectRef?.resource === 'serviceaccounts' && responseStatus?.code === 403,
      );
    const { length } = refused();
    const end = await protect();
    await unprotect();
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
