import { covers, equal, isPlainObject, type JsonMap } from '../json/values.ts';
import { getOriginalState, writtenVariables } from './original-state.ts';
import type { Container, EnvVar, PodTemplate, Workload } from '../api/objects.ts';
import { writtenVariable } from './variables.ts';
import { withTemplate } from './workload.ts';

// `kubectl apply` and Helm write the fields of a manifest over those of the injection, and remove none. A variable can
// then have a second source, which the API server refuses.

/** Returns the user's part of a variable; `before` if the user has changed nothing since the injection. */
export function withoutWritten(variable: EnvVar, written: Partial<EnvVar>, before?: EnvVar): EnvVar | undefined {
  // A tenant can forge a wide `before` for many containers of one name, so it is merged only if the variable has all of it.
  if (before !== undefined && covers(variable, before) && equal(variable, merge(written, before))) return before;
  if (!covers(variable, written)) return variable;
  const own = without(variable, written);
  const sources = without(variable.valueFrom, written.valueFrom);
  const whole = Object.keys(sources).length > 0 ? { ...own, valueFrom: sources } : own;
  return 'value' in whole || 'valueFrom' in whole ? (whole as unknown as EnvVar) : before;
}

const merge = (base: unknown, over: unknown): unknown =>
  isPlainObject(base) && isPlainObject(over)
    ? { ...base, ...Object.fromEntries(Object.entries(over).map(([key, value]) => [key, merge(base[key], value)])) }
    : over;

/** An open definition such as Argo's permits `valueFrom: null`. */
const without = (map: object | null | undefined, gone: object = {}): JsonMap =>
  Object.fromEntries(Object.entries(map ?? {}).filter(([key]) => !Object.hasOwn(gone, key)));

/** Removes the second sources, for an injection that stays. */
export function withOneSource(workload: Workload, template: PodTemplate): Workload {
  const originalState = getOriginalState(template);
  if (originalState === undefined) return workload;
  const rows = writtenVariables(originalState);
  const fix = (container: Container): Container => {
    const fixOne = (variable: EnvVar): EnvVar => {
      const row = rows.get(variable.name);
      if (row === undefined) return variable;
      const written = writtenVariable(row, originalState, container.name, variable);
      const own = withoutWritten(variable, written);
      return own === undefined || own === variable ? variable : written;
    };
    return container.env === undefined ? container : { ...container, env: container.env.map(fixOne) };
  };
  const { containers, initContainers } = template.spec;
  const fixed = { containers: containers.map(fix), ...(initContainers && { initContainers: initContainers.map(fix) }) };
  const spec = { ...template.spec, ...fixed };
  return equal(spec, template.spec) ? workload : withTemplate(workload, { ...template, spec });
}
