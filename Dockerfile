# The factory in a container: node, Chromium, git, bubblewrap, tini, and zot beside the built-in harness.
# Nothing secret goes in at build time; see docs/operating.md for how it is run and docs/decisions/container.md for why so.
ARG ZOT_VERSION=v0.17.1

FROM ghcr.io/openzot/openzot:${ZOT_VERSION} AS zot

FROM docker.io/library/node:22-bookworm-slim AS build
WORKDIR /opt/machinery
COPY package.json package-lock.json .npmrc ./
RUN npm ci --loglevel=error
COPY tsconfig.json tsconfig.build.json ./
COPY src ./src
RUN node node_modules/typescript/bin/tsc -p tsconfig.build.json \
 && mkdir dist/bin && ln -s ../cli/main.js dist/bin/machinery && chmod 755 dist/cli/main.js \
 && npm prune --omit=dev --loglevel=error

FROM docker.io/library/node:22-bookworm-slim
RUN apt-get update -qq \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
      bubblewrap ca-certificates chromium-headless-shell fonts-dejavu-core fonts-liberation git openssh-client procps tini util-linux \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/log/*
# The orchestrator and the agent. The orchestrator is in the agent's group, through which they share the checkout.
RUN groupadd --gid 10001 machinery && groupadd --gid 10002 machinery-agent \
 && useradd --uid 10002 --gid 10002 --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin machinery-agent \
 && useradd --uid 10001 --gid 10001 --groups machinery-agent --no-create-home --home-dir /data machinery \
 && install -d -o machinery -g machinery -m 0700 /data
COPY --from=zot /usr/local/bin/zot /usr/local/bin/zot
COPY --chmod=755 deploy/container/as-machinery deploy/container/machinery /usr/local/bin/
COPY --from=build /opt/machinery /opt/machinery
COPY AGENTS.md LICENSE factory.yaml /opt/machinery/
COPY orders /opt/machinery/orders
COPY scripts /opt/machinery/scripts

WORKDIR /opt/machinery
ENV NODE_ENV=production \
    HOME=/data \
    MACHINERY_DATA=/data \
    MACHINERY_CONSOLE_HOST=0.0.0.0 \
    CHROMIUM_PATH=/usr/bin/chromium-headless-shell \
    ZOT_PATH=/usr/local/bin/zot
VOLUME /data
EXPOSE 8484
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s --retries=3 CMD ["machinery", "health"]
ENTRYPOINT ["as-machinery", "tini", "--"]
CMD ["machinery", "start"]
