module github.com/lumigo-io/lumigo-kubernetes-operator/sandbox/programs/definitions

go 1.25

require (
	github.com/argoproj/argo-cd/v3 v3.1.9
	github.com/external-secrets/external-secrets v0.19.2
	github.com/fluxcd/source-controller v1.7.3
	github.com/argoproj/argo-rollouts v1.8.3
	github.com/cert-manager/cert-manager v1.18.2
	github.com/prometheus-operator/prometheus-operator v0.86.1
)
