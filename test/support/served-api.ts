import { buildApp } from '#api/app.ts';
import { freePorts } from '#scripts/stack/ports.ts';
import { ensureOwnerPassword } from '#shared/operations/people/sign-in.ts';
import { loadConfig } from '#shared/platform/config.ts';
import { type Engine, startEngine } from './engine.ts';

/** The API of an engine, in this process, on a port of its own. */
export interface ServedApi {
  url: string;
  stop(): Promise<void>;
}

/** The service in this process: an engine with its worker, and its API. */
export interface Service {
  apiUrl: string;
  engine: Engine;
  close(): Promise<void>;
}

/**
 * Serves the API over the connections of an engine. A process of its own (`startApiProcess`) takes seconds of processor time
 * to start, and is for tests that kill it, need two, or look at what a process does.
 */
export async function serveApi({ deps, env }: Engine): Promise<ServedApi> {
  const [port] = await freePorts(1);
  const config = loadConfig({ ...env, API_PORT: String(port) });
  if (config.auth.mode === 'required') {
    await ensureOwnerPassword(deps.db, config.auth.ownerPassword);
  }
  const app = buildApp({ ...deps, config });
  await app.listen({ host: '127.0.0.1', port: config.api.port });
  return { url: `http://127.0.0.1:${port}`, stop: () => app.close() };
}

/** A service on a separate database and task queues, for its clients. */
export async function startService(env: Record<string, string> = {}): Promise<Service> {
  const engine = await startEngine({
    env: { ENCRYPTION_KEY: 'a key for the tests alone', ...env },
  });
  const api = await serveApi(engine);
  return {
    apiUrl: api.url,
    engine,
    close: async () => {
      await api.stop();
      await engine.close();
    },
  };
}
