import { suffixes } from '../contract.ts';
import type { Problem } from '../api/lumigo.ts';
import type { Client } from '../kubernetes/http/client.ts';

const admission = { group: 'admissionregistration.k8s.io', version: 'v1' } as const;
const plurals = ['mutatingadmissionpolicies', 'mutatingadmissionpolicybindings'] as const;

/** Looks if the API server has the policy that injects new pods. Rejects if it does not answer. */
export async function checkPodPolicy(client: Client, operatorName: string): Promise<Problem | 'working'> {
  const name = `${operatorName}${suffixes.podPolicy}`;
  const found = await Promise.all(
    plurals.map((plural) => client.find({ ...admission, plural, name }, { metadataOnly: true })),
  );
  if (!found.includes(undefined)) return 'working';
  return {
    reason: 'PodPolicyMissing',
    message: `The MutatingAdmissionPolicy '${name}' or its binding does not exist, so new pods run without the injection. Apply the operator's manifests again`,
  };
}
