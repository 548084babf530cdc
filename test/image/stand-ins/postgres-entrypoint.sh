#!/bin/bash
# What the entrypoint of the image postgres documents: initializes an empty PGDATA with POSTGRES_USER, POSTGRES_PASSWORD and
# POSTGRES_DB, runs the scripts in /docker-entrypoint-initdb.d against a server on the socket alone, and starts the server.
set -euo pipefail

if [ "$(id -u)" = 0 ]; then
  mkdir -p "$PGDATA" /var/run/postgresql
  chown -R postgres /var/lib/postgresql /var/run/postgresql
  exec gosu postgres bash "$0" "$@"
fi

if [ ! -s "$PGDATA/PG_VERSION" ]; then
  : "${POSTGRES_PASSWORD:?You must specify POSTGRES_PASSWORD to a non-empty value for the superuser}"
  initdb --username="$POSTGRES_USER" --pwfile=<(echo "$POSTGRES_PASSWORD") --auth-host=scram-sha-256
  echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
  pg_ctl --wait start --options="-c listen_addresses=''"
  [ "$POSTGRES_DB" = postgres ] || createdb --username "$POSTGRES_USER" "$POSTGRES_DB"
  for script in /docker-entrypoint-initdb.d/*.sh; do bash "$script"; done
  pg_ctl --wait --mode fast stop
fi

exec "$@" -c listen_addresses='*'
