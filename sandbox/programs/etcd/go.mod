module github.com/lumigo-io/lumigo-kubernetes-operator/sandbox/programs/etcd

go 1.24.0

require go.etcd.io/etcd/server/v3 v3.6.4
