import { expect, it } from '@jest/globals';
import { cleanupFinalizer } from '../contract.ts';
import type { Client } from '../kubernetes/http/client.ts';
import { readSigns } from './signs.ts';

const deletionTimestamp = '2026-11-20T10:00:00Z';
const there = { metadata: {} };
const going = { metadata: { deletionTimestamp } };
const runsAs = (serviceAccountName: string, { metadata } = there) => ({
  metadata,
  spec: { template: { spec: { serviceAccountName } } },
});
const own = 'lumigo-controller-manager';
const none = {
  isHandedOver: false,
  isAccountProtected: false,
  accountGoingSince: undefined,
  isEnding: false,
  isRemoved: false,
};
const accountGoingSince = deletionTimestamp;

it.each<[string, Readonly<Record<string, object | undefined>>, Partial<Awaited<ReturnType<typeof readSigns>>>]>([
  ['no end while all are there', {}, {}],
  [
    'an account that waits for the clean-up',
    { serviceaccounts: { metadata: { finalizers: [cleanupFinalizer] } } },
    { isAccountProtected: true },
  ],
  ['no account', { serviceaccounts: undefined }, {}],
  ['an end if the Deployment does not exist', { deployments: undefined }, { isEnding: true }],
  ['an end if it is being deleted', { deployments: runsAs(own, going) }, { isEnding: true }],
  ['no end if only the account is being deleted', { serviceaccounts: going }, { accountGoingSince }],
  [
    'a removal if both are being deleted',
    { deployments: runsAs(own, going), serviceaccounts: going },
    { isEnding: true, isRemoved: true, accountGoingSince },
  ],
  ['a removal with the namespace', { namespaces: going }, { isEnding: true, isRemoved: true }],
  ['a handover to another account', { deployments: runsAs('another') }, { isHandedOver: true, isEnding: true }],
  ['no handover by what is being deleted', { deployments: runsAs('another', going) }, { isEnding: true }],
])("the operator's own objects show %s", async (_what, found, expected) => {
  const objects = { namespaces: there, serviceaccounts: there, deployments: runsAs(own), ...found };
  const find = ({ plural }: { plural: keyof typeof objects }) => Promise.resolve(objects[plural]);
  const signs = await readSigns({ find } as unknown as Client, { operatorName: 'lumigo', operatorNamespace: 'system' });
  expect(signs).toEqual({ ...none, ...expected });
});
