#!/bin/bash
# Runs once, on an empty volume: creates a separate role and two databases for the Temporal server, so that it and the
# service cannot read each other's data.
set -euo pipefail

psql --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" \
  --set ON_ERROR_STOP=1 --set password="$TEMPORAL_POSTGRES_PASSWORD" <<'SQL'
CREATE ROLE temporal LOGIN PASSWORD :'password';
CREATE DATABASE temporal OWNER temporal;
CREATE DATABASE temporal_visibility OWNER temporal;
SELECT format('REVOKE CONNECT ON DATABASE %I FROM PUBLIC', datname)
  FROM pg_database WHERE NOT datistemplate \gexec
SQL
