import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { join } from 'node:path';
import { ensureBundle } from '../../infra/release/bundle.ts';
import { operatorVersion } from '../../infra/settings/version.ts';
import { startControlPlane, type ControlPlane } from '../../sandbox/control-plane/control-plane.ts';
import { runCommand } from '../../sandbox/manager/command.ts';
import { toConfig, getEnvironment } from '../../sandbox/manager/configuration.ts';
import { install, type Installation } from '../../sandbox/manager/install.ts';
import { getAddressVariables, writeServiceAccount } from '../../sandbox/manager/service-account.ts';
import { run } from '../../sandbox/run.ts';
import { startCharts, type Charts } from '../../sandbox/testing/charts.ts';
import { TestCluster } from '../../sandbox/testing/test-cluster.ts';
import { createWorkload } from '../../sandbox/testing/workloads.ts';
import { helmRelease, suffixes, workloadKinds } from '../contract.ts';
import type { UpdaterConfig } from '../config/config.ts';
import { toTemplate } from '../injection/workload.ts';
import { assumedInstallation } from '../installation/assumed.ts';
import { getManager } from '../installation/installation.ts';
import type { KubernetesObject } from '../kubernetes/http/client.ts';

/** The updater needs no manager. */
let cluster: ControlPlane;
let installation: Installation;
let charts: Charts;
let account: string;
const [major = 0, minor = 0] = operatorVersion().split('.').map(Number);
const newer = `${major}.${minor}.77`;
const core = { group: '', version: 'v1' };

beforeAll(async () => {
  await ensureBundle();
  cluster = await startControlPlane({ controllerManager: false });
});
afterAll(async () => {
  charts?.remove();
  await cluster?.stop();
});

let runs = 0;

async function update(settings: Partial<UpdaterConfig> = {}, environment: NodeJS.ProcessEnv = {}) {
  const cronJob = installation.manifests.find(({ kind }) => kind === 'CronJob');
  const [container = { name: '' }] = (cronJob && toTemplate(cronJob))?.spec.containers ?? [];
  const pod = `update-${(runs += 1)}`;
  const { code, stdout, stderr } = await runCommand(['--service-account', account, ...(container.args ?? [])], {
    PATH: charts.bin,
    ...environment,
    ...getAddressVariables(cluster),
    // The settings allow only https://, and this repository has no certificate.
    ...getEnvironment({ ...toConfig(container), repository: charts.url, ...settings }, pod),
  });
  return { code, log: `${stdout}${stderr}`, event: await getEvent(pod) };
}

async function getEvent(pod: string) {
  const { namespace } = installation.settings;
  const { value } = await cluster.client.pages({ ...core, plural: 'events', namespace }).next();
  const found = value?.items.find((each: KubernetesObject) => each['reportingInstance'] === pod);
  const { kind, name } = (found?.['involvedObject'] ?? {}) as { kind?: string; name?: string };
  return {
    about: `${kind}/${name}`,
    type: found?.['type'],
    text: `${String(found?.['reason'])}: ${String(found?.['message'])}`,
  };
}

describe('lumigo preview before an installation', () => {
  it('assumes the defaults, and says so [F80]', async () => {
    await new TestCluster(cluster.client).create(createWorkload(workloadKinds.deployment, 'default', 'cart'));
    const asked = ['--kubeconfig', cluster.kubeconfig, 'preview', '-n', 'default', '--assume-lumigo'];
    const { code, stdout, stderr } = await runCommand(asked, {});
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^This Lumigo operator is not installed in this cluster\. The default settings are assumed, also in dry runs\./,
    );
    expect(stdout).toMatch(/Deployment\/cart +instrument /);
    expect(stdout).toContain('= the API server accepts it');
    expect(stdout).toContain(assumedInstallation.injectorImage);
  });
});

