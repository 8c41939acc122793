import { annotations, injector } from '../contract.ts';
import { choiceIn, getNamedInits, whyNotChosen } from './chosen-containers.ts';
import { inject } from './inject.ts';
import { copiesFiles } from './init-container.ts';
import { includes } from './joined-list.ts';
import { labelValue, ourLabel } from './label.ts';
import { covers, equal } from '../json/values.ts';
import { type OriginalState, getFormat, getOriginalState, writtenVariables } from './original-state.ts';
import { whyTraced } from './other-tracers.ts';
import { isOurMountPath } from './refusal.ts';
import { isInjected } from './remove.ts';
import type { Container, PodTemplate } from '../api/objects.ts';
import type { ContainerChoice, InjectionSettings, InjectorSettings, TracingSettings } from './types.ts';
import { currentFormat, findVariable, variables, type InjectedVariable, type InjectedSettings } from './variables.ts';

export function hasSettings(template: PodTemplate, { env = {}, ...flags }: TracingSettings): boolean {
  const recorded = injectedSettings(template);
  // The record lacks an empty list.
  return covers(recorded, flags) && equal(recorded?.env ?? {}, env);
}

/** Returns the settings from the record, or from the variables of the original operator, which left no record. */
export const injectedSettings = (template: PodTemplate): (TracingSettings & Partial<InjectedSettings>) | undefined =>
  getOriginalState(template) ?? (isInjected(template) ? readVariables(template.spec.containers) : undefined);

function readVariables(containers: readonly Container[]): (TracingSettings & Partial<InjectedSettings>) | undefined {
  const found = containers.map(({ env }) => {
    const read = variables.map((row) => ('read' in row ? row.read?.(findVariable(env, row.name)) : undefined));
    return Object.assign({}, ...read) as TracingSettings & Partial<InjectedSettings>;
  });
  return found.find((settings) => 'secretName' in settings);
}

/**
 * Returns whether an injection has everything that its version wrote with its settings, or more. An injection of the
 * original operator counts as whole.
 */
export function isIntact(template: PodTemplate, current: InjectorSettings & Pick<InjectionSettings, 'choice'>) {
  if (!isInjected(template) || ourLabel(template.metadata) === undefined) return false;
  const originalState = getOriginalState(template);
  if (originalState === undefined) return true;
  // The settings of the record decide about sidecars and other tracers, and annotations take effect at once.
  const excluded = new Set(originalState.excluded);
  const asked = choiceIn(template.metadata, current.choice);
  const isLeftAlone = (each: Container): boolean =>
    current.sidecars?.includes(each.name) === true || whyTraced(each, template.metadata, asked, current) !== undefined;
  const sidecars = [
    ...(originalState.skipped?.filter((name) => !excluded.has(name)) ?? []),
    ...template.spec.containers.filter((each) => excluded.has(each.name) && isLeftAlone(each)).map(({ name }) => name),
  ];
  // A tenant can forge any other field in the record, such as those of `InjectorSettings`.
  const { endpoint, secretName, secretKey, traces, logs, env = {} } = originalState;
  const recorded = { ...current, endpoint, secretName, secretKey, traces, logs, env };
  const again = inject(template, { ...recorded, sidecars, otherTracers: 'Inject' }, getFormat(originalState));
  if (again.refused !== undefined || !hasInjector(template)) return false;
  if (isExcludedNow(template, asked, originalState)) return false;
  const rows = [...writtenVariables(originalState).values()].filter((row) => row !== undefined);
  const there = getContainers(template);
  return [...getContainers(again.template)].every(([name, wanted]) => isWhole(there.get(name), wanted, rows));
}

const getContainers = ({ spec }: PodTemplate): ReadonlyMap<string, Container> =>
  new Map(
    [...spec.containers, ...(spec.initContainers ?? [])]
      .filter(({ name }) => name !== injector.container)
      .map((each) => [each.name, each]),
  );

function isExcludedNow({ spec }: PodTemplate, asked: ContainerChoice, originalState: OriginalState): boolean {
  const skipped = new Set(originalState.skipped);
  const inits = new Set(originalState.initContainers);
  for (const { name } of getNamedInits(spec, asked)) inits.delete(name);
  return (
    spec.containers.some(({ name }) => !skipped.has(name) && whyNotChosen(name, asked) !== undefined) ||
    spec.initContainers?.some(({ name }) => inits.has(name)) === true
  );
}

const hasInjector = (template: PodTemplate): boolean =>
  copiesFiles(template) &&
  template.spec.volumes?.some(({ name }) => name === injector.volume) === true &&
  includes(template.metadata?.annotations?.[annotations.safeToEvict], injector.volume);

function isWhole(actual: Container | undefined, wanted: Container, rows: readonly InjectedVariable[]): boolean {
  const mount = wanted.volumeMounts?.find(({ name }) => name === injector.volume);
  if (mount === undefined) return true;
  const hasVariables = rows.every((row) => {
    const there = findVariable(actual?.env, row.name);
    return 'joined' in row ? includes(there?.value, row.joined) : equal(there, findVariable(wanted.env, row.name));
  });
  const mounts = actual?.volumeMounts?.filter(isOurMountPath) ?? [];
  return hasVariables && mounts.length === 1 && mounts.every((each) => covers(each, mount));
}

export function isCurrent(template: PodTemplate, settings: InjectorSettings): boolean {
  const originalState = getOriginalState(template);
  return (
    ourLabel(template.metadata) === labelValue(settings.version) &&
    getFormat(originalState) === currentFormat &&
    originalState?.image === settings.image &&
    originalState?.endpoint === settings.endpoint
  );
}
