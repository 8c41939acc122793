import { validRange } from 'semver';
import { z } from 'zod';

/** The forms of a single setting. Each message completes the sentence "<path> must …". */

const word = () => z.string({ error: 'must be a text' });

export const dnsLabel = () =>
  word()
    .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/, 'must consist of lower-case letters, digits and - (not at either end)')
    .max(63, 'must be at most 63 characters long');

/** A name that a Service's name can begin with, which is stricter than other names. */
export const serviceName = (maxLength: number) =>
  word()
    .regex(
      /^[a-z]([-a-z0-9]*[a-z0-9])?$/,
      'must consist of lower-case letters, digits and -, begin with a letter and not end with -',
    )
    .max(maxLength, `must be at most ${maxLength} characters long`);

export const dnsSubdomain = () =>
  word()
    .regex(
      /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
      'must consist of lower-case letters, digits, - and . (each part between dots starting and ending with a letter or digit)',
    )
    .max(253, 'must be at most 253 characters long');

/** Accepts the form, or an empty text, which means the default. */
export const orEmpty = <T extends z.ZodType>(form: T, error: string) =>
  z.union([z.literal(''), form], { error }).default('');

export const secretKey = () =>
  word().regex(/^[-._a-zA-Z0-9]{1,253}$/, 'must consist of letters, digits, -, _ and ., as keys of Secrets do');

export const labelKey = () =>
  word().regex(
    /^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/)?[a-zA-Z0-9]([-_.a-zA-Z0-9]{0,61}[a-zA-Z0-9])?$/,
    'must be the key of a label, such as team or example.com/team',
  );

export const text = () => z.string({ error: 'must be a text (in YAML: put it in quotes)' });

export const flag = () => z.boolean({ error: 'must be true or false, without quotes' });

export const wholeNumber = (min: number, max: number) => {
  const error = `must be a whole number from ${min} to ${max}, without quotes`;
  return z.int({ error }).min(min, error).max(max, error);
};

export const oneOf = <const T extends readonly [string, ...string[]]>(...values: T) =>
  z.enum(values, { error: `must be one of ${values.join(', ')}` });

export const httpUrl = () =>
  text().regex(/^https?:\/\/[^/\s]+(\/\S*[^/\s])?$/, 'must be an http:// or https:// URL without a slash at its end');

/** A URL of programs, or empty. TLS prevents a replacement on the way. */
export const httpsUrl = () =>
  text().regex(
    /^(https:\/\/[^/\s]+(\/\S*[^/\s])?)?$/,
    'must be an https:// URL without a slash at its end (http:// would let an attacker in the network replace what is installed)',
  );

/** A chart repository: an index by https://, or a folder of a registry by oci://, which uses TLS as well. */
export const chartRepository = () =>
  text().regex(
    /^((https|oci):\/\/[^/\s@]+(\/\S*[^/\s])?)?$/,
    'must be an https:// or oci:// URL without a slash at its end, and without a user or password, which logs would show (http:// lets an attacker replace the chart)',
  );

export const imageRepository = () =>
  text().regex(
    /^[a-z0-9]([-._a-z0-9]*[a-z0-9])?(:[0-9]+)?(\/[a-z0-9]([-._a-z0-9]*[a-z0-9])?)*$/,
    'must be an image repository without tag or digest, such as registry.example.com/team/image',
  );

export const imagePrefix = () =>
  text().regex(
    /^([a-z0-9]([-._a-z0-9]*[a-z0-9])?(:[0-9]+)?\/([a-z0-9]([-._a-z0-9]*[a-z0-9])?\/)*)?$/,
    'must be a registry, or a folder in one, with a slash at its end, such as registry.example.com/mirror/, or empty',
  );

export const quantity = () =>
  text().regex(/^[1-9][0-9]*(\.[0-9]+)?(k|Ki|[MGT]i?)?$/, 'must be a quantity, such as 512Mi or 2Gi');

/** Space for the largest request of a node's collector. JSON Schema cannot compare quantities, so this is a form. */
export const largeQuantity = () =>
  text().regex(/^((6[4-9]|[7-9]\d|[1-9]\d\d+)Mi?|[1-9]\d*(\.\d+)?[GT]i?)$/, 'must be at least 64M, such as 256Mi');

