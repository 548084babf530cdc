import { afterAll, beforeAll } from '@jest/globals';
import { Agent, request } from 'undici';
import { type Engine, startEngine } from '#test/support/engine.ts';
import { startApiProcess, type TestApi } from '#test/support/processes.ts';

export interface Answer {
  status: number;
  body: { id?: string; run_id?: string; status?: string; detail?: string; url?: string };
}

export interface ApiProcesses {
  engine: Engine;
  /** Replace an entry after its process was killed. */
  apis: TestApi[];
  call(api: TestApi, method: 'POST' | 'PUT', path: string, body: unknown): Promise<Answer>;
  /** The process for the request at this index, round robin. */
  turn(index: number): TestApi;
}

export const startOne = ({ env }: Engine): Promise<TestApi> =>
  startApiProcess({ ...env, LOG_LEVEL: 'error' });

/** Three API processes on one database for a test file. Without a worker, runs stay pending and keep their holds. */
export function useApiProcesses(env: Record<string, string> = {}): ApiProcesses {
  const held = {} as { engine: Engine; apis: TestApi[]; agent: Agent };
  beforeAll(async () => {
    held.engine = await startEngine({ worker: false, env });
    held.apis = await Promise.all([1, 2, 3].map(() => startOne(held.engine)));
    held.agent = new Agent({ connections: 40, headersTimeout: 60_000 });
  }, 60_000);
  afterAll(async () => {
    await held.agent.close();
    await Promise.all(held.apis.map((api) => api.stop()));
    await held.engine.close();
  });
  return {
    get engine() {
      return held.engine;
    },
    get apis() {
      return held.apis;
    },
    turn: (index) => held.apis[index % held.apis.length]!,
    call: async (api, method, path, body) => {
      const response = await request(`${api.url}${path}`, {
        dispatcher: held.agent,
        method,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return { status: response.statusCode, body: (await response.body.json()) as Answer['body'] };
    },
  };
}
