#!/bin/sh
# The first process of a node's namespaces (mounts, processes, network, host name): makes them a machine of its own, then
# only waits; everything else is started into them. When it ends, all of it ends.
#   linux-namespaces.sh FOLDER NODE_ADDRESS SERVICE_RANGE CGROUPS...
set -e
trap 'exit 0' TERM
folder=$1 address=$2 services=$3
shift 3
mount --make-rshared /
# Paths that the kubelet, containerd and the CNI plugins insist on stay off this machine's disk.
for path in /var/lib/kubelet /var/log/containers /var/log/pods /var/lib/cni /var/lib/lumigo-node-collector; do
  mkdir -p "$path" "$folder/mounts$path"
  mount --bind "$folder/mounts$path" "$path"
done
# The injector copies thousands of files into each pod. On ext4 without a journal, each one takes ten times the CPU time while
# inodes of deleted pods are not used again. So the pods get a disk of their own, if this machine has loop devices.
mkdir -p "$folder/kubelet"
truncate -s 20G "$folder/pods.img"
mkfs.ext4 -q -J size=16 -E lazy_journal_init=1 "$folder/pods.img"
mount -o loop,nobarrier,noinit_itable "$folder/pods.img" "$folder/kubelet" || rm "$folder/pods.img"
for path in /run/netns /run/containerd; do
  mkdir -p "$path"
  mount -t tmpfs tmpfs "$path"
done
# The kubelet learns only there which container a cgroup belongs to.
ln -s "$folder/containerd/containerd.sock" /run/containerd/containerd.sock
hostname sandbox
# The other end of the link is put here from outside.
tries=0
until ip link show node0 >/dev/null 2>&1; do
  tries=$((tries + 1))
  [ $tries -lt 200 ] || { echo 'the link to this machine never came'; exit 1; }
  sleep 0.02
done
ip link set lo up
ip addr add "$address/24" dev node0
ip link set node0 up
# Without a route the API server finds Services unreachable before kube-proxy gets to see them.
ip route add "$services" dev node0
# Pods open no connections to this machine, and so none beyond it; answers, and connections to them, pass.
nft -f - <<'RULES'
table inet sandbox {
  chain from_pods {
    type filter hook forward priority 0; policy accept;
    iifname "pods0" oifname "node0" ct state new drop
  }
}
RULES
echo 1 >/proc/sys/net/ipv4/ip_forward
[ ! -e /proc/sys/net/bridge/bridge-nf-call-iptables ] || echo 1 >/proc/sys/net/bridge/bridge-nf-call-iptables
for cgroup in "$@"; do echo $$ >"$cgroup/system/cgroup.procs"; done
touch "$folder/linux-namespaces.ready"
while :; do
  sleep 3600 &
  wait
done
