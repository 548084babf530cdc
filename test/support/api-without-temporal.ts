import { loadConfig } from '#shared/platform/config.ts';
import { connectTemporal } from '#shared/platform/temporal.ts';
import type { Engine } from './engine.ts';
import { hostAndPort, type Proxy, startProxy } from './proxy.ts';
import { setting } from './settings.ts';
import { useStageEach } from './stage.ts';

/** The dependencies of an API on the engine's database, with a connection to Temporal that each test can cut. */
export function useApiWithoutTemporal(engine: Engine): { api: Engine['deps']; proxy: Proxy } {
  const proxy = useStageEach(() => startProxy(hostAndPort(setting('TEST_TEMPORAL_ADDRESS'))));
  const api = useStageEach<Engine['deps']>(
    () => {
      const config = loadConfig({ ...engine.env, TEMPORAL_ADDRESS: proxy.address });
      return { ...engine.deps, config, temporal: connectTemporal(config, engine.db) };
    },
    ({ temporal }) => temporal.close(),
  );
  return { api, proxy };
}
