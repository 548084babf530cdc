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
  /** Another instance of the application, as in a second process. */
  startAnother(): Promise<App>;
}

/** Starts both for all tests of a file. `call` sends a request through the application, without a socket. */
export function useEngineApi(options?: Parameters<typeof startEngine>[0]): {
  engine: EngineWithApi;
  call: TestApi['call'];
} {
  const engine = useStage(
    async (): Promise<EngineWithApi> => {
      const started = await startEngine(options);
      const apps: App[] = [];
      const startAnother = async () => {
        const app = buildApp(started.deps);
        apps.push(app);
        await app.listen({ host: '127.0.0.1', port: 0 });
        return app;
      };
      const app = await startAnother();
      const close = async () => {
        for (const each of apps) await each.close();
        await started.close();
      };
      return { ...started, app, url: app.listeningOrigin, startAnother, close };
    },
    ({ close }) => close(),
  );
  return { engine, call: (...request) => callerOf(engine.app)(...request) };
}
