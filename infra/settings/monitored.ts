import { z } from 'zod';
import { optInDefaults } from '../../runtime/contract.ts';
import { tokenOrEmpty, tokenShape } from '../../runtime/credentials/token.ts';
import { dnsLabel, dnsSubdomain, fields, flag, secretKey, section, text } from './leaves.ts';

/** Namespaces that are traced from the start, and the token for them. */
export const monitoredNamespace = fields({
  namespace: dnsLabel().describe('The namespace to trace; it must exist.'),
  secretName: z
    .union([z.literal(''), dnsSubdomain()], { error: 'must be the name of a Secret, or empty' })
    .default('')
    .describe("The Secret in that namespace with Lumigo's token; empty: `lumigoToken.secretName`."),
  secretKey: z
    .union([z.literal(''), secretKey()], { error: 'must be a key of a Secret, or empty' })
    .default('')
    .describe('The key of the token in the Secret; empty: `lumigoToken.secretKey`.'),
  tracingEnabled: flag().default(true).describe('Whether its programs send traces.'),
  loggingEnabled: flag().default(false).describe('Whether its programs send logs.'),
});

export const lumigoToken = section({
  secretName: dnsSubdomain()
    .default(optInDefaults.tokenSecret)
    .describe("The Secret with Lumigo's token, in each of the monitored namespaces."),
  secretKey: secretKey().default(optInDefaults.tokenKey).describe('The key of the token in the Secret.'),
  value: text()
    .regex(tokenOrEmpty, `must be a Lumigo token (${tokenShape}), or empty`)
    .default('')
    .describe(
      'The token, for a Secret in each of the monitored namespaces; empty: these Secrets come another way. Not with plain ' +
        'YAML, which goes into git. Helm keeps the values of a release in a Secret; Pulumi encrypts what was set with `--secret`.',
    ),
});
