/** The layers of docs/contributing/adr/0001. The name of a rule is its reason. */
const PURE =
  '^runtime/(contract|access/permissions|(api|json|injection|rollout)/.*|.*/(plan|decide|render|conditions)[^/]*)\\.ts$';
const DUTIES = 'webhook|reconciler|telemetry-proxy|pod-mode|token-checks|monitoring|uninstall|updater|diagnostics';
/** The floors of docs/contributing/architecture.md, from the lowest to the highest. A floor imports from itself and from those below. */
const FLOORS = {
  runtime: [
    'contract',
    'api|json',
    'async|injection|wording',
    'kubernetes',
    'access|certificates|config|credentials|installation|lumigo|node-collector|observability|rollout|serving',
    DUTIES,
    'manager',
    'cli',
    'main',
  ],
  infra: ['settings', 'constructs', 'guard', 'operator', 'helm|olm|pulumi', 'generate|release|main'],
};
const TESTS = '\\.test\\.ts$';

const upwards = Object.entries(FLOORS).flatMap(([top, floors]) =>
  floors.slice(0, -1).map((floor, index) => ({
    name: `${top}-never-imports-from-above: ${floor}`,
    severity: 'error',
    from: { path: `^${top}/(${floor})(/|\\.ts$)`, pathNot: TESTS },
    to: { path: `^${top}/(${floors.slice(index + 1).join('|')})(/|\\.ts$)`, dependencyTypesNot: ['type-only'] },
  })),
);

module.exports = {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'contract-imports-nothing',
      severity: 'error',
      from: { path: '^runtime/contract\\.ts$' },
      to: { path: '.' },
    },
    {
      name: 'core-is-pure',
      severity: 'error',
      from: { path: PURE, pathNot: '\\.test\\.ts$' },
      // A module of Node.js has `node:` here only if it has no other name. Pure functions of these three are hashes, comparisons and `isIP`.
      to: {
        path: '^(?!(crypto|net|util)$)[a-z0-9_/:]+$|node_modules/(?!(@types/)?semver/)|^runtime/kubernetes/',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'duties-are-independent',
      severity: 'error',
      from: { path: `^runtime/(${DUTIES})/`, pathNot: '\\.test\\.ts$' },
      // The reconciler's own plan answers `preview`.
      to: {
        path: `^runtime/(${DUTIES})/`,
        pathNot: '^runtime/$1/|^runtime/reconciler/(plan-workload|workload-store)\\.ts$',
        dependencyTypesNot: ['type-only'],
      },
    },
    ...upwards,
    {
      name: 'one-door-to-the-api',
      severity: 'error',
      from: { path: '^(runtime|infra)/', pathNot: '^runtime/kubernetes/|\\.test\\.ts$' },
      to: { path: 'node_modules/@kubernetes/client-node', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'runtime-never-imports-infra',
      severity: 'error',
      from: { path: '^runtime/', pathNot: '\\.test\\.ts$' },
      to: { path: '^infra/' },
    },
    {
      name: 'only-constructs-see-imports',
      severity: 'error',
      from: { pathNot: '^infra/constructs/|^imports/' },
      to: { path: '^imports/' },
    },
    {
      name: 'nothing-shipped-imports-the-sandbox',
      severity: 'error',
      from: { path: '^(runtime|infra)/', pathNot: '\\.test\\.ts$' },
      to: { path: '^(sandbox|bench)/' },
    },
    { name: 'tests-are-not-imported', severity: 'error', from: {}, to: { path: '\\.test\\.ts$' } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
};