/** A pattern of one part of a path: a `/` or `_` would reach into the next part. */
export const namePattern = () =>
  word().regex(/^[-.a-z0-9*?]+$/, 'must consist of lower-case letters, digits, -, ., * and ?');

/** A regular expression that is valid whatever its parts are, because brackets are not allowed. */
export const metricPattern = () =>
  word().regex(
    /^[a-zA-Z_:]([a-zA-Z0-9_:.][*+]?)*$/,
    'must be the name of a metric, in which . stands for any character, and * and + repeat the character before them',
  );

export const duration = () =>
  text().regex(/^[1-9][0-9]{0,4}[sm]$/, 'must be a number of seconds or minutes, such as 15s or 1m');

export const hostAndPort = () =>
  text().regex(
    /^[a-z0-9]([-.a-z0-9]*[a-z0-9])?:[1-9][0-9]{0,4}$/,
    'must be a host and a port, such as metrics.monitoring.svc:8080',
  );

export const absolutePath = () =>
  text().regex(/^(\/[-._a-zA-Z0-9]+)+$/, 'must be an absolute path without a slash at its end');

export const schedule = () =>
  text().regex(
    /^(@(yearly|annually|monthly|weekly|daily|midnight|hourly)|[-0-9*/,]+ [-0-9*/,]+ [-0-9*/,?]+ [-0-9A-Za-z*/,]+ [-0-9A-Za-z*/,?]+)$/,
    'must be a schedule in cron format, such as "17 3 * * *"',
  );

export const versionRange = () =>
  text().refine((range) => range === '' || validRange(range) !== null, {
    error: 'must be a range of semantic versions, such as ^1.2.0 or ">=1.2 <3", or empty',
  });

export const fields = <T extends z.core.$ZodLooseShape>(shape: T) =>
  z.strictObject(shape, {
    error: (issue) => (issue.code === 'invalid_type' ? `must be a map of ${Object.keys(shape).join(', ')}` : undefined),
  });

/** A group of settings. If it is left out, each has its default. */
export const section = <T extends z.core.$ZodLooseShape>(shape: T) => fields(shape).prefault({} as never);

/** Marks a setting or section whose values no message shows. JSON Schema has the same word for it. */
export const secret = <T extends z.ZodType>(schema: T): T => schema.meta({ ...schema.meta(), writeOnly: true });

/** The image of a container. A digest wins over the tag. */
export const image = (
  defaults: { readonly repository: string; readonly tag: string; readonly digest?: string },
  of: string,
) =>
  section({
    repository: imageRepository().default(defaults.repository).describe(`The image repository of ${of}.`),
    tag: text()
      .regex(/^[A-Za-z0-9_][-.A-Za-z0-9_]{0,127}$/, 'must be an image tag (letters, digits, -, _ and .)')
      .default(defaults.tag)
      .describe(`The image tag of ${of}.`),
    digest: text()
      .regex(/^(sha256:[0-9a-f]{64})?$/, 'must be sha256: and 64 hexadecimal characters, or empty')
      .default(defaults.digest ?? '')
      .describe(`The image digest of ${of}, such as \`sha256:…\`. It overrides the tag.`),
  });

/** A part of a Kubernetes object that is not checked, because a newer API server may accept more. */
export const opaqueMap = () => z.record(z.string(), z.unknown(), { error: 'must be a map' });
export const opaqueList = () => z.array(opaqueMap(), { error: 'must be a list' });

export const stringMap = () => z.record(z.string(), text(), { error: 'must be a map of texts' });

const requirement = z.union(
  [
    fields({ key: labelKey(), operator: oneOf('In', 'NotIn'), values: z.array(text()).min(1) }),
    fields({ key: labelKey(), operator: oneOf('Exists', 'DoesNotExist') }),
  ],
  { error: 'must have a key and an operator: In or NotIn with values, Exists or DoesNotExist without' },
);

/** A selector with an unknown key is refused, because without this key it would select everything. */
export const labelSelector = () =>
  fields({
    matchLabels: stringMap().exactOptional().describe('Labels that it must have, with their values.'),
    matchExpressions: z
      .array(requirement, { error: 'must be a list' })
      .exactOptional()
      .describe('Conditions on its labels: `key`, `operator` (`In`, `NotIn`, `Exists`, `DoesNotExist`) and `values`.'),
  });
