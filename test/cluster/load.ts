import { ordinaryChain } from '#bench/graphs.ts';
import { type Client, createClient } from '#client/index.ts';
import { messageOf } from '#scripts/stack/output.ts';

/** Triggers per second, about a third of what two processors can run. */
const PER_SECOND = 4;
/** So many that only the timeout of a call ends its retries. */
const RETRIES = 100;

export interface Load {
  workflowId: string;
  /** The time until each answer, including retries, in ms. */
  latencies: number[];
  /** Requests that failed although their client retried them. */
  lost: string[];
  /** Attempts after which a client retried: without a response, or answered 503. */
  retried: number;
}

export interface RunningLoad {
  /** Requests so far, answered or not. */
  sent(): number;
  /** Resolves when all requests have been answered. */
  stop(): Promise<Load>;
}

/**
 * Triggers runs at a fixed rate, whether or not earlier requests have been answered, until `stop` or `most` of them.
 * `timeout` is that of a call in seconds, including its retries.
 */
export async function startLoad(
  service: { baseUrl: string; token?: string; timeout?: number },
  most = Infinity,
): Promise<RunningLoad> {
  let failedAttempts = 0;
  const client = createClient({
    ...service,
    retries: RETRIES,
    fetch: async (...request) => {
      try {
        const answer = await fetch(...request);
        if (answer.status === 503) failedAttempts += 1;
        return answer;
      } catch (error) {
        failedAttempts += 1;
        throw error;
      }
    },
  });
  const workflowId = await publish(client);
  const load: Load = { workflowId, latencies: [], lost: [], retried: 0 };
  const requests: Promise<void>[] = [];
  const trigger = async (): Promise<void> => {
    const started = performance.now();
    try {
      await client.triggerRun(workflowId);
      load.latencies.push(performance.now() - started);
    } catch (error) {
      load.lost.push(messageOf(error));
    }
  };
  const timer = setInterval(() => {
    if (requests.length < most) requests.push(trigger());
  }, 1_000 / PER_SECOND);
  return {
    sent: () => requests.length,
    stop: async () => {
      clearInterval(timer);
      await Promise.all(requests);
      return { ...load, retried: failedAttempts };
    },
  };
}

/** Three steps that occupy a worker for a while, so that restarts meet steps in flight. */
async function publish(client: Client): Promise<string> {
  // The free plan's quota would end the load early.
  await client.setPlan('enterprise');
  const workflow = await client.createWorkflow({
    name: 'Restarts',
    graph: ordinaryChain(3, 500),
  });
  return workflow.id;
}
