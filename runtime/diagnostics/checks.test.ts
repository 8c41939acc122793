import { expect, it } from '@jest/globals';
import { issuePair } from '../certificates/issue.ts';
import type { CheckContext } from './check-context.ts';
import { runChecks } from './checks.ts';

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
