import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { Manifest } from '../../infra/constructs/manifest.ts';
import { moduleFolder } from './modules.ts';

/** Kinds of other projects that an installation may use, with the folder of their definitions. */
const makers = {
  'cert-manager': { goPackage: 'github.com/cert-manager/cert-manager', folder: 'deploy/crds' },
  prometheus: {
    goPackage: 'github.com/prometheus-operator/prometheus-operator',
    folder: 'example/prometheus-operator-crd',
  },
  argo: { goPackage: 'github.com/argoproj/argo-rollouts', folder: 'manifests/crds' },
  'argo-cd': { goPackage: 'github.com/argoproj/argo-cd/v3', folder: 'manifests/crds' },
  'external-secrets': { goPackage: 'github.com/external-secrets/external-secrets', folder: 'config/crds/bases' },
  flux: { goPackage: 'github.com/fluxcd/source-controller', folder: 'config/crd/bases' },
  olm: { module: 'olm', goPackage: 'github.com/operator-framework/api', folder: 'crds' },
} as const;

/** Returns released definitions. @param names as in the file names: `certificates`, `rollout-crd` @throws Error if the module is unavailable */
export function getDefinitions(maker: keyof typeof makers, names: readonly string[]): readonly Manifest[] {
  const { folder, ...pinned } = makers[maker];
  const files = join(moduleFolder({ module: 'definitions', ...pinned }), folder);
  return readdirSync(files)
    .filter((file) => names.some((name) => new RegExp(`(^|[-_])${name}.yaml$`).test(file)))
    .map((file) => {
      const { apiVersion, kind, metadata, spec } = parse(readFileSync(join(files, file), 'utf8')) as Manifest;
      // The labels and annotations are templates of a chart.
      return { apiVersion, kind, metadata: { name: metadata.name }, spec };
    });
}
