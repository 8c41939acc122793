import { expect, it } from '@jest/globals';
import { made } from '../../sandbox/testing/injection.ts';
import { issuePair } from '../certificates/issue.ts';
import type { CheckContext } from './check-context.ts';
import { runChecks } from './checks.ts';
import { images } from './namespace-checks.ts';

it('checks the certificates that can be read, although another in the caBundle cannot', async () => {
  const { authority } = await issuePair('webhooks', 365, Date.now());
  const unreadable = authority.replace('MII', 'xxx');
  const caBundle = Buffer.from(`${unreadable}\n${authority}`).toString('base64');
  const client = { find: () => Promise.resolve({ webhooks: [{ clientConfig: { caBundle } }] }) };
  const installed = () => Promise.resolve({ operatorName: 'op', operatorNamespace: 'lumigo-system' });
  const findings = await runChecks({ client, installed } as unknown as CheckContext);
  const [certificate] = findings.filter(({ check }) => check === 'certificate');
  expect(certificate).toHaveProperty('result', 'ok');
});

it.each([
  ['a new version does not start', 2, 2, '2 of 2', ', and its rollout is not complete'],
  ['a new version has started', 2, 3, '2 of 2', ', and its rollout is not complete'],
  ['no replica is wanted', 0, 0, '0 of 0', ''],
])('counts the replicas of the operator that serve while %s', async (_case, replicas, available, counts, rollout) => {
  const status = { replicas: 3, updatedReplicas: 1, availableReplicas: available };
  const deployment = { ...made(), spec: { replicas }, status };
  const installed = () => Promise.resolve({ operatorNamespace: 'lumigo-system', deployment });
  const findings = await runChecks({ installed } as unknown as CheckContext);
  expect(findings.find(({ check }) => check === 'manager')).toMatchObject({
    result: 'failed',
    details: `${counts} replicas of lumigo-system/app are available${rollout}`,
  });
});

it.each([
  ['of the operator', { 'app.kubernetes.io/part-of': 'lumigo' }, 'lumigo-system', 'failed'],
  ['of another program', {}, undefined, 'ok'],
])('judges a missing image %s by the label of its pod', async (_case, labels, namespace, result) => {
  const waiting = { name: 'app', image: 'none:1', state: { waiting: { reason: 'ImagePullBackOff' } } };
  const pod = { metadata: { name: 'pod', labels }, status: { containerStatuses: [waiting] } };
  const client = { pages: () => [{ items: [pod] }] };
  const installed = () => Promise.resolve({ operatorNamespace: 'lumigo-system' });
  const context = { client, namespace, installed, lumigoes: () => Promise.resolve([]) };
  expect(await images(context as unknown as CheckContext)).toMatchObject({ result });
});

it('names a command that shows the logs of all replicas if none leads', async () => {
  const client = { find: () => Promise.resolve(undefined) };
  const installed = () => Promise.resolve({ operatorName: 'op', operatorNamespace: 'lumigo-system' });
  const findings = await runChecks({ client, installed } as unknown as CheckContext);
  expect(findings.find(({ check }) => check === 'leader')).toMatchObject({
    result: 'failed',
    todo: expect.stringMatching(/^kubectl logs -n lumigo-system -l \S+=controller-manager -c manager --prefix /),
  });
});