describe('the updater in the mode `check` [F60]', () => {
  beforeAll(async () => {
    installation = await install(cluster.client, { settings: { updater: { repository: 'https://charts.example' } } });
    charts = await startCharts();
    charts.publish(operatorVersion());
    account = join(cluster.dir, 'updater', 'service-account');
    await writeServiceAccount(cluster, installation, account, suffixes.updater);
  });

  it('reports a newer version by an event and in its log', async () => {
    charts.publish(newer);
    charts.publish(`${major + 1}.0.0`);
    const { code, log, event } = await update();
    expect({ code, log }).toEqual({ code: 0, log: expect.stringContaining('newer operator available') });
    expect(event).toEqual({
      about: `Deployment/${installation.settings.name}-controller-manager`,
      type: 'Normal',
      text: expect.stringMatching(`^LumigoOperatorUpdateAvailable: ${newer} is newer than .*\\. Install it as`),
    });
  });

  it('names no command of Helm, because the release may be that of a parent chart', async () => {
    const setRelease = (release: string | null) => {
      const body = { metadata: { annotations: { [helmRelease]: release } } };
      return cluster.client.patch(getManager(installation.config), { kind: 'merge', body });
    };
    await setRelease('platform');
    const { code, log, event } = await update();
    await setRelease(null);
    expect(code).toBe(0);
    expect(event.text).toContain('LumigoOperatorUpdateAvailable: ');
    expect(`${log}${event.text}`).not.toContain('helm upgrade');
  });

  it('reports that there is nothing newer, also with the settings of a newer release', async () => {
    // The image of the updater may be pinned. The newer release may have a further setting.
    const added = { version: newer, added: true };
    const { code, log, event } = await update(added);
    expect({ code, log }).toEqual({ code: 0, log: expect.stringContaining('operator up to date') });
    expect(event).toMatchObject({ type: 'Normal', text: expect.stringContaining('LumigoOperatorUpToDate: ') });
  });

  it('succeeds, and logs why, if its event cannot be sent', async () => {
    const { name, namespace } = installation.settings;
    const role = { group: 'rbac.authorization.k8s.io', version: 'v1', plural: 'roles', namespace };
    const ref = { ...role, name: `${name}${suffixes.updater}` };
    const { rules } = await cluster.client.get(ref);
    const setRules = (given: unknown) => cluster.client.patch(ref, { kind: 'merge', body: { rules: given } });
    const isOfEvents = ({ resources }: { readonly resources?: readonly string[] }) => resources?.includes('events');
    await setRules((rules as readonly object[]).filter((rule) => isOfEvents(rule) !== true));
    const { code, log } = await update();
    await setRules(rules);
    expect({ code, log }).toEqual({ code: 0, log: expect.stringContaining('cannot send the event about the update') });
  });

  it('fails if the repository does not answer, and says so', async () => {
    charts.stop();
    const { code, event } = await update();
    expect(code).toBe(1);
    expect(event).toMatchObject({
      type: 'Warning',
      text: expect.stringMatching(/^LumigoCannotUpdateOperator: helm repo/),
    });
  });
});

describe('the updater in the mode `upgrade`', () => {
  it('upgrades the release of Helm only to a chart that a key of its keyring signed', async () => {
    charts.remove();
    charts = await startCharts();
    const { namespace } = installation.settings;
    const env = { KUBECONFIG: cluster.kubeconfig, HOME: cluster.dir };
    const helm = (...args: readonly string[]) =>
      run(join(charts.bin, 'helm'), [...args, '--namespace', namespace], { env });
    helm('install', 'lumigo', charts.publish(operatorVersion()));
    const settings: Partial<UpdaterConfig> = { mode: 'upgrade', keyring: charts.makeKey('release') };
    const refusals: string[] = [];
    const refuse = async (more: Partial<UpdaterConfig>, environment: NodeJS.ProcessEnv = env) => {
      const { code, event } = await update({ ...settings, ...more }, environment);
      expect([code, event.type]).toEqual([1, 'Warning']);
      refusals.push(event.text);
    };
    await refuse({});
    const body = { metadata: { annotations: { [helmRelease]: 'lumigo' } } };
    await cluster.client.patch(getManager(installation.config), { kind: 'merge', body });
    await refuse({ keyring: '' });
    // Without a repository, the updater has no right to read the release.
    await refuse({ repository: '' }, { HOME: cluster.dir });
    charts.publish(newer);
    await refuse({});
    expect(refusals).toEqual(
      [
        'the operator was not installed by Helm',
        'the charts cannot be verified',
        'no chart repository is set',
        'helm pull failed: ',
      ].map((why) => expect.stringContaining(`LumigoCannotUpdateOperator: ${why}`)),
    );
    charts.publish(newer, 'release');
    const { code, event } = await update(settings, env);
    expect([code, event.text]).toEqual([0, `LumigoOperatorUpdated: ${operatorVersion()} was upgraded to ${newer}`]);
    expect(helm('list', '--output', 'json')).toContain(`"chart":"lumigo-operator-${newer}"`);
  });
});
