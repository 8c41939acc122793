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
import { getChartRepository, getImageRepository } from './publisher.ts';
import { operatorVersion } from './version.ts';

export const updater = section({
  mode: oneOf('upgrade', 'check', 'off')
    .default('check')
    .describe(
      'The action of the updater, a CronJob, on a newer version. `check`: reports it in an event and its log, and has no ' +
        'further rights. `upgrade` (only with the Helm chart, and the default there): verifies the signature of the newer chart, ' +
        'upgrades the release, and rolls back on failure. An attacker who can sign a chart, or start pods in the ' +
        "operator's namespace, then controls the cluster (docs/security/README.md). `off`: there is no CronJob.",
    ),
  schedule: schedule()
    .default('17 3 * * *')
    .describe('The schedule of the check for a newer chart, in cron format (UTC).'),
  repository: chartRepository()
    .default(getChartRepository())
    .describe(
      'The chart repository: the URL of its index (`https://…`) or a folder of a registry (`oci://…`). Empty: the CronJob is suspended.',
    ),
  versions: versionRange()
    .default('')
    .describe(
      'The versions that the updater reports or upgrades to, as a range of semantic versions. Empty: the installed major version, or the minor version while the major is 0.',
    ),
  verify: section({
    keyringSecret: text()
      .default('')
      .describe(
        "A Secret in the operator's namespace with `keyring.gpg`: public keys, as `gpg --export` writes them. The updater applies only charts that one of these keys signed (`helm package --sign`). Empty: see `updater.verify.unsigned`.",
      ),
    unsigned: oneOf('refuse', 'accept')
      .default('refuse')
      .describe(
        'The action of `upgrade` without a keyring. `refuse`: the CronJob is suspended and has no rights to upgrade. `accept`: it trusts every chart of the repository.',
      ),
  }),
  timeoutSeconds: wholeNumber(1, 86_400)
    .default(600)
    .describe('How long to wait for the upgraded operator to become ready before rolling back.'),
  image: image(
    { repository: getImageRepository('lumigo-kubernetes-operator-updater'), tag: operatorVersion() },
    'the updater (the operator with Helm)',
  ),
  resources: opaqueMap()
    .default({ requests: { cpu: '50m', memory: '128Mi' }, limits: { cpu: '1', memory: '256Mi' } })
    .describe('Requests and limits of the updater container.'),
});
