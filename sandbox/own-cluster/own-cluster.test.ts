import { describe, expect, it } from '@jest/globals';
import { requireAgreement } from './commands.ts';
import { getImageCommands, getImageValues, type Engine } from './image.ts';
import { getTarget, type MinifiedKubeconfig, type Target } from './target.ts';

const IMAGE = 'localhost/lumigo-kubernetes-operator:0.1.0';

const named = (provider: string) => [{ extension: {} }, { extension: { provider } }];
const getConfig = (context: string, cluster: string, provider?: string): MinifiedKubeconfig => ({
  'current-context': context,
  contexts: [{ name: context, context: { cluster, extensions: provider === undefined ? null : named(provider) } }],
});

describe('getTarget', () => {
  it.each<[string, MinifiedKubeconfig, Target]>([
    ['a cluster of kind', getConfig('kind-dev', 'kind-dev'), { kind: 'kind', context: 'kind-dev', name: 'dev' }],
    ['a renamed context of kind', getConfig('mine', 'kind-dev'), { kind: 'kind', context: 'mine', name: 'dev' }],
    [
      'a profile of minikube',
      getConfig('minikube', 'second', 'minikube.sigs.k8s.io'),
      { kind: 'minikube', context: 'minikube', name: 'second' },
    ],
    ['any other cluster', getConfig('production', 'eks'), { kind: 'other', context: 'production' }],
    ['a context with a misleading name', getConfig('kind-of', 'eks'), { kind: 'other', context: 'kind-of' }],
  ])('recognizes %s', (_case, config, target) => {
    expect(getTarget(config)).toEqual(target);
  });
});

it('requireAgreement does not ask about a cluster on this machine, nor after --yes', async () => {
  await requireAgreement({ kind: 'kind', context: 'kind-dev', name: 'dev' }, '', false);
  await requireAgreement({ kind: 'other', context: 'production' }, '', true);
});

describe('getImageCommands', () => {
  const kind: Target = { kind: 'kind', context: 'kind-dev', name: 'dev' };
  const minikube: Target = { kind: 'minikube', context: 'minikube', name: 'second' };
  const toLines = (engine: Engine, target: Target) =>
    getImageCommands(engine, target, IMAGE, 'image.tar').map(({ argv }) => argv.join(' '));

  it.each<[Engine, Target, readonly string[]]>([
    ['docker', kind, [`docker save --output image.tar ${IMAGE}`, 'kind load image-archive image.tar --name dev']],
    [
      'podman',
      kind,
      [
        `podman save --format docker-archive --output image.tar ${IMAGE}`,
        'kind load image-archive image.tar --name dev',
      ],
    ],
    [
      'buildah',
      minikube,
      [`buildah push ${IMAGE} docker-archive:image.tar:${IMAGE}`, 'minikube image load image.tar --profile second'],
    ],
  ])('builds with %s and loads one archive', (engine, target, rest) => {
    expect(toLines(engine, target)).toEqual([`${engine} build --tag ${IMAGE} .`, ...rest]);
  });

  it('says how to use a registry if the cluster is of neither kind nor minikube', () => {
    expect(() => toLines('docker', { kind: 'other', context: 'production' })).toThrow(
      /context 'production' is neither a kind nor a minikube cluster[^]*docker push REGISTRY\/lumigo-kubernetes-operator:0\.1\.0[^]*--image REGISTRY/,
    );
  });
});

describe('getImageValues', () => {
  const toValues = (image: string) => getImageValues(image).filter((_value, index) => index % 2 === 1);

  it('sets repository and tag, also if the registry has a port', () => {
    expect(toValues('registry.example:5000/acme/operator:1.2.3')).toEqual([
      'controllerManager.manager.image.repository=registry.example:5000/acme/operator',
      'controllerManager.manager.image.tag=1.2.3',
    ]);
  });

  it.each(['acme/operator', 'registry.example:5000/operator', 'acme/operator@sha256:00', ''])(
    "refuses '%s' and shows the expected form",
    (image) => expect(() => getImageValues(image)).toThrow(/has no tag\. Write it as REGISTRY\/NAME:TAG/),
  );
});
