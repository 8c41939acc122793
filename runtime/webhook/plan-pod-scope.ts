import { annotations, paths, webhooks } from '../contract.ts';
import type { Webhook } from '../kubernetes/resources/webhooks.ts';

/**
 * The webhooks that are to stand in the configuration for pods: one for the pods of these namespaces, or none. It is called as the
 * injector's is: where that one is, under its authority, with its patience.
 * @param configured what stands in the injector's configuration
 */
export function planPodScope(configured: readonly Webhook[], namespaces: readonly string[]): readonly Webhook[] {
  const like = configured.find(({ name }) => name === webhooks.injector);
  if (like === undefined || namespaces.length === 0) return [];
  return [
    {
      ...like,
      name: webhooks.pods,
      clientConfig: atPath(like.clientConfig),
      // Whoever made it `Fail` there did not mean every pod of a namespace.
      failurePolicy: 'Ignore',
      rules: [
        { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'], scope: 'Namespaced' },
      ],
      namespaceSelector: {
        matchExpressions: [
          { key: 'kubernetes.io/metadata.name', operator: 'In', values: [...new Set(namespaces)].sort() },
        ],
      },
      matchConditions: [{ name: 'no-mirror', expression: noMirror }],
    },
  ];
}

const noMirror = `!has(object.metadata.annotations) || !('${annotations.mirror}' in object.metadata.annotations)`;

function atPath({ url, service, ...rest }: Webhook['clientConfig']): Webhook['clientConfig'] {
  if (service !== undefined) return { ...rest, service: { ...service, path: paths.pods } };
  return { ...rest, ...(url === undefined ? {} : { url: new URL(paths.pods, url).href }) };
}
