import { buildApp } from '#api/app.ts';
import type { App } from '#api/deps.ts';
import { type Engine, startEngine } from '#test/support/engine.ts';
import { useStage } from '#test/support/stage.ts';
import { callerOf, type TestApi } from './test-api.ts';

/** The run engine, and the application on the same database. */
export interface EngineWithApi extends Engine {
  app: App;
  /** Where the application listens, for clients that need a socket. */
  url: string;
}

/** Starts both for all tests of a file. `call` sends a request through the application, without a socket. */
export function useEngineApi(options?: Parameters<typeof startEngine>[0]): {
  engine: EngineWithApi;
  call: TestApi['call'];
} {
  const engine = useStage(
    async (): Promise<EngineWithApi> => {
      const started = await startEngine(options);
      const app = buildApp(started.deps);
      return { ...started, app, url: await app.listen({ host: '127.0.0.1', port: 0 }) };
    },
    async ({ app, close }) => {
      await app.close();
      await close();
    },
  );
  return { engine, call: (...request) => callerOf(engine.app)(...request) };
}
