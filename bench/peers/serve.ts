import fastify from 'fastify';
import { flood } from '../statistics.ts';

export interface FloodRequest {
  runs: number;
  in_flight: number;
}

export interface FloodResponse {
  /** How long all runs took. */
  ms: number;
}

/** Rejects unless a run executed its three steps; `run` resolves with their number. */
export async function checked(run: () => Promise<unknown>): Promise<void> {
  const steps = await run();
  if (steps !== 3) throw new Error(`A run of three steps returned ${JSON.stringify(steps)}`);
}

/**
 * Serves `POST /flood` on the port of the environment: executes as many runs as requested, at most `in_flight` at once.
 * The program measures itself, because the caller of a library is in the same process.
 */
export async function serve(
  run: () => Promise<unknown>,
  stop: () => Promise<unknown>,
): Promise<void> {
  const app = fastify();
  app.post<{ Body: FloodRequest; Reply: FloodResponse }>('/flood', async ({ body }) => ({
    ms: await flood(body.runs, body.in_flight, () => checked(run)),
  }));
  await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT) });
  announce(async () => {
    await app.close();
    await stop();
  });
}

/** Reports to the parent that the program is ready; calls `stop` and exits on a signal, or when the parent has ended. */
export function announce(stop: () => Promise<unknown>): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'disconnect'] as const) {
    process.once(signal, () => void stop().finally(() => process.exit(0)));
  }
  process.send?.({ ready: true });
}
