#!/bin/sh
# The commands of the image: api, worker, migrate. Any other command runs unchanged.
set -eu

case "${1:-api}" in
  api | worker) exec node --max-semi-space-size=8 --enable-source-maps "dist/$1/main.js" ;;
  migrate) exec node --enable-source-maps docker/migrate.mjs ;;
  *) exec "$@" ;;
esac
