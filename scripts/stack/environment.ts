import { environmentSchema } from '#shared/platform/config.ts';

/**
 * This process's environment without the shell's settings for the product, Temporal, Postgres and OpenTelemetry, which
 * describe other servers than those that a test or benchmark starts.
 */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  const ours = new Set(Object.keys(environmentSchema.shape));
  const kept = Object.entries(process.env).filter(
    ([key]) =>
      !ours.has(key) &&
      !key.startsWith('PG') &&
      !key.startsWith('OTEL_') &&
      (!key.startsWith('TEMPORAL_') || key === 'TEMPORAL_CLI_PATH'),
  );
  return Object.fromEntries(kept);
}
