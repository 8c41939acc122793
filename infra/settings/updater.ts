import {
  chartRepository,
  image,
  oneOf,
  opaqueMap,
  schedule,
  section,
  text,
  versionRange,
  wholeNumber,
} from './leaves.ts';
import { chartRepositoryOf, imageRepositoryOf } from '../publisher.ts';
import { operatorVersion } from '../version.ts';

/** The CronJob that looks for newer versions. */
export const updater = section({
  mode: oneOf('upgrade', 'check', 'off')
    .default('check')
    .describe(
      'What it does about a newer version. `check`: tells of it, by an event, its log and metrics, and has no right beyond that. ' +
        '`upgrade` (the default of the Helm chart, and there only: elsewhere is no release): verifies the signature of the newer chart ' +
        'and upgrades the release to it, or rolls back; whoever can sign a chart, or start pods in the ' +
        "operator's namespace, then owns the cluster (docs/security/README.md). `off`: there is no CronJob.",
    ),
  schedule: schedule().default('17 3 * * *').describe('When it looks for a newer chart, as cron writes it (UTC).'),
  repository: chartRepository()
    .default(chartRepositoryOf())
    .describe(
      'The chart repository, by its index (`https://…`) or as the folder of a registry (`oci://…`). Empty: there is none, and the CronJob is suspended.',
    ),
  versions: versionRange()
    .default('')
    .describe(
      'Which versions it tells of or upgrades to, as a range of semantic versions; empty: the installed major version.',
    ),
  verify: section({
    keyringSecret: text()
      .default('')
      .describe(
        "A Secret in the operator's namespace whose `keyring.gpg` (public keys, as `gpg --export` writes them) every chart must be signed by, as `helm package --sign` does, before anything of it is applied.",
      ),
    unsigned: oneOf('refuse', 'accept')
      .default('refuse')
      .describe(
        'What `upgrade` does without a keyring: nothing (the CronJob is suspended, and has no rights to upgrade), or trust whatever the chart repository has.',
      ),
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
