import { apiextensions, core } from '@pulumi/kubernetes';
import {
  ComponentResource,
  type ComponentResourceOptions,
  type CustomResourceOptions,
  type Input,
  type Resource,
} from '@pulumi/pulumi';
import type { LumigoSpec } from '../../runtime/api/lumigo.ts';
import type { Manifest } from '../constructs/manifest.ts';
import { renderTracedNamespace, type TracedNamespaceProps } from '../constructs/traced-namespace.ts';
import { checkToken, registerToken } from './tokens.ts';

export interface TracedNamespaceArgs extends TracedNamespaceProps {
  /**
   * The token, for the Secret of the namespace. It stays secret in state and output.
   * @default - you create the Secret, or `externalToken` does
   */
  readonly lumigoToken?: Input<string>;
}

/**
 * A namespace whose workloads are traced, as one resource. It needs the operator's definition: pass `{ dependsOn: operator }`.
 * @throws RunError if the token has another shape. Pulumi shows it without the token.
 *
 * @example
 * ```ts
 * import { Config } from '@pulumi/pulumi';
 * import { LumigoOperator, TracedNamespace } from 'lumigo-kubernetes-operator/pulumi';
 *
 * const operator = new LumigoOperator('lumigo');
 * const lumigoToken = new Config().requireSecret('lumigoToken');
 * new TracedNamespace('shop', { namespace: 'shop', lumigoToken }, { dependsOn: operator });
 * ```
 */
export class TracedNamespace extends ComponentResource {
  readonly namespace: string;

  constructor(name: string, args: TracedNamespaceArgs, options?: ComponentResourceOptions) {
    const { lumigoToken, ...props } = args;
    if (typeof lumigoToken === 'string') checkToken(lumigoToken);
    super('lumigo:kubernetes:TracedNamespace', name, {}, options);
    this.namespace = props.namespace;
    const registered: Resource[] = [];
    // Pulumi deletes in reverse order, so the namespace is deleted last.
    const after = () => ({ parent: this, dependsOn: [...registered] });
    for (const manifest of renderTracedNamespace(props)) {
      if (manifest.kind === 'Lumigo' && lumigoToken !== undefined)
        registered.push(registerToken(name, getTokenPlace(manifest), lumigoToken, after()));
      registered.push(register(name, manifest, after()));
    }
    this.registerOutputs({ namespace: this.namespace });
  }
}

function getTokenPlace({ metadata, spec }: Manifest) {
  const { name = '', key = '' } = (spec as LumigoSpec).lumigoToken?.secretRef ?? {};
  return { metadata: { name, namespace: metadata.namespace ?? '' }, key };
}

function register(name: string, manifest: Manifest, options: CustomResourceOptions): Resource {
  const { apiVersion, kind, metadata, spec } = manifest;
  const id = `${name}-${kind.toLowerCase()}`;
  return kind === 'Namespace'
    ? new core.v1.Namespace(id, { metadata: { ...metadata } }, options)
    : new apiextensions.CustomResource(id, { apiVersion, kind, metadata: { ...metadata }, spec }, options);
}
