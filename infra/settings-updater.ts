import {
  flag,
  httpsUrl,
  image,
  oneOf,
  opaqueMap,
  schedule,
  section,
  text,
  versionRange,
  wholeNumber,
} from './settings-leaves.ts';
import { imageRepositoryOf, publisher } from './publisher.ts';
import { operatorVersion } from './version.ts';

/** The CronJob that keeps a Helm release current. */
export const updater = section({
  enabled: flag()
    .default(false)
    .describe(
      'Whether a CronJob upgrades the Helm release by itself. Only with Helm: elsewhere there is no release. Whoever can sign ' +
        "a chart, or start pods in the operator's namespace, then owns the cluster (docs/security.md).",
    ),
  schedule: schedule().default('17 3 * * *').describe('When it looks for a newer chart, as cron writes it (UTC).'),
  repository: httpsUrl()
    .default(publisher.charts.index)
    .describe(
      'The chart repository; whoever can write to it, owns the cluster, unless charts are verified (docs/security.md). Empty: there is none, and the CronJob is suspended.',
    ),
  versions: versionRange()
    .default('')
    .describe('Which versions it may upgrade to, as a range of semantic versions; empty: the installed major version.'),
  verify: section({
    keyringSecret: text()
      .default('')
      .describe(
        "A Secret in the operator's namespace whose `keyring.gpg` (public keys, as `gpg --export` writes them) every chart must be signed by, as `helm package --sign` does; nothing is applied before.",
      ),
    unsigned: oneOf('refuse', 'accept')
      .default('refuse')
      .describe('What the updater does without a keyring: nothing, or trust whatever the chart repository has.'),
  }),
  timeoutSeconds: wholeNumber(1, 86_400)
    .default(600)
    .describe('How long an upgraded operator may take until it is ready; after that the upgrade is rolled back.'),
  image: image(
    { repository: imageRepositoryOf('lumigo-kubernetes-operator-updater'), tag: operatorVersion() },
    'the updater (the operator with Helm)',
  ),
  resources: opaqueMap()
    .default({ requests: { cpu: '50m', memory: '128Mi' }, limits: { cpu: '1', memory: '256Mi' } })
    .describe('Requests and limits of the updater container.'),
});
