import { App } from 'cdk8s';
import type { Delivery } from './constructs/runtime-environment.ts';
import type { Manifest } from './manifest.ts';
import type { DeliveredCertificate } from './constructs/webhook-certificate.ts';
import { Operator } from './operator.ts';
import type { Settings } from './settings/schema.ts';

export type { Manifest } from './manifest.ts';

/** All objects of an installation, in the order in which to apply them. The same settings always give the same objects. */
export function synthesize(
  settings: Settings,
  delivery: Delivery = 'Manifests',
  certificate?: DeliveredCertificate,
): readonly Manifest[] {
  return new Operator(new App(), 'lumigo-operator', { settings, delivery, certificate }).toJson() as Manifest[];
}
