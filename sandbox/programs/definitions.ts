import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { Manifest } from '../../infra/constructs/manifest.ts';
import { moduleFolder } from './modules.ts';

/** Kinds of other makers that an installation may use, and where their definitions stand in those makers' modules. */
const makers = {
  'cert-manager': { goPackage: 'github.com/cert-manager/cert-manager', folder: 'deploy/crds' },
  prometheus: {
    goPackage: 'github.com/prometheus-operator/prometheus-operator',
    folder: 'example/prometheus-operator-crd',
  },
  argo: { goPackage: 'github.com/argoproj/argo-rollouts', folder: 'manifests/crds' },
} as const;

/**
 * The definitions of some kinds, as their maker releases them.
 * @param names as their files have them: `certificates`, `issuers`, `rollout-crd`
 * @throws Error where the module cannot be had
 */
export function definitionsOf(maker: keyof typeof makers, names: readonly string[]): readonly Manifest[] {
  const { goPackage, folder } = makers[maker];
  const files = join(moduleFolder({ module: 'definitions', goPackage }), folder);
  return readdirSync(files)
    .filter((file) => names.some((name) => new RegExp(`(^|[-_])${name}.yaml$`).test(file)))
    .map((file) => {
      const { apiVersion, kind, metadata, spec } = parse(readFileSync(join(files, file), 'utf8')) as Manifest;
      // Labels and annotations are a chart's templates there.
      return { apiVersion, kind, metadata: { name: metadata.name }, spec };
    });
}
