import type { NamespacePolicy, TracingSettings } from '../../runtime/injection/types.ts';

const ofLumigo = { lumigo: 'lumigo', createdAt: '2026-01-01T00:00:00Z', injectExisting: true } as const;

/** What holds in a namespace whose Lumigo is active. */
export const activePolicy = (tracing: TracingSettings) =>
  ({ ...ofLumigo, state: 'active', tracing, remove: true }) as const satisfies NamespacePolicy;

/** What holds in a namespace whose active Lumigo is in Pod mode. */
export const podsPolicy = (tracing: TracingSettings) =>
  ({ ...ofLumigo, state: 'pods', tracing }) as const satisfies NamespacePolicy;
