import { program } from './program.ts';

/**
 * The signer of a release. Without keys, the workflow signs: sigstore issues a certificate with its name, and a public log keeps
 * the signature. A key pair works without such a workflow, and does not use the log.
 */
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

/** Signs what a registry has under a digest, and with an index every image of it. */
export const sign = (reference: string, signer: Signer): Promise<string> =>
  cosign(signer, 'sign', '--recursive', ...signFlags(signer), reference);

/** Rejects unless this signer signed it. */
export const verify = (reference: string, signer: Signer): Promise<string> =>
  cosign(signer, 'verify', ...verifyFlags(signer), reference);

/** The kinds of attestations, by cosign's names: the components of an artefact, and how it was made. */
export type Predicate = 'cyclonedx' | 'slsaprovenance1';

/** Attests what a file says, signed, beside the artefact. */
export const attest = (reference: string, type: Predicate, file: string, signer: Signer): Promise<string> =>
  cosign(signer, 'attest', '--type', type, '--predicate', file, ...signFlags(signer), reference);

/** Rejects unless this signer attested it. */
export const verifyAttestation = (reference: string, type: Predicate, signer: Signer): Promise<string> =>
  cosign(signer, 'verify-attestation', '--type', type, ...verifyFlags(signer), reference);

/** Signs a file; the signature, with whatever else is needed to verify it, goes into another. */
export const signFile = (file: string, bundle: string, signer: Signer): Promise<string> =>
  cosign(signer, 'sign-blob', '--bundle', bundle, ...signFlags(signer), file);

/** Rejects unless the bundle is of this file and signer. */
export const verifyFile = (file: string, bundle: string, signer: Signer): Promise<string> =>
  cosign(signer, 'verify-blob', '--bundle', bundle, ...verifyFlags(signer), file);
