module github.com/lumigo-io/lumigo-kubernetes-operator/sandbox/programs/helm-4

go 1.26.0

require helm.sh/helm/v4 v4.3.1
