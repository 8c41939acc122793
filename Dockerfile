# The operator's images. `docker build -t lumigo-operator .` makes the operator's own (Node.js and one bundled program),
# `docker build --target updater -t lumigo-operator-updater .` that of the updater (the same with Helm). For several
# architectures `docker buildx build --platform linux/amd64,linux/arm64 .`. What it begins with is pinned to its content, of all
# architectures; the tag is for people. To renew one: `docker buildx imagetools inspect IMAGE:TAG` prints the digest of the day.
ARG BASE=gcr.io/distroless/nodejs24-debian12:nonroot@sha256:14d42e2511532589a7c7e01a753667a74fcc96266e137e8125006b87b0c32d0a

FROM --platform=$BUILDPLATFORM node:24.21.0-bookworm-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6 AS build
WORKDIR /src
COPY . .
RUN npm ci --ignore-scripts --no-audit --no-fund && npm run build

# Helm from its pinned module, by the hashes that the tests use it with.
FROM --platform=$BUILDPLATFORM golang:1.26.6-bookworm@sha256:116d58cbd88c1297624acc6e967a060012422bacf9930927e23fb719189c6f36 AS helm
ARG TARGETOS
ARG TARGETARCH
WORKDIR /src
COPY sandbox/programs/helm .
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -mod=mod -trimpath \
  -ldflags '-s -w -X helm.sh/helm/v3/internal/version.version=v3.22.0' -o /out/helm helm.sh/helm/v3/cmd/helm

# With an instruction: of a stage that has none, buildah leaves the container behind, mounted.
FROM ${BASE} AS node
USER 0

# Run, but not read: Linux shows nobody the memory, files, environment or descriptors of a process whose program its user may not
# read. In the operator's pod the telemetry proxy sees the manager's process, as the same user (docs/contributing/adr/0013).
FROM ${BASE} AS prepared
COPY --from=node --chown=0:0 --chmod=0111 /nodejs/bin/node /nodejs/bin/node

# Begun anew, since another mode is another copy of 120 MB, and the one below it would travel along. What the base says of itself stands here.
FROM scratch AS operator
COPY --from=prepared / /
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt
# One arena for malloc, which gives back what it need not hold: some 3 MB, and its threads are few (docs/contributing/performance.md).
ENV MALLOC_ARENA_MAX=1 MALLOC_TRIM_THRESHOLD_=131072
COPY --from=build /src/dist/runtime /app
WORKDIR /app
USER 65532:65532
# No signal starts Node.js' inspector, which has no password: the telemetry proxy may signal the manager (docs/contributing/adr/0027). The
# variable is for programs that `kubectl exec` starts. They share the manager's memory limit, and beyond it the kernel ends the manager with
# them. So their heap is small, and one that is full ends such a program alone.
ENV NODE_OPTIONS="--disable-sigusr1 --max-semi-space-size=2 --max-old-space-size-percentage=25"
# The heap takes a part of the container's memory limit, whatever that is. Left alone, Node.js would not go below 256 MB; and 60 %
# leaves room for what is no heap: connections, buffers, code. While the old generation is looked through, the young one is emptied as
# always: V8 13 lets it grow by tens of MB meanwhile, and moves all of it at once. The young generation is small: with 4 MiB reviews cost a
# tenth less, and the process has 3 MB more at rest. And code is compiled for what is hot alone, which spares a megabyte (docs/contributing/performance.md).
ENTRYPOINT ["/nodejs/bin/node", "--disable-sigusr1", "--max-semi-space-size=2", "--max-old-space-size-percentage=60", "--no-separate-gc-phases", "--no-sparkplug", "/app/main.js"]

FROM operator AS updater
COPY --from=helm /out/helm /usr/local/bin/helm

FROM operator
