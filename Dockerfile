# The operator's image: Node.js and one bundled program. `docker build -t lumigo-operator .`; for several architectures
# `docker buildx build --platform linux/amd64,linux/arm64 .`, since nothing that is built depends on one.
ARG BASE=gcr.io/distroless/nodejs24-debian12:nonroot

FROM --platform=$BUILDPLATFORM node:24-bookworm-slim AS build
WORKDIR /src
COPY . .
RUN npm ci --ignore-scripts --no-audit --no-fund && npm run build

FROM ${BASE} AS operator
COPY --from=build /src/dist/runtime /app
WORKDIR /app
USER 65532:65532
ENTRYPOINT ["/nodejs/bin/node", "/app/main.js"]
