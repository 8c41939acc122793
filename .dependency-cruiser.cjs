/** The layers of docs/adr/0001: who may import what. A rule's name says the reason. */
const PURE = '^runtime/(contract|permissions|injection/.*|.*/(plan|decide|render|conditions|schedule)[^/]*)\\.ts$';
const DUTIES = 'webhook|reconciler|telemetry-proxy|uninstall|updater|diagnostics';

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
      // semver is as pure as they are.
      to: { path: '^node:|node_modules/(?!(@types/)?semver/)|^runtime/kubernetes/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'duties-are-independent',
      severity: 'error',
      from: { path: `^runtime/(${DUTIES})/`, pathNot: '\\.test\\.ts$' },
      // What the reconciler would do is shown by its own plan.
      to: {
        path: `^runtime/(${DUTIES})/`,
        pathNot: '^runtime/$1/|^runtime/reconciler/(plan-workload|workload-store)\\.ts$',
      },
    },
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
