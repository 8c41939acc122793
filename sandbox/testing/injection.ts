import type {
  InjectionSettings,
  InjectorSettings,
  NamespacePolicy,
  TracingSettings,
} from '../../runtime/injection/types.ts';

/** The injector of an installation. */
export const injector: InjectorSettings = {
  version: '2.0.0',
  image: 'autotrace:2',
  imagePullPolicy: 'IfNotPresent',
  imagePullSecrets: [],
  endpoint: 'http://proxy',
  platform: 'kubernetes',
};

/** The same installation, before it was upgraded. */
export const older: InjectorSettings = { ...injector, version: '1.0.0', image: 'autotrace:1' };

export const tracing: TracingSettings = { secretName: 's', secretKey: 'k', traces: true, logs: false };

/** The injection of the older one for a Lumigo, with a pull secret to be added. */
export const settings: InjectionSettings = { ...older, imagePullSecrets: ['registry'], ...tracing };

const ofLumigo = { lumigo: 'lumigo', createdAt: '2026-01-01T00:00:00Z', injectExisting: true } as const;

/** The policy of a namespace whose Lumigo is active. */
export const activePolicy = (tracing: TracingSettings) =>
  ({ ...ofLumigo, state: 'active', tracing, remove: true }) as const satisfies NamespacePolicy;

/** The policy of a namespace whose active Lumigo is in Pod mode. */
export const podsPolicy = (tracing: TracingSettings) =>
  ({ ...ofLumigo, state: 'pods', tracing }) as const satisfies NamespacePolicy;
