/** A pinned checksum of a published file, which does not depend on the server of the file. */
export interface Checksum {
  readonly algorithm: 'sha256' | 'sha512';
  readonly digest: string;
}

/** A published file with programs, which then need no build. */
export interface Archive {
  /** The name on a mirror and in the `archives/` folder: a gzipped tar, or the program itself. */
  readonly file: string;
  readonly url: string;
  readonly checksum: Checksum;
  readonly programs: readonly string[];
}

/** In Go's format: `linux-amd64`. */
type Platform = string;

interface Published {
  readonly programs: readonly string[];
  readonly file: (platform: Platform) => string;
  readonly url: (platform: Platform) => string;
  readonly algorithm: Checksum['algorithm'];
  readonly digests: Readonly<Record<Platform, string>>;
}

/** The release whose API server controller-tools publishes for all platforms. docs/contributing/adr/0005-sandbox.md says why it may differ. */
export const envtestVersion = 'v1.36.2';
/** The version is that of the Go modules, so downloaded and built programs are equal. */
export const kubernetesVersion = 'v1.36.3';
export const helmVersion = 'v3.22.0';
export const helm4Version = 'v4.3.1';
export const cosignVersion = 'v2.6.1';

const published: readonly Published[] = [
  {
    programs: ['etcd', 'kube-apiserver', 'kubectl'],
    file: (platform) => `envtest-${envtestVersion}-${platform}.tar.gz`,
    url: (platform) =>
      `https://github.com/kubernetes-sigs/controller-tools/releases/download/envtest-${envtestVersion}/envtest-${envtestVersion}-${platform}.tar.gz`,
    // Source: envtest-releases.yaml of kubernetes-sigs/controller-tools.
    algorithm: 'sha512',
    digests: {
      'linux-amd64':
        'ea743186c8a799f5cf8faf16969f86189d003cb7d130e0ac4b58789f1e5748dcf30ebe91c837a10d5ac415383da3e10b9e64d65785c938c23e739781cfb76f08',
      'linux-arm64':
        '2d72ee985a8e262a3c57dc9f7f0fd891f6a8c7bf7ebaa2db6dc6d8eac8ae28181afe51c1f368b67756cdb40b10de9b205609e1726e5f27f7c6d824dd9c6649ac',
      'darwin-amd64':
        'b4fe9f973cd1992e3880f8b230ed32c0c243b83371591e3e3315f4404df2cdbef8ee94eeb9bb245b7e5feb987d5c4a76c43e0877654ab73f00d7bbc2b9984514',
      'darwin-arm64':
        '9278f9e5af556b2f1f2d139769c1f0d717c7b4426917fdebdba898bcb725a916e4910d6160886194ff9be9589ea7c5c32c2b8ae0754703874b7c8ba8ddfc41ce',
    },
  },
  {
    programs: ['kube-controller-manager'],
    file: (platform) => `kube-controller-manager-${kubernetesVersion}-${platform}`,
    url: (platform) =>
      `https://dl.k8s.io/release/${kubernetesVersion}/bin/${platform.replace('-', '/')}/kube-controller-manager`,
    // Source: pkg/assets/assetdata/k8s-1.36.yaml of kubernetes/kops, which records the files of dl.k8s.io.
    algorithm: 'sha256',
    digests: {
      'linux-amd64': '7edfe976d5a06c7a702d653e914095f4a732a04bb2139115b6a6eba6a9b781c7',
      'linux-arm64': '27868a5c822824945b93f2d8a724a5dcd99affc68b47230ae766bff8795bbb84',
    },
  },
  {
    programs: ['helm'],
    file: (platform) => `helm-${helmVersion}-${platform}.tar.gz`,
    url: (platform) => `https://get.helm.sh/helm-${helmVersion}-${platform}.tar.gz`,
    // Source: https://github.com/helm/helm/releases/tag/v3.22.0.
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
    // Source: action.yml of sigstore/cosign-installer v3.10.1.
    algorithm: 'sha256',
    digests: {
      'linux-amd64': '064954c5d8c7e3b28188eee5b1727b31c411550bc5fefd41aa672d3c761d103a',
      'linux-arm64': '56a16480bdd56ec789abaa65924402f6b92c0041f06885995853c05567b76f34',
      'darwin-amd64': 'f1ed2787cc9648fd3c644fcb279e43f3f55da63b788d69a527aa14ad97ffdca1',
      'darwin-arm64': '54047052cf46f40a5c3c95a510db276e164ba77e096aea1ca1b733f770359689',
    },
  },
];

const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

/** Returns the archives for a machine, by Node.js' names of its platform and architecture. */
export function archivesFor(platform: string, architecture: string): readonly Archive[] {
  const name = `${platform}-${architectures[architecture] ?? architecture}`;
  return published.flatMap(({ programs, file, url, algorithm, digests }) => {
    const digest = digests[name];
    return digest === undefined
      ? []
      : [{ programs, file: file(name), url: url(name), checksum: { algorithm, digest } }];
  });
}
