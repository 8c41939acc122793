import { z } from 'zod';
import { optInDefaults } from '../../runtime/contract.ts';
import { isToken, tokenOrEmpty, tokenShape } from '../../runtime/wording/token.ts';
import { dnsLabel, dnsSubdomain, fields, flag, opaqueMap, secret, secretKey, section, text } from './leaves.ts';

/** Namespaces that are traced from the start, or as soon as they are there, and the token for them. */
const monitoredNamespace = fields({
  namespace: dnsLabel().optional().describe('The namespace to trace. Either this or `selector`.'),
  selector: opaqueMap()
    .optional()
    .describe(
      'The labels of namespaces to trace, as Kubernetes selects (`matchLabels`, `matchExpressions`); they may come, or get them, later.',
    ),
  secretName: dnsSubdomain()
    .optional()
    .describe("The Secret in that namespace with Lumigo's token, instead of `lumigoToken.secretName`."),
  secretKey: secretKey().optional().describe('The key of the token in the Secret, instead of `lumigoToken.secretKey`.'),
  tracingEnabled: flag()
    .optional()
    .describe('Whether its programs send traces. Left out: they do, unless a Lumigo there says otherwise.'),
  loggingEnabled: flag()
    .optional()
    .describe('Whether its programs send logs. Left out: they do, unless a Lumigo there says otherwise.'),
});

export const monitoredNamespaces = z
  .array(monitoredNamespace, { error: 'must be a list, or all' })
  .default([])
  .describe(
    'Namespaces to trace, or `all`: where one has no Lumigo yet it gets one, with a Secret if the token stands in the ' +
      "operator's namespace (`lumigoToken`). An existing Lumigo is adopted, an existing Secret is not changed, and a namespace that leaves the list keeps both. " +
      'Each namespace gets them once: a Lumigo that you delete stays deleted. A flag that you change here is applied once to an existing Lumigo.',
  );

/** What `all` is short for. */
export const allNamespaces = [{ selector: {} }];

const tokenRule = (input: unknown): string =>
  isToken(String(input).trim())
    ? 'must be a Lumigo token without white space around it (often a line break at the end)'
    : `must be a Lumigo token (${tokenShape}), or empty`;

/** As a whole, because a token may be pasted into the wrong one of its settings. */
export const lumigoToken = secret(
  section({
    secretName: dnsSubdomain()
      .default(optInDefaults.tokenSecret)
      .describe("The Secret with Lumigo's token, in the operator's namespace and in each of the monitored ones."),
    secretKey: secretKey().default(optInDefaults.tokenKey).describe('The key of the token in the Secret.'),
    value: text()
      .regex(tokenOrEmpty, { error: ({ input }) => tokenRule(input) })
      .default('')
      .describe(
        "The token, for that Secret in the operator's namespace; empty: it comes another way. Not with plain " +
          'YAML, which goes into git. Helm keeps the values of a release in a Secret; Pulumi encrypts what was set with `--secret`.',
      ),
  }),
);
