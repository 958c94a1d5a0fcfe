# Bellhop in a container: the package as npm would install it, Node, and nothing that it does not run.
#   docker build -t bellhop . && docker run -p 8787:8787 -v bellhop:/var/lib/bellhop bellhop
FROM node:22-bookworm-slim AS build
WORKDIR /source
COPY . .
RUN npm ci --ignore-scripts \
 && npm pack --ignore-scripts=false --pack-destination=/tmp -w bellhop

FROM node:22-bookworm-slim AS install
WORKDIR /opt/bellhop
COPY --from=build /tmp/bellhop-[0-9]*.tgz /tmp/
RUN npm install --omit=dev --ignore-scripts --no-audit --no-fund /tmp/bellhop-[0-9]*.tgz

FROM node:22-bookworm-slim
# Nothing is installed at run time, and what cannot install cannot be made to.
RUN rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /opt/yarn* \
      /usr/local/bin/yarn /usr/local/bin/yarnpkg \
 && install -d -o node -g node -m 0700 /var/lib/bellhop
COPY --from=install /opt/bellhop/node_modules /opt/bellhop/node_modules
RUN ln -s /opt/bellhop/node_modules/bellhop/dist/bundle/cli/bellhop.js /usr/local/bin/bellhop
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8787 BELLHOP_DATA_DIR=/var/lib/bellhop
# The embedded PostgreSQL does not run as root, and nothing else has to.
USER node
WORKDIR /var/lib/bellhop
VOLUME /var/lib/bellhop
EXPOSE 8787
# Alive, not ready: a container whose database is away gains nothing by being started again.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 CMD ["bellhop", "health"]
# In this form node is process 1 and gets SIGTERM itself. BELLHOP_STOP_GRACE is 25 s: let it have 30 before SIGKILL.
STOPSIGNAL SIGTERM
ENTRYPOINT ["bellhop"]
CMD ["start"]
