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
