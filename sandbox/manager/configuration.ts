import type { RuntimeConfig } from '../../runtime/config/config.ts';
import { variables } from '../../runtime/config/document.ts';
import type { Container } from '../../runtime/api/objects.ts';

/** The configuration of a manager, without the name of its pod. */
export type SharedConfiguration = Omit<RuntimeConfig, 'podName'>;

export type Changes = Partial<SharedConfiguration>;

export function toConfig({ env = [] }: Pick<Container, 'env'>): SharedConfiguration {
  const document = env.find(({ name }) => name === variables.config)?.value;
  if (document === undefined) throw new Error('the container has no configuration');
  return JSON.parse(document) as SharedConfiguration;
}

export const getEnvironment = (config: object, podName: string) => ({
  [variables.config]: JSON.stringify(config),
  [variables.podName]: podName,
});
