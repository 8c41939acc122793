import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Agent, request } from 'node:https';
import { clientAuthority, clientCertificate, post } from '../../sandbox/testing/client-certificates.ts';
import { issueAuthority, issueServing, type KeyPair } from '../certificates/issue.ts';
import { forClients, refusalOf } from './client-certificate.ts';
import { serveTls, type TlsServer } from '../serving/tls-server.ts';

const shown = { authorized: true, problem: undefined, names: ['kube-apiserver'] };

describe('a client certificate', () => {
  it.each([
    ['of the authority, for a name that counts', shown, ['other', 'kube-apiserver'], undefined],
    ['of the authority, where every name counts', shown, [], undefined],
    ['of the authority, for another name', shown, ['system:webhooks'], 403],
    ['of the authority, for no name', { ...shown, names: [] }, ['kube-apiserver'], 403],
    ['of nobody known', { ...shown, authorized: false, problem: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' }, [], 401],
    ['that is not there', { ...shown, authorized: false, names: [] }, [], 401],
  ])('%s', (_case, given, allowed, status) => {
    expect(refusalOf(given, allowed)?.status).toBe(status);
  });

  it('is told what is wrong with it, and what to do', () => {
    const expired = refusalOf({ ...shown, authorized: false, problem: 'CERT_HAS_EXPIRED' }, []);
    expect(expired?.message).toContain('this one is CERT_HAS_EXPIRED');
    expect(refusalOf({ ...shown, names: ['a\u001b[31m'] }, ['b'])?.message).toContain("is for 'a\ufffd[31m'");
    expect(expired?.message).toContain('AdmissionConfiguration');
  });
});

describe('the webhook that asks for a client certificate', () => {
  let ca: string;
  let serving: KeyPair;
  let [one, another]: KeyPair[] = [];
  let server: TlsServer;
  let port: number;
  let bodies = 0;
  const trust = (...authorities: (KeyPair | undefined)[]) =>
    server.useCertificate({
      cert: Buffer.from(serving.certificate),
      key: Buffer.from(serving.key),
      clientAuthorities: authorities.flatMap((each) => each?.certificate ?? []),
    });
  const by = (client: KeyPair | undefined, announced?: number) =>
    post({ port, path: '/', ca, client, body: '{}', ...(announced === undefined ? {} : { announced }) });
  const statusOf = async (client: KeyPair | undefined) => (await by(client)).status;
  const of = (authority: KeyPair | undefined, name = 'kube-apiserver', use?: 'serverAuth') =>
    clientCertificate(authority as KeyPair, name, use);

  beforeAll(async () => {
    const validity = { now: new Date(), days: 1 };
    const authority = await issueAuthority('serving', validity);
    ca = authority.certificate;
    serving = await issueServing(authority, { dnsNames: [], ipAddresses: ['127.0.0.1'] }, validity);
    [one, another] = [await clientAuthority('one'), await clientAuthority('another')];
    const app = forClients(['kube-apiserver'], (asked, answer) => {
      bodies += 1;
      asked.resume().on('end', () => answer.end('reviewed'));
    });
    server = serveTls(app, {
      ...{ port: 0, host: '127.0.0.1', purpose: 'the webhook', mostConnections: 16, asksClients: true },
    });
    port = await server.listening;
  });
  afterAll(() => server.close(0, 0));

  it('answers nobody before it knows the authority', async () => {
    await expect(by(await of(one))).rejects.toThrow();
  });

  it('answers who shows one of the authority, and nobody else, without looking at what he sends', async () => {
    trust(one);
    expect(await statusOf(await of(one))).toBe(200);
    bodies = 0;
    for (const [client, status] of [
      [undefined, 401],
      [await of(another), 401],
      [await of(one, 'kube-apiserver', 'serverAuth'), 401],
      [await of(one, 'system:node:worker'), 403],
    ] as const) {
      const answer = await by(client, 5_000_000);
      expect([answer.status, answer.connection]).toEqual([status, 'close']);
      expect(JSON.parse(answer.text)).toMatchObject({ kind: 'Status', code: status });
    }
    expect(bodies).toBe(0);
  });

  it('follows another authority, and both while one replaces the other', async () => {
    const [old, young] = [await of(one), await of(another)];
    trust(one, another);
    expect([await statusOf(old), await statusOf(young)]).toEqual([200, 200]);
    trust(another);
    expect([await statusOf(old), await statusOf(young)]).toEqual([401, 200]);
  });

  it('ends a connection that the former authority opened with its next answer, and resumes none', async () => {
    trust(one);
    const { certificate: cert, key } = await of(one);
    const agent = new Agent({ keepAlive: true, maxSockets: 1, maxCachedSessions: 10, ca, cert, key });
    const ask = () =>
      new Promise<unknown>((resolve, reject) => {
        const sent = request({ host: '127.0.0.1', port, agent, method: 'POST' }, (response) => {
          const { statusCode, headers } = response;
          response
            .resume()
            .on('end', () => setImmediate(() => resolve([statusCode, headers.connection, sent.reusedSocket])));
        });
        sent.on('error', reject);
        sent.end();
      });
    expect(await ask()).toEqual([200, 'keep-alive', false]);
    expect(await ask()).toEqual([200, 'keep-alive', true]);
    trust(one);
    expect(await ask()).toEqual([200, 'keep-alive', true]);
    trust(another);
    expect(await ask()).toEqual([200, 'close', true]);
    expect(await ask()).toEqual([401, 'close', false]);
    agent.destroy();
  });
});
