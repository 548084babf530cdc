import { randomBytes } from 'node:crypto';
import { loadConfig } from '#shared/platform/config.ts';
import type { Claim } from '#scripts/stack/claim.ts';
import { cleanEnvironment } from '#scripts/stack/environment.ts';
import { settlePorts } from '#scripts/start/choose-ports.ts';
import { type Cluster, type ClusterOptions, createCluster } from './cluster.ts';

/**
 * A cluster for a test or benchmark, in the folder of the claim or below it, on free ports, with default settings.
 * Replaces the environment of this process, which the cluster's processes inherit.
 */
export async function createThrowawayCluster(
  claim: Claim,
  {
    folder = claim.folder,
    ...size
  }: { folder?: string } & Omit<ClusterOptions, 'claim' | 'config' | 'secretKey'>,
): Promise<Cluster> {
  process.env = {
    ...cleanEnvironment(),
    DATA_DIR: folder,
    SEED: 'off',
    API_PORT: '0',
    POSTGRES_PORT: '0',
    TEMPORAL_PORT: '0',
    TEMPORAL_UI_PORT: '0',
  };
  const config = await settlePorts(loadConfig());
  const secretKey = randomBytes(32).toString('base64');
  return createCluster({ ...size, config, claim, secretKey });
}
