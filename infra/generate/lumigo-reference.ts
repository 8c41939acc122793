import { lumigo } from '../../runtime/contract.ts';
import { printerColumns } from '../constructs/lumigo-crd.ts';
import { lumigoSchema } from '../constructs/lumigo-schema.ts';
import { markdownTable } from '../settings/markdown-table.ts';
import type { JsonSchema } from '../settings/tree.ts';
import { code, referencePage } from './page.ts';

export function lumigoReference(): string {
  const { properties: { spec = {}, status = {} } = {} } = lumigoSchema as JsonSchema;
  const { kind, apiVersion, plural, group, shortName } = lumigo;
  return referencePage(
    'The `Lumigo` resource',
    'infra/constructs/lumigo-schema.ts',
    `A \`${kind}\` (${plural}.${group}, short name \`${shortName}\`) activates Lumigo in its namespace. If a namespace has more than one, only the oldest has an effect.`,
    [
      '```yaml',
      `apiVersion: ${apiVersion}`,
      `kind: ${kind}`,
      'metadata: { name: lumigo, namespace: my-namespace }',
      'spec:',
      '  lumigoToken:',
      '    secretRef: { name: lumigo-credentials, key: token }',
      '```',
    ].join('\n'),
    'The API server sets the defaults and refuses values that do not fit. `kubectl explain lumigo.spec --recursive` prints the same fields.',
    '## Spec',
    markdownTable(['Field', 'Type', 'Default', 'Meaning'], getFields(spec, 'spec')),
    '## Status',
    'Only the operator writes the status. [Conditions](conditions.md) has the types and reasons of `status.conditions`.',
    markdownTable(
      ['Field', 'Type', 'Meaning'],
      getFields(status, 'status').map(([field = '', type = '', , meaning = '']) => [field, type, meaning]),
    ),
    '## Columns',
    '`kubectl get lumigo` prints these columns:',
    markdownTable(
      ['Column', 'Meaning'],
      printerColumns.map(({ name, description }) => [name, `${description}.`]),
    ),
  );
}

function getFields({ properties = {}, required = [] }: JsonSchema, path: string): string[][] {
  return Object.entries(properties).flatMap(([key, field]) => {
    const at = `${path}.${key}`;
    const { description = '', items } = field;
    const row = [code(at), getType(field), getDefault(field, required.includes(key)), withoutDefault(description)];
    return [row, ...getFields(field, at), ...(items === undefined ? [] : getFields(items, `${at}[]`))];
  });
}

const getType = ({ type = '', enum: values, items }: JsonSchema): string =>
  values?.map(code).join(', ') ?? (items === undefined ? type : `list of ${items.type}`);

function getDefault({ default: given }: JsonSchema, isRequired: boolean): string {
  if (isRequired) return 'required';
  return given === undefined || typeof given === 'object' ? '' : code(String(given));
}

/** `kubectl explain` shows no defaults, so descriptions end with them. */
const withoutDefault = (text: string): string => text.replace(/ Default: \w+\.$/, '');
