import fc from 'fast-check';
import type { TracerSetting } from '../../../runtime/api/lumigo.ts';

/** Names that containers of `container.ts` also set. */
export const settingNames = ['OTEL_SERVICE_NAME', 'OTEL_RESOURCE_ATTRIBUTES', 'LUMIGO_SECRET_MASKING_REGEX'] as const;

/** Containers have some of these values, so that equal values occur. */
export const settingValues = ['shop', '["a\\"b", \'c\']'] as const;

const reference = fc.record({ name: fc.constantFrom('settings', 'other.one'), key: fc.constantFrom('key', '.hidden') });

const content = fc.oneof(
  fc.constantFrom(...settingValues).map((value) => ({ value })),
  reference.map((secretKeyRef) => ({ valueFrom: { secretKeyRef } })),
  reference.map((configMapKeyRef) => ({ valueFrom: { configMapKeyRef } })),
);

/** Valid lists of `spec.tracing.env`. */
export const tracerSettings: fc.Arbitrary<readonly TracerSetting[]> = fc
  .uniqueArray(fc.constantFrom(...settingNames), { maxLength: settingNames.length })
  .chain((names) => fc.tuple(...names.map((name) => content.map((found): TracerSetting => ({ name, ...found })))));
