import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fromEnvironment, toEnvironment, type RuntimeConfig } from './config.ts';
import type { ConfigError } from '../wording/errors.ts';

const name = fc.stringMatching(/^[a-z]([-a-z0-9]{0,20}[a-z0-9])?$/);
const port = fc.integer({ min: 1, max: 65_535 });

const config: fc.Arbitrary<RuntimeConfig> = fc.record({
  version: fc.stringMatching(/^[0-9]\.[0-9]{1,3}\.[0-9]$/),
  operatorName: name,
  operatorNamespace: name,
  serviceAccount: name,
  podName: name,
  injectorImage: fc.constantFrom('public.ecr.aws/lumigo/lumigo-autotrace:v1', 'registry:5000/a@sha256:00'),
  injectorImagePullPolicy: fc.constantFrom('Always', 'IfNotPresent', 'Never'),
  injectorImagePullSecrets: fc.array(name, { maxLength: 3 }),
  telemetryProxyUrl: fc.constantFrom('http://proxy.lumigo-system.svc.cluster.local', 'https://proxy:8443/base'),
  platform: fc.constantFrom('auto', 'kubernetes', 'openshift'),
  injectorSidecars: fc.constantFrom(['istio-proxy'], ['a', 'b']),
  updateOnUpgrade: fc.boolean(),
  podMode: fc.boolean(),
  rolloutStrategy: fc.constantFrom('progressive', 'immediate', 'on-next-change', 'manual'),
  rolloutSoakSeconds: fc.integer({ min: 0, max: 86_400 }),
  rolloutDeadlineSeconds: fc.integer({ min: 1, max: 86_400 }),
  rolloutLargestWave: fc.integer({ min: 1, max: 1_000 }),
  rolloutConcurrent: fc.integer({ min: 1, max: 256 }),
  rolloutConcurrentPerNamespace: fc.integer({ min: 1, max: 256 }),
  rolloutSettleSeconds: fc.integer({ min: 0, max: 3600 }),
  excludedNamespaces: fc.array(name, { minLength: 1, maxLength: 3 }),
  drainSeconds: fc.integer({ min: 0, max: 60 }),
  removalDeadlineSeconds: fc.integer({ min: 1, max: 86_400 }),
  webhookPort: port,
  webhookTimeoutSeconds: fc.integer({ min: 1, max: 30 }),
  healthPort: port,
  metricsPort: port,
  metricsSecure: fc.boolean(),
  listenAddress: fc.constantFrom('', '127.0.0.1', '::1'),
  certificatesDirectory: fc.constantFrom('', '/var/run/certificates'),
  certificatesIssuer: fc.constantFrom('operator', 'external'),
  webhookHost: fc.constantFrom('webhooks.lumigo-system.svc', '127.0.0.1'),
  deploymentMethod: fc.constantFrom('Helm', 'Manifests'),
  clusterName: fc.constantFrom('', 'production'),
  endpoint: fc.constantFrom('https://lumigo.example', 'http://127.0.0.1:4318/base'),
  logsEndpoint: fc.constantFrom('', 'https://logs.example'),
  monitoredNamespaces: fc.constantFrom('[]', '[{"namespace":"shop"}]'),
  tokenSecret: name,
  tokenKey: name,
  telemetryProxyDirectory: fc.constant('/etc/proxy'),
  telemetryProxyAccountDirectory: fc.constant('/etc/account'),
  telemetryProxyQueueDirectory: fc.constant('/var/lib/proxy'),
  telemetryProxyQueueLaneSize: fc.constantFrom('1Mi', '512Mi', '1.5G'),
  otlpHttpPort: port,
  otlpGrpcPort: port,
  telemetryHealthPort: port,
  telemetryMetricsPort: port,
  telemetryLoopPort: port,
  telemetryProxyCredentials: fc.constantFrom('serviceAccount', 'kubeConfig'),
  logLevel: fc.constantFrom('error', 'warn', 'info', 'debug'),
});

const environmentOf = (value: RuntimeConfig) =>
  Object.fromEntries(toEnvironment(value).map((variable) => [variable.name, variable.value]));

describe('the runtime configuration', () => {
  it('survives the way through the environment', () => {
    fc.assert(fc.property(config, (value) => expect(fromEnvironment(environmentOf(value))).toEqual(value)));
  });

  it('names every problem at once', () => {
    const [sample] = fc.sample(config, 1);
    if (sample === undefined) throw new Error('no sample');
    const environment = {
      ...environmentOf(sample),
      LUMIGO_POD_NAME: '',
      LUMIGO_WEBHOOK_PORT: '70000',
      LUMIGO_ROLLOUT_CONCURENT: '3',
    };
    const problems = (() => {
      try {
        fromEnvironment(environment);
        return [];
      } catch (error) {
        return (error as ConfigError).problems;
      }
    })();
    expect(problems).toEqual([
      'LUMIGO_POD_NAME is not set',
      'LUMIGO_WEBHOOK_PORT="70000" must be a whole number from 1 to 65535',
      'LUMIGO_ROLLOUT_CONCURENT is set, but the operator has no such variable; remove it or correct its spelling',
    ]);
  });

  it('says in one sentence where the program runs if it has no variable at all [F83]', () => {
    expect(() => fromEnvironment({ PATH: '/bin' })).toThrow(
      /^This program runs only in the pod of the Lumigo operator, .*--explain.*--help[^\n]*$/,
    );
  });
});
