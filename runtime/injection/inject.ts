import { annotations, injector, labels } from '../contract.ts';
import { choiceIn, getNamedInits, whyNotChosen } from './chosen-containers.ts';
import { fingerprint } from './fingerprint.ts';
import { copiesFiles, findInjector, initContainer, injectorMount, injectorVolume } from './init-container.ts';
import { join } from './joined-list.ts';
import { labelValue } from './label.ts';
import { covers, equal, withoutEmpty } from '../json/values.ts';
import { formatOriginalState, getOriginalState, type Kept } from './original-state.ts';
import { whyTraced } from './other-tracers.ts';
import { isOurMountPath, getReasons, reasonsToLeaveAlone, reasonToRefuse } from './refusal.ts';
import { remove } from './remove.ts';
import type { Container, EnvVar, PodSpec, PodTemplate } from '../api/objects.ts';
import type { InjectionSettings } from './types.ts';
import { currentFormat, getTracerRows, getVariables, writtenVariable, type InjectedVariable } from './variables.ts';

type Injection =
  | { readonly template: PodTemplate; readonly skipped: readonly string[]; readonly refused?: undefined }
  | { readonly refused: string; readonly isUnwanted: boolean };

/**
 * Adds the injector to a pod template, or says why it cannot be added. It removes an earlier injection first.
 * `format`: intact.ts passes an older one to compute an earlier injection.
 * Laws: remove(inject(t)) = t, apart from empty lists and maps; inject(inject(t, a), b) = inject(t, b).
 */
export function inject(template: PodTemplate, settings: InjectionSettings, format = currentFormat): Injection {
  const clean = remove(template);
  const { metadata = {}, spec } = clean;
  const choice = choiceIn(metadata, settings.choice);
  const namedInits = getNamedInits(spec, choice);
  const candidates = [...spec.containers, ...namedInits];
  const sidecars = new Set(settings.sidecars);
  // A user who excluded a container needs no event about it. A name that no container has may be an error.
  const unchosen = getReasons(spec, ({ name }) => whyNotChosen(name, choice, sidecars));
  const chosen = { ...spec, containers: candidates.filter((each) => !unchosen.has(each)) };
  const problems = new Map([
    ...getReasons(chosen, (each) => whyTraced(each, metadata, choice, settings)),
    ...reasonsToLeaveAlone(chosen),
  ]);
  const reasons = new Map([...unchosen, ...problems]);
  const refused = reasonToRefuse(spec, reasons, candidates);
  const isLeftOut = (each: Container) => (choice.include ? choice.exclude?.has(each.name) : unchosen.has(each));
  if (refused !== undefined) return { refused, isUnwanted: candidates.every(isLeftOut) };
  const injectable = new Set(candidates.filter((each) => !reasons.has(each)));
  const { kept, containers, initContainers } = injectContainers(spec, injectable, settings, format);
  const { imagePullSecrets: own = [], volumes = [] } = spec;
  const pullSecrets = [...new Set(settings.imagePullSecrets)].filter((each) => !own.some(({ name }) => name === each));
  const safeToEvict = metadata.annotations?.[annotations.safeToEvict];
  const inits = namedInits.filter((each) => injectable.has(each)).map(({ name }) => name);
  const wanted = initContainer(settings, spec);
  const copier = withOthersChanges(template, wanted);
  const record = formatOriginalState(settings, format, {
    pullSecrets,
    kept,
    label: metadata.labels?.[labels.autoTrace],
    safeToEvict,
    skipped: [...reasons.keys()].map(({ name }) => name),
    excluded: spec.containers.map(({ name }) => name).filter((name) => whyNotChosen(name, choice) !== undefined),
    initContainers: inits,
    image: settings.image,
    injector: fingerprint(wanted),
    emptyMetadata: equal(clean.metadata, {}) ? true : undefined,
  });
  const withAdditions = {
    ...spec,
    containers,
    // An injected init container needs the injector's files.
    initContainers: inits.length > 0 ? [copier, ...initContainers] : [...initContainers, copier],
    volumes: [...volumes, injectorVolume],
    imagePullSecrets: [...own, ...pullSecrets.map((name) => ({ name }))],
  };
  const injected = {
    ...clean,
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, [labels.autoTrace]: labelValue(settings.version) },
      annotations: {
        ...metadata.annotations,
        [annotations.injection]: record,
        [annotations.safeToEvict]: join(safeToEvict, injector.volume, ','),
      },
    },
    spec: withoutEmpty(withAdditions, ['imagePullSecrets']),
  };
  return { template: injected, skipped: [...problems.values()] };
}

function injectContainers(spec: PodSpec, targets: ReadonlySet<Container>, settings: InjectionSettings, format: number) {
  const rows = [...getVariables(format), ...getTracerRows(settings)];
  const kept = new Map<string, Kept>();
  const injectOne = (container: Container): Container => {
    if (!targets.has(container)) return container;
    const injected = injectContainer(container, settings, rows);
    if (Object.keys(injected.kept).length > 0) kept.set(container.name, injected.kept);
    return injected.container;
  };
  const containers = spec.containers.map(injectOne);
  const initContainers = spec.initContainers?.map(injectOne) ?? [];
  // A container may have the name `__proto__`, which cannot be assigned.
  return { kept: Object.fromEntries(kept), containers, initContainers };
}

/** Keeps what other webhooks changed, such as the registry, while the operator would write the same container again. */
function withOthersChanges(template: PodTemplate, own: Container): Container {
  const there = findInjector(template.spec);
  const isSame = getOriginalState(template)?.injector === fingerprint(own);
  return isSame && there !== undefined && copiesFiles(template) ? there : own;
}

function injectContainer(container: Container, settings: InjectionSettings, rows: readonly InjectedVariable[]) {
  const keptEnv: EnvVar[] = [];
  const env = [...(container.env ?? [])];
  for (const row of rows) {
    // Kubernetes uses the last variable with a name.
    const index = env.findLastIndex(({ name }) => name === row.name);
    const own = env[index];
    const variable = writtenVariable(row, settings, container.name, own);
    if (row.yields === true && own !== undefined && !covers(own, variable)) continue;
    if (own === undefined) env.push(variable);
    else {
      env[index] = variable;
      keptEnv.push(equal(own, variable) ? variable : own);
    }
  }
  const { volumeMounts: mounts = [] } = container;
  const at = mounts.findIndex(isOurMountPath);
  const volumeMounts = at < 0 ? [...mounts, injectorMount] : mounts.with(at, injectorMount);
  const kept: Kept = withoutEmpty({ env: keptEnv, mount: mounts[at] }, ['env', 'mount']);
  return { container: { ...container, env, volumeMounts }, kept };
}
