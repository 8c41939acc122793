/** What says that a file is the published one: checksums are pinned here, and never asked of where the file comes from. */
export interface Checksum {
  readonly algorithm: 'sha256' | 'sha512';
  /** As hexadecimal digits. */
  readonly digest: string;
}

/** A file that its project publishes, with programs in it that need not be built then. */
export interface Archive {
  /** Its name on a mirror and among the files that somebody brings along: a gzipped tar, or else the program itself. */
  readonly file: string;
  readonly url: string;
  readonly checksum: Checksum;
  /** The components that it holds, each under its own name. */
  readonly programs: readonly string[];
}

/** As Go calls them: `linux-amd64`. */
type Platform = string;

interface Published {
  readonly programs: readonly string[];
  readonly file: (platform: Platform) => string;
  readonly url: (platform: Platform) => string;
  readonly algorithm: Checksum['algorithm'];
  readonly digests: Readonly<Record<Platform, string>>;
}

/** The release whose API server controller-tools publishes for all four platforms; docs/contributing/adr/0005-sandbox.md tells why it may differ. */
export const envtestVersion = 'v1.34.1';
/** Those of the Go modules: which of the two ways a program came makes no difference. */
export const kubernetesVersion = 'v1.34.4';
export const helmVersion = 'v3.22.0';
export const cosignVersion = 'v2.6.1';

const published: readonly Published[] = [
  {
    programs: ['etcd', 'kube-apiserver', 'kubectl'],
    file: (platform) => `envtest-${envtestVersion}-${platform}.tar.gz`,
    url: (platform) =>
      `https://github.com/kubernetes-sigs/controller-tools/releases/download/envtest-${envtestVersion}/envtest-${envtestVersion}-${platform}.tar.gz`,
    // envtest-releases.yaml of kubernetes-sigs/controller-tools.
    algorithm: 'sha512',
    digests: {
      'linux-amd64':
        'c5e7c237ae18a8c65d0df1214b864ecd19aa9ff4f1383dbd477c202546d778c0f74efe15750ec38f57d8de26ba17cd62f404446cdd3c975399a5d4589de35cdd',
      'linux-arm64':
        'bf13d2456183e66d084e28e1c9eed6a408fb77a06d8d1fd0461a7d9bc0c90b63d29ea67870b28f80d1f992acb026007d6f43987753c859c81d6a78bc1ca2c903',
      'darwin-amd64':
        'd9e0464dc1708c36ab41147b5e364c8b8e201eafc14c299dcbe58ebeaa82c651b8e834647167a951ded8c6d08c616aadbae1673a54743f9c8fa15a278c78c0c0',
      'darwin-arm64':
        '43d7c10b74100d20044df7c73be03e26f8243a9cb7c1d3035e581ee7bb0c7ffcaf759b9e182186b5bb2f47d1608835414ca443181a02d9ecb6c9cf04b43e3809',
    },
  },
  {
    // For Linux alone.
    programs: ['kube-controller-manager'],
    file: (platform) => `kube-controller-manager-${kubernetesVersion}-${platform}`,
    url: (platform) =>
      `https://dl.k8s.io/release/${kubernetesVersion}/bin/${platform.replace('-', '/')}/kube-controller-manager`,
    // pkg/assets/assetdata/k8s-1.34.yaml of kubernetes/kops, which records what dl.k8s.io publishes.
    algorithm: 'sha256',
    digests: {
      'linux-amd64': '089a7b944b1cd46f5e61d12dfe27ff769ebb6c11a1d671cfaae140a4174c039d',
      'linux-arm64': '9c44a983b516eb5741aa1cf9d5c38a0180893fb17bd464bf2f03c84ce000a29d',
    },
  },
  {
    programs: ['helm'],
    file: (platform) => `helm-${helmVersion}-${platform}.tar.gz`,
    url: (platform) => `https://get.helm.sh/helm-${helmVersion}-${platform}.tar.gz`,
    // The release's notes, https://github.com/helm/helm/releases/tag/v3.22.0.
    algorithm: 'sha256',
    digests: {
      'linux-amd64': '1e4ab49e429626cf6c6958d914248b78c9730803c2751b87627e171dc800e7bb',
      'linux-arm64': 'f14e804dfee240f55525b667488fe9adca349e63e00c9af634c0beb1421ac310',
      'darwin-amd64': 'bd1d09f316558dda23698527859600936fed1371021ce0f2272d66b2fdcfa69c',
      'darwin-arm64': '4c9982a6cdeb458b60258df66b55398ca5b19293f6877faffe2909ad6f23dfe0',
    },
  },
  {
    programs: ['cosign'],
    file: (platform) => `cosign-${cosignVersion}-${platform}`,
    url: (platform) => `https://github.com/sigstore/cosign/releases/download/${cosignVersion}/cosign-${platform}`,
    // action.yml of sigstore/cosign-installer v3.10.1.
    algorithm: 'sha256',
    digests: {
      'linux-amd64': '064954c5d8c7e3b28188eee5b1727b31c411550bc5fefd41aa672d3c761d103a',
      'linux-arm64': '56a16480bdd56ec789abaa65924402f6b92c0041f06885995853c05567b76f34',
      'darwin-amd64': 'f1ed2787cc9648fd3c644fcb279e43f3f55da63b788d69a527aa14ad97ffdca1',
      'darwin-arm64': '54047052cf46f40a5c3c95a510db276e164ba77e096aea1ca1b733f770359689',
    },
  },
];

/** As Node.js calls them. */
const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

/** What is published for a machine, named as Node.js names its platform and architecture. */
export function archivesFor(platform: string, architecture: string): readonly Archive[] {
  const name = `${platform}-${architectures[architecture] ?? architecture}`;
  return published.flatMap(({ programs, file, url, algorithm, digests }) => {
    const digest = digests[name];
    return digest === undefined
      ? []
      : [{ programs, file: file(name), url: url(name), checksum: { algorithm, digest } }];
  });
}
