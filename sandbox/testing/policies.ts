import type { NamespacePolicy, TracingSettings } from '../../runtime/injection/types.ts';

/** What holds in a namespace whose Lumigo is active. */
export const activePolicy = (tracing: TracingSettings) =>
  ({
    state: 'active',
    lumigo: 'lumigo',
    tracing,
    createdAt: '2026-01-01T00:00:00Z',
    injectExisting: true,
    remove: true,
  }) as const satisfies NamespacePolicy;

/** What holds in a namespace whose active Lumigo is in Pod mode. */
export const podsPolicy = (tracing: TracingSettings) =>
  ({
    state: 'pods',
    lumigo: 'lumigo',
    tracing,
    createdAt: '2026-01-01T00:00:00Z',
    injectExisting: true,
  }) as const satisfies NamespacePolicy;
