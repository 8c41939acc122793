import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import type { Client } from '../../runtime/kubernetes/http/client.ts';
import type { Manifest } from '../../runtime/kubernetes/resources/objects.ts';
import { apply } from '../manager/apply.ts';

export const dnsImage = 'sandbox.local/coredns:1';

export async function deployDns(client: Client, address: string): Promise<void> {
  const template = readFileSync(new URL('coredns.yaml', import.meta.url), 'utf8');
  const manifests = parseAllDocuments(template.replace('IMAGE', dnsImage).replace('ADDRESS', address));
  for (const manifest of manifests) await apply(client, manifest.toJS() as Manifest);
}
