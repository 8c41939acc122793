import { core } from '@pulumi/kubernetes';
import { secret, type CustomResourceOptions, type Input } from '@pulumi/pulumi';
import { isToken, tokenShape } from '../../runtime/wording/token.ts';
import type { Manifest } from '../constructs/manifest.ts';
import { refusal } from './refusal.ts';

/** Replaces the token in the manifests, because the token is known later. */
export const tokenPlaceholder = `t_${'0'.repeat(21)}`;

/** Registers the Secret of the manifests as a separate resource. */
export const registerTokens = (
  name: string,
  manifests: readonly Manifest[],
  token: Input<string>,
  options: CustomResourceOptions,
): core.v1.Secret[] =>
  manifests
    .filter(({ kind }) => kind === 'Secret')
    .map(({ metadata, stringData }) => {
      const [key = ''] = Object.keys(stringData as Readonly<Record<string, string>>);
      return registerToken(name, { metadata, key }, token, options);
    });

interface TokenPlace {
  readonly metadata: Manifest['metadata'];
  readonly key: string;
}

/** Registers a Secret whose content is secret in state and output. Another token replaces it, so it inherits no `protect`. */
export const registerToken = (
  name: string,
  { metadata, key }: TokenPlace,
  token: Input<string>,
  options: CustomResourceOptions,
): core.v1.Secret =>
  new core.v1.Secret(
    `${name}-token`,
    { metadata: { ...metadata }, stringData: { [key]: secret(token).apply(checkToken) } },
    { ...options, protect: false },
  );

/** @throws RunError, which does not show the value */
export function checkToken(value: string): string {
  if (!isToken(value))
    throw refusal(
      `lumigoToken is no Lumigo token, which is ${tokenShape}; set yours with 'pulumi config set --secret lumigoToken'`,
    );
  return value;
}
