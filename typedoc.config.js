import { OptionDefaults } from 'typedoc';

export default {
  entryPoints: ['infra/index.ts', 'infra/pulumi/index.ts'],
  tsconfig: 'tsconfig.package.json',
  name: 'lumigo-kubernetes-operator',
  readme: 'infra/README.md',
  out: 'dist/api',
  // `cdk8s import` writes @schema.
  blockTags: [...OptionDefaults.blockTags, '@schema'],
  excludeTags: ['@schema'],
  excludeExternals: true,
  disableSources: true,
  validation: { notExported: false },
  treatWarningsAsErrors: true,
};
