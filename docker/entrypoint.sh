#!/bin/sh
# The commands of the image: api, worker, migrate, admin <command>. Any other command runs unchanged.
set -eu

# The commands of `npm run` for operators, and the command `ops`.
admin() {
  name="${1:-}"
  case "$name" in
    audit:verify | config:check | owner:restore | password:reset | runs:reconcile | runs:restart | secrets:rotate | upgrade:to-1.0 | workspace:create)
      program="scripts/admin/$(echo "$name" | tr :. --).js" ;;
    ops)
      # The home folder is read-only under docker-compose.yml.
      export XDG_CONFIG_HOME="${XDG_CONFIG_HOME:-/tmp/config}"
      program=cli/main.js ;;
    *)
      echo 'Usage: admin audit:verify | config:check | owner:restore | password:reset | runs:reconcile | runs:restart |' \
        'secrets:rotate | upgrade:to-1.0 | workspace:create | ops' >&2
      exit 2 ;;
  esac
  shift
  exec node --enable-source-maps "dist/$program" "$@"
}

case "${1:-api}" in
  api | worker) exec node --max-semi-space-size=8 --enable-source-maps "dist/$1/main.js" ;;
  migrate) exec node --enable-source-maps docker/migrate.mjs ;;
  admin) shift && admin "$@" ;;
  *) exec "$@" ;;
esac
