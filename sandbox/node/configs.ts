import { join } from 'node:path';
import type { Slot } from './addresses.ts';

export interface NodeFolders {
  readonly folder: string;
  /** The folder of images, which the next cluster uses as well. */
  readonly images: string;
  readonly kubelet?: object | undefined;
}

export const nodeName = 'sandbox';
export const pauseImage = 'sandbox.local/pause:1';

export const containerdSocket = (folder: string): string => join(folder, 'containerd', 'containerd.sock');

export const cniConfig = ({ folder }: NodeFolders, { podRange }: Slot): string =>
  JSON.stringify({
    cniVersion: '0.4.0',
    name: 'sandbox',
    plugins: [
      {
        type: 'bridge',
        bridge: 'pods0',
        isGateway: true,
        hairpinMode: true,
        ipam: {
          type: 'host-local',
          dataDir: join(folder, 'cni', 'addresses'),
          ranges: [[{ subnet: podRange }]],
          routes: [{ dst: '0.0.0.0/0' }],
        },
      },
    ],
  });

/** A node without the rights of a machine's root has no lower OOM scores, AppArmor or huge pages. */
export const containerdConfig = ({ folder, images }: NodeFolders): string => `version = 2
root = "${images}"
state = "${join(folder, 'containerd', 'state')}"
disabled_plugins = ["io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs"]
[grpc]
  address = "${containerdSocket(folder)}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${pauseImage}"
  restrict_oom_score_adj = true
  disable_apparmor = true
  disable_hugetlb_controller = true
  tolerate_missing_hugetlb_controller = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "${join(folder, 'cni', 'net.d')}"
`;

/** The kubelet reads JSON as YAML. It deletes no images, because no registry has them. */
export const kubeletConfig = ({ folder, kubelet = {} }: NodeFolders, slot: Slot): string =>
  JSON.stringify({
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    failCgroupV1: false,
    failSwapOn: false,
    cgroupRoot: `/${slot.cgroup}`,
    containerRuntimeEndpoint: `unix://${containerdSocket(folder)}`,
    authentication: { x509: { clientCAFile: join(folder, 'ca.crt') } },
    tlsCertFile: join(folder, 'kubelet.crt'),
    tlsPrivateKeyFile: join(folder, 'kubelet.key'),
    address: slot.nodeAddress,
    clusterDNS: [slot.dnsAddress],
    clusterDomain: 'cluster.local',
    resolvConf: join(folder, 'resolv.conf'),
    makeIPTablesUtilChains: false,
    evictionHard: { 'memory.available': '50Mi', 'nodefs.available': '1%', 'imagefs.available': '1%' },
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
    syncFrequency: '10s',
    ...kubelet,
  });

export const proxyConfig = ({ folder }: NodeFolders, { podRange }: Slot): string =>
  JSON.stringify({
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: 'nftables',
    hostnameOverride: nodeName,
    clusterCIDR: podRange,
    clientConnection: { kubeconfig: join(folder, 'kubeconfig') },
    healthzBindAddress: '127.0.0.1:10256',
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
  });
