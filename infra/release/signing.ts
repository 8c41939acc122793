import { program } from './program.ts';

/** Without keys, sigstore certifies the workflow's name, and a public log has the signature. A key pair does not use the log. */
export type Signer =
  | { readonly identity: string; readonly issuer: string }
  | { readonly privateKey: string; readonly publicKey: string; readonly password: string };

/** Returns the identity of the running GitHub workflow, as in its certificate. @throws Error outside of such a workflow */
export function workflowSigner(environment: NodeJS.ProcessEnv): Signer {
  const workflow = environment['GITHUB_WORKFLOW_REF'];
  if (workflow === undefined || environment['ACTIONS_ID_TOKEN_REQUEST_URL'] === undefined)
    throw new Error('signing without keys works only in a GitHub workflow with `id-token: write`');
  return { identity: `https://github.com/${workflow}`, issuer: 'https://token.actions.githubusercontent.com' };
}

const signFlags = (signer: Signer): string[] =>
  'identity' in signer ? ['--yes'] : ['--yes', '--tlog-upload=false', '--key', signer.privateKey];

const verifyFlags = (signer: Signer): string[] =>
  'identity' in signer
    ? ['--certificate-identity', signer.identity, '--certificate-oidc-issuer', signer.issuer]
    : ['--insecure-ignore-tlog=true', '--key', signer.publicKey];

function cosign(signer: Signer, ...args: readonly string[]): Promise<string> {
  const environment: Record<string, string> = 'identity' in signer ? {} : { COSIGN_PASSWORD: signer.password };
  return program('cosign', args, { environment });
}

/** Signs a digest in a registry. For an index, it signs each image. */
export const sign = (reference: string, signer: Signer): Promise<string> =>
  cosign(signer, 'sign', '--recursive', ...signFlags(signer), reference);

export const verify = (reference: string, signer: Signer): Promise<string> =>
  cosign(signer, 'verify', ...verifyFlags(signer), reference);

/** The types of attestations by cosign's names: components, and provenance. */
export type Predicate = 'cyclonedx' | 'slsaprovenance1';

export const attest = (reference: string, type: Predicate, file: string, signer: Signer): Promise<string> =>
  cosign(signer, 'attest', '--type', type, '--predicate', file, ...signFlags(signer), reference);

export const verifyAttestation = (reference: string, type: Predicate, signer: Signer): Promise<string> =>
  cosign(signer, 'verify-attestation', '--type', type, ...verifyFlags(signer), reference);

export const signFile = (file: string, bundle: string, signer: Signer): Promise<string> =>
  cosign(signer, 'sign-blob', '--bundle', bundle, ...signFlags(signer), file);

export const verifyFile = (file: string, bundle: string, signer: Signer): Promise<string> =>
  cosign(signer, 'verify-blob', '--bundle', bundle, ...verifyFlags(signer), file);
