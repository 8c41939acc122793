module github.com/lumigo-io/lumigo-kubernetes-operator/sandbox/programs/pause

go 1.24.0
