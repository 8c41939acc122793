import { z } from 'zod';
import { optInDefaults } from '../../runtime/contract.ts';
import { isToken, tokenOrEmpty, tokenShape } from '../../runtime/wording/token.ts';
import { dnsLabel, dnsSubdomain, fields, flag, labelSelector, secret, secretKey, section, text } from './leaves.ts';

const sends = (what: string) =>
  flag()
    .optional()
    .describe(
      `Sends ${what} of its workloads to Lumigo. Default: true, unless an existing \`Lumigo\` resource says otherwise.`,
    );

const monitoredNamespace = fields({
  namespace: dnsLabel().optional().describe('The namespace to trace. Set this or `selector`.'),
  selector: labelSelector()
    .optional()
    .describe('A label selector of namespaces to trace, also of those that are created or labelled later. `{}`: all.'),
  secretName: dnsSubdomain()
    .optional()
    .describe('The Secret with the Lumigo token in that namespace. Default: `lumigoToken.secretName`.'),
  secretKey: secretKey().optional().describe('The key of the token in the Secret. Default: `lumigoToken.secretKey`.'),
  tracingEnabled: sends('traces'),
  loggingEnabled: sends('logs'),
});

export const monitoredNamespaces = z
  .array(monitoredNamespace, { error: 'must be a list, or all' })
  .default([])
  .describe(
    'Namespaces to trace, or `all`. The operator creates a `Lumigo` resource in each, and a Secret once the token is in the ' +
      "operator's namespace (`lumigoToken`). It adopts an existing `Lumigo`, and creates its missing Secret if the entry names " +
      'the same one. It changes no existing Secret. A namespace that leaves the list keeps both. Each namespace gets them ' +
      'once, unless you rename or move the installation: a `Lumigo` that you delete stays deleted. ' +
      'A flag that you change here is applied once to an existing `Lumigo` with the name `lumigo`.',
  );

/** The long form of `all`. */
export const allNamespaces = [{ selector: {} }];

const tokenRule = (input: unknown): string =>
  isToken(String(input).trim())
    ? 'must be a Lumigo token without white space around it (often a line break at the end)'
    : `must be a Lumigo token (${tokenShape}), or empty`;

/** The section as a whole is secret, because users may paste a token into the wrong setting of it. */
export const lumigoToken = secret(
  section({
    secretName: dnsSubdomain()
      .default(optInDefaults.tokenSecret)
      .describe(
        "The name of the Secret with the Lumigo token, in the operator's namespace and in each monitored namespace.",
      ),
    secretKey: secretKey().default(optInDefaults.tokenKey).describe('The key of the token in the Secret.'),
    value: text()
      .regex(tokenOrEmpty, { error: ({ input }) => tokenRule(input) })
      .default('')
      .describe(
        "The Lumigo token, for the Secret in the operator's namespace. Empty: you create the Secret in another way. It is refused with " +
          'plain YAML, which usually goes into git. Helm keeps it in the Secret of the release. Pulumi encrypts it if you set it with `--secret`.',
      ),
  }),
);
