import { currentFormat, getVariables, type InjectedSettings } from '../../runtime/injection/variables.ts';
import { tracerSettings } from '../../runtime/injection/tracer-settings.ts';
import { all, any, fieldOr, sameItemsBut, text, texts, type Cel } from '../constructs/cel.ts';
import { isVariable, STRING } from './record-rules.ts';
import { anything, hasShape, type Shape } from './shape.ts';

const rows = getVariables(currentFormat);
const names = rows.map(({ name }) => name);
/** Lists, to which users may add entries. */
export const joinedVariables = rows.filter((row) => 'joined' in row);
const others = rows.flatMap((row) => ('joined' in row ? [] : [row]));

const CONTAINER = '{container}';
const ENDPOINT = '{endpoint}';
const ANY = '{any}';
const recorded: InjectedSettings = { endpoint: ENDPOINT, secretName: ANY, secretKey: ANY, traces: true, logs: true };

export const injectedNames: Cel = `${texts(names)} + variables.originalStateVariablesBefore`;

const isSettingName = (variable: Cel): Cel => `${variable}.name.matches(${text(tracerSettings.name)})`;

/** A workload does not show the settings of its namespace, so any name that they may have counts. */
export const isInjected = (variable: Cel): Cel =>
  `(${variable}.name in variables.injectedNames || ${isSettingName(variable)})`;

const reference = { name: anything, key: anything, optional: true };
const settingForms: readonly Shape[] = [
  { name: anything, value: anything },
  { name: anything, valueFrom: { secretKeyRef: reference } },
  { name: anything, valueFrom: { configMapKeyRef: reference } },
];

const isSetting = (variable: Cel): Cel =>
  all(
    `!(${variable}.name in ${texts(names)})`,
    isSettingName(variable),
    '!(request.namespace in variables.excludedNamespaces)',
    any(...settingForms.map((form) => hasShape(variable, form))),
  );

export const getEnvironment = (container: Cel): Cel => fieldOr(container, 'env', '[]');

/** Returns the forms of a variable that the injection writes. */
function getWritten(row: (typeof others)[number]): readonly Shape[] {
  const flags = [true, false];
  const written = flags.flatMap((traces) => flags.map((logs) => row.write({ ...recorded, traces, logs }, CONTAINER)));
  const forms = new Map(written.map((form) => [JSON.stringify(form), form]));
  return [...forms.values()].map((form) => toShape({ name: row.name, ...form }));
}

/** Patterns of the written references, as JSON. A removal may restore them, because it grants no more than the injection. */
export const writtenReferences: readonly string[] = others.flatMap((row) => {
  const form = row.write(recorded, CONTAINER);
  if (form.valueFrom === undefined) return [];
  const json = JSON.stringify({ name: row.name, ...form }).replace(/[{}.[\]]/g, String.raw`\$&`);
  return [`^${json.replaceAll(String.raw`"\{any\}"`, STRING)}$`];
});

function toShape(value: unknown): Shape {
  if (value === ANY) return anything;
  if (value === CONTAINER) return (path) => `${path} == container.name`;
  if (typeof value === 'string' && value.startsWith(ENDPOINT))
    return (path) => `${path} == variables.endpoint + ${text(value.slice(ENDPOINT.length))}`;
  if (typeof value !== 'object' || value === null) return value as Shape;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, toShape(child)]));
}

/** An entry of a list, by the separators of runtime/injection/joined-list.ts. */
const ENTRY = String.raw`[^:,\s\x0b\pZ\x{feff}]+`;

export const otherEntries = (list: Cel, ours: string): Cel =>
  `${list}.findAll(${text(ENTRY)}).filter(entry, entry != ${text(ours)})`;

const env = getEnvironment('container');
const former = getEnvironment('before');

function sameEntries(name: string, ours: string): Cel {
  const entries = (list: Cel): Cel =>
    `${list}.filter(variable, variable.name == ${text(name)} && has(variable.value)).map(variable, ${otherEntries('variable.value', ours)}).filter(entries, entries.size() > 0)`;
  const references = (list: Cel): Cel =>
    `${list}.filter(variable, variable.name == ${text(name)} && has(variable.valueFrom))`;
  return all(`${entries(env)} == ${entries(former)}`, `${references(env)} == ${references(former)}`);
}

/** The condition that only injected variables of a `container` and its `before` differ, and that each has an allowed value. */
export const sameEnvironment: Cel = all(
  sameItemsBut(env, former, isInjected),
  `${env}.filter(variable, ${isInjected('variable')} && !(variable.name in ${texts(joinedVariables.map(({ name }) => name))})).all(variable, ${any(
    `variable in ${former}`,
    isSetting('variable'),
    ...others.flatMap(getWritten).map((form) => hasShape('variable', form)),
    `variables.replacedBefore.exists(json, ${isVariable('json', 'variable')})`,
  )})`,
  ...joinedVariables.map(({ name, joined: entry }) => sameEntries(name, entry)),
);
