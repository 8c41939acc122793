import { App } from 'cdk8s';
import type { Delivery } from './constructs/runtime-environment.ts';
import { Operator } from './operator.ts';
import type { Settings } from './settings-schema.ts';

/** A Kubernetes object as JSON. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

/** All objects of an installation, in the order in which to apply them. The same settings always give the same objects. */
export function synthesize(settings: Settings, delivery: Delivery = 'Manifests'): readonly Manifest[] {
  return new Operator(new App(), 'lumigo-operator', settings, delivery).toJson() as Manifest[];
}
