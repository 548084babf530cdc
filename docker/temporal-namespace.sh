#!/bin/sh
# Waits for the Temporal server, then creates the namespace or updates its retention of finished executions: a
# failed run can be resumed only while its history is kept. Reads TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and
# TEMPORAL_RETENTION.
set -eu

tries=0
until temporal operator cluster health >/dev/null 2>&1; do
  tries=$((tries + 1))
  if [ "$tries" -ge 60 ]; then
    echo "Temporal does not answer at $TEMPORAL_ADDRESS" >&2
    exit 1
  fi
  sleep 2
done

if temporal operator namespace describe --namespace "$TEMPORAL_NAMESPACE" >/dev/null 2>&1; then
  temporal operator namespace update --namespace "$TEMPORAL_NAMESPACE" --retention "$TEMPORAL_RETENTION"
else
  temporal operator namespace create --namespace "$TEMPORAL_NAMESPACE" --retention "$TEMPORAL_RETENTION"
fi

# A new namespace takes some seconds to reach every part of the server.
until temporal workflow list --namespace "$TEMPORAL_NAMESPACE" --limit 1 >/dev/null 2>&1; do
  tries=$((tries + 1))
  [ "$tries" -lt 90 ] || exit 1
  sleep 1
done
echo "Namespace $TEMPORAL_NAMESPACE keeps finished executions for $TEMPORAL_RETENTION"
