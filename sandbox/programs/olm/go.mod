module github.com/lumigo-io/lumigo-kubernetes-operator/sandbox/programs/olm

go 1.26.0

require github.com/operator-framework/api v0.42.0
