import fc from 'fast-check';
import { annotations, injector as names, labels, lumigo } from '../../../runtime/contract.ts';
import { decide } from '../../../runtime/injection/decide.ts';
import { inject } from '../../../runtime/injection/inject.ts';
import { getOriginalState } from '../../../runtime/injection/original-state.ts';
import { uninstrument } from '../../../runtime/injection/remove.ts';
import type { Container, PodSpec, PodTemplate, Workload } from '../../../runtime/api/objects.ts';
import type { InjectorSettings, NamespacePolicy } from '../../../runtime/injection/types.ts';
import { toTemplate, withTemplate } from '../../../runtime/injection/workload.ts';
import { instrumentedByOriginal } from '../../original/injected.ts';
import { activePolicy, older, withMetadata, withRecord } from '../injection.ts';

/** A change of a workload by the operator or by a user. Undefined: nothing changes. */
export interface Step {
  readonly name: string;
  readonly by: 'operator' | 'user';
  readonly change: (workload: Workload, injector: InjectorSettings) => Workload | undefined;
}

const tracings = ['lumigo-credentials', 'other'].flatMap((secretName) =>
  [true, false].map((traces) => ({ secretName, secretKey: 'token', traces, logs: !traces })),
);

const decided = (name: string, policy: NamespacePolicy, renew = false, more: Partial<InjectorSettings> = {}): Step => ({
  name,
  by: 'operator',
  change(workload, injector) {
    const now = new Date().toISOString();
    const context = { operation: 'RECONCILE', by: 'controller', now, renew } as const;
    const decision = decide({ ...context, workload, policy, injector: { ...injector, ...more } });
    return decision.kind === 'none' ? undefined : decision.workload;
  },
});

const tracing = { secretName: 'lumigo-credentials', secretKey: 'token', traces: true, logs: true };
const environments = [
  { OTEL_SERVICE_NAME: { value: 'shop "quoted"' }, LUMIGO_SECRET_MASKING_REGEX: { value: '["\\\\d+"]' } },
  { OTEL_SERVICE_NAME: { valueFrom: { configMapKeyRef: { name: 'settings', key: 'name', optional: true } } } },
];
const deleting = { kind: 'deleting', lumigo: 'lumigo', remove: true } as const;

const operator: readonly Step[] = [
  ...tracings.map((each, index) => decided(`inject ${index}`, activePolicy(each), index % 2 === 0)),
  ...environments.map((env, index) => decided(`inject settings ${index}`, activePolicy({ ...tracing, env }))),
  decided('inject on OpenShift', activePolicy(tracing), true, { platform: 'openshift' }),
  decided('keep', { ...activePolicy(tracing), remove: false }),
  decided('remove with the Lumigo', deleting),
  decided('keep without the Lumigo', { ...deleting, remove: false }),
  decided('disable', { ...deleting, kind: 'disabled' }),
  decided('without a Lumigo', { kind: 'none' }),
  { name: 'remove', by: 'operator', change: uninstrument },
  {
    name: 'note',
    by: 'operator',
    change: (workload) =>
      withMetadata(workload, {
        labels: { ...workload.metadata.labels, [labels.rollout]: 'reverted' },
        annotations: { ...workload.metadata.annotations, [`${lumigo.group}/x`]: 'y' },
      }),
  },
];

type Texts = Readonly<Record<string, string>>;

const inTemplate = (name: string, change: (template: PodTemplate) => PodTemplate): Step => ({
  name,
  by: 'user',
  change(workload) {
    const template = toTemplate(workload);
    return template && withTemplate(workload, change(template));
  },
});

const inSpec = (name: string, change: (spec: PodSpec) => PodSpec): Step =>
  inTemplate(name, ({ spec, ...rest }) => ({ ...rest, spec: change(spec) }));

const inAnnotations = (name: string, change: (annotations: Texts) => Texts): Step =>
  inTemplate(name, ({ metadata = {}, ...rest }) => ({
    ...rest,
    metadata: { ...metadata, annotations: change(metadata.annotations ?? {}) },
  }));

const inContainers = (name: string, change: (container: Container) => Container): Step =>
  inSpec(name, (spec) => ({ ...spec, containers: spec.containers.map(change) }));

const setting = (variable: string, value: string): Step =>
  inContainers(`set ${variable}`, ({ env = [], ...rest }) => ({
    ...rest,
    env: [...env.filter(({ name }) => name !== variable), { name: variable, value }],
  }));

/** An injection of another version, with other settings, that the webhook wrote. */
const injectedBy = (name: string, other: Partial<InjectorSettings>, unknown = false): Step =>
  inTemplate(name, (template) => {
    const settings = { ...older, imagePullPolicy: 'Always', imagePullSecrets: ['old', 'mine'], ...tracing } as const;
    const result = inject(template, { ...settings, ...other });
    if (result.refused !== undefined) return template;
    return unknown ? withUnknownVariable(result.template) : result.template;
  });

/** A later release may have injected this before a rollback. */
function withUnknownVariable(template: PodTemplate): PodTemplate {
  const { skipped } = getOriginalState(template) ?? {};
  const later = ['LUMIGO_LATER', 'OTEL_LATER'].map((name) => ({ name, value: '1' }));
  const containers = template.spec.containers.map((each) =>
    skipped?.includes(each.name) === true ? each : { ...each, env: [...(each.env ?? []), ...later] },
  );
  const written = { ...template, spec: { ...template.spec, containers } };
  return withRecord(written, (record) => ({ ...record, format: 9, variables: later.map(({ name }) => name) }));
}

const user: readonly Step[] = [
  setting('LD_PRELOAD', '/x.so:/opt/lumigo/injector/lumigo_injector.so /y.so'),
  setting('LD_PRELOAD', '/only.so'),
  setting('LUMIGO_ENDPOINT', 'http://"quoted" \\ \n\t\u001b é'),
  setting('LUMIGO_ENABLE_LOGS', 'true'),
  setting('OTHER', 'value'),
  setting('OTEL_SERVICE_NAME', 'shop "quoted"'),
  inContainers('unset all', ({ env: _env, ...rest }) => rest),
  inContainers('mount at our path', ({ volumeMounts = [], ...rest }) => ({
    ...rest,
    volumeMounts: [
      ...volumeMounts.filter(({ mountPath }) => !mountPath.includes('/opt/')),
      { name: 'users', mountPath: '/opt/lumigo/', subPath: 'a{"b":1}', readOnly: true },
    ],
  })),
  inSpec('have a volume', ({ volumes = [], ...spec }) => ({
    ...spec,
    volumes: [...volumes.filter(({ name }) => name !== 'users'), { name: 'users', emptyDir: {} }],
  })),
  inAnnotations('forget the record', ({ [annotations.injection]: _record, ...others }) => others),
  inAnnotations('evict safely', (own) => ({ ...own, [annotations.safeToEvict]: ` a ,${names.volume}, b` })),
  injectedBy('an older injection', {}),
  injectedBy('an injection elsewhere', { endpoint: 'http://elsewhere', imagePullSecrets: [] }),
  injectedBy('a later injection', {}, true),
  { name: 'the original', by: 'user', change: (made) => instrumentedByOriginal(made, { endpoint: 'http://v69' }) },
];

export const steps = fc.array(
  fc.oneof({ weight: 2, arbitrary: fc.constantFrom(...operator) }, { weight: 1, arbitrary: fc.constantFrom(...user) }),
  { minLength: 4, maxLength: 10 },
);
