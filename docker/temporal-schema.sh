#!/bin/sh
# Migrates both databases of the Temporal server to the schema of this image's version. Safe to run again: it applies
# only missing updates. Reads SQL_HOST, SQL_USER and SQL_PASSWORD.
set -eu

bring() {
  temporal-sql-tool --plugin postgres12 --database "$1" setup-schema --version 0.0
  temporal-sql-tool --plugin postgres12 --database "$1" update-schema --schema-name "postgresql/v12/$2"
}

bring temporal temporal
bring temporal_visibility visibility
