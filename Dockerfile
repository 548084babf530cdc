# One image: api (the default), worker, migrate, and the commands of operators (admin).

ARG NODE_IMAGE=node:24-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
# Install scripts only fetch what development embeds: a Node and a Postgres of its own.
RUN --mount=type=cache,target=/root/.npm npm ci --ignore-scripts
COPY . .
RUN node docker/build.mjs

FROM ${NODE_IMAGE} AS packages
WORKDIR /app
COPY package.json package-lock.json ./
# The Temporal worker's native part comes for every platform; the image needs those of Linux.
RUN --mount=type=cache,target=/root/.npm npm ci --omit=dev --ignore-scripts \
  && rm -rf node_modules/@temporalio/core-bridge/releases/*-apple-* \
    node_modules/@temporalio/core-bridge/releases/*-windows-*

FROM ${NODE_IMAGE}
# The Temporal client looks for certificate authorities where this package puts them; the slim image has none.
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ca-certificates \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY package.json LICENSE ./
COPY --chmod=755 docker/entrypoint.sh docker/
COPY docker/migrate.mjs docker/healthcheck.mjs docker/
COPY --from=build /app/dist dist
ENV NODE_ENV=production \
  API_HOST=0.0.0.0 \
  DATA_DIR=/tmp/data \
  SEED=off \
  WORKFLOW_BUNDLE=/app/dist/workflow-bundle.js
USER node
EXPOSE 8000
# For the API; a worker is asked for its metrics instead, as docker-compose.yml does.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "docker/healthcheck.mjs"]
ENTRYPOINT ["/app/docker/entrypoint.sh"]
CMD ["api"]
