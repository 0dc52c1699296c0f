# syntax=docker/dockerfile:1
# What the test of this file relies on: one instruction a line, sources of COPY without wildcards.
ARG NODE_IMAGE=node:24.21.0-trixie-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.web.json vite.config.ts ./
COPY bin bin
COPY clients clients
COPY examples examples
COPY src src
RUN node bin/build-web.cjs && node bin/build-client.cjs

FROM ${NODE_IMAGE} AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Without tools, and without the PostgreSQL and the Node.js that are for machines that have none.
RUN npm ci --ignore-scripts --omit=dev --omit=optional
# A quarter of the packages: type declarations and source maps.
RUN find node_modules -type f '(' -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' ')' -delete

FROM ${NODE_IMAGE}
# A home, because an orchestrator may run the image as a user that no file of it lists.
# MALLOC_… as in bin/allocator.cjs: freed memory goes back to the system.
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 HOME=/app MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=1048576 MALLOC_TRIM_THRESHOLD_=4194304
WORKDIR /app
COPY package.json LICENSE ./
COPY --from=packages /app/node_modules node_modules
# The decoder of pictures for this machine, which is an optional package of sharp.
COPY --from=build /app/node_modules/@img node_modules/@img
COPY migrations migrations
COPY src src
COPY --from=build /app/dist/web dist/web
COPY --from=build /app/dist/clients dist/clients
# As a number, so that an orchestrator can see that it is not root. Nothing in the image is writable by it.
USER 1000:1000
EXPOSE 3000
# That the process runs: a database that is away is no reason to replace it.
HEALTHCHECK --interval=5s --timeout=3s --start-period=60s CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# As `npm start`: half of the default keeps the memory at rest 20 to 30 MB lower.
CMD ["node", "--max-semi-space-size=16", "src/main.ts"]
