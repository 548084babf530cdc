import { createHmac, randomUUID } from 'node:crypto';
import { Agent, request } from 'undici';
import { freePorts } from '#scripts/stack/ports.ts';
import { chain } from '#bench/graphs.ts';
import type { Processes } from '#bench/processes.ts';
import { atMost, compare, compareSamples, type Result } from '#bench/result.ts';
import { query, type Stack } from '#bench/stack.ts';
import { interleave, percentile, timed } from '#bench/statistics.ts';

const copies = 100;
const rounds = 40;

/** The cost of a start by an event: a single one, and many copies of one at the same moment. */
export async function webhook(stack: Stack, processes: Processes): Promise<Result[]> {
  const dispatcher = new Agent({ connections: copies, keepAliveTimeout: 60_000 });
  const post = async (url: string, body = '', headers: Record<string, string> = {}) => {
    const answer = await request(url, { dispatcher, method: 'POST', headers, body });
    const text = await answer.body.text();
    if (answer.statusCode >= 300) throw new Error(`${url} answered ${answer.statusCode}: ${text}`);
    return JSON.parse(text) as { run_id: string; status: string };
  };
  try {
    return [await alone(stack, post), await copied(stack, processes, post)];
  } finally {
    await dispatcher.close();
  }
}

type Post = (
  url: string,
  body?: string,
  headers?: Record<string, string>,
) => Promise<{ run_id: string; status: string }>;

/** Enables a webhook that requires signatures and deduplicates events; returns its URL. */
async function enable({ apiUrl }: Stack, workflowId: string): Promise<string> {
  const path = `${apiUrl}/api/workflows/${workflowId}/webhook`;
  await request(`${path}/config`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ require_signature: true, dedup_window_seconds: 3_600 }),
  });
  const { body } = await request(path, { method: 'POST' });
  const { url } = (await body.json()) as { url: string };
  return `${apiUrl}${new URL(url).pathname}`;
}

/** The headers of an event, built as a sender builds them. */
function sign(url: string, body: string, eventId: string): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const hmac = createHmac('sha256', url.slice(-32)).update(`${timestamp}.${body}`).digest('hex');
  return {
    'x-service-event-id': eventId,
    'x-service-timestamp': timestamp,
    'x-service-signature': `sha256=${hmac}`,
  };
}

async function alone(stack: Stack, post: Post): Promise<Result> {
  const { service, apiUrl } = stack;
  const workflowId = await service.define('Three tools, by events', chain(3));
  const url = await enable(stack, workflowId);
  // A signature starts one run, so events of the same second need different bodies.
  const newBody = () => JSON.stringify({ ticket: 'The printer is on fire', sent: randomUUID() });
  // Each side ends its run before the other starts; only the response is timed.
  const measured = async (trigger: () => ReturnType<Post>): Promise<number> => {
    let runId = '';
    const ms = await timed(async () => {
      runId = (await trigger()).run_id;
    });
    await service.until(runId, 'ended');
    return ms;
  };
  const byHand = `${apiUrl}/api/workflows/${workflowId}/runs`;
  const ours = () => {
    const body = newBody();
    return measured(() => post(url, body, sign(url, body, randomUUID())));
  };
  const baseline = () =>
    measured(() => post(byHand, newBody(), { 'content-type': 'application/json' }));
  await interleave({ count: 10, least: 10, budgetMs: 1_000 }, ours, baseline);
  const samples = await interleave({ count: 150, least: 30, budgetMs: 30_000 }, ours, baseline);
  return compareSamples(samples, {
    measure: 'webhook with signature and event id / trigger by hand',
    unit: 'ms',
    bound: atMost(1.3),
    notes: ['both over HTTP, until the answer'],
  });
}

async function copied(stack: Stack, processes: Processes, post: Post): Promise<Result> {
  const workflowId = await stack.service.define('One tool, by events', chain(1));
  const url = await enable(stack, workflowId);
  const [port = 0] = await freePorts(1);
  const server = await processes.startNode({
    name: 'bare-server',
    script: 'bench/bare/server.ts',
    env: { ...stack.environment, API_PORT: String(port) },
  });
  const bareUrl = `http://127.0.0.1:${port}/event/${workflowId}`;
  const atOnce = async (send: () => Promise<unknown>): Promise<number[]> =>
    Promise.all(Array.from({ length: copies }, () => timed(send)));
  const ours = async (): Promise<number[]> => {
    const eventId = randomUUID();
    const body = JSON.stringify({ event: eventId });
    const headers = sign(url, body, eventId);
    let runs = 0;
    const latencies = await atOnce(async () => {
      if ((await post(url, body, headers)).status === 'pending') runs += 1;
    });
    if (runs !== 1) throw new Error(`${copies} copies of one event started ${runs} runs`);
    return latencies;
  };
  const baseline = async (): Promise<number[]> => {
    const eventId = randomUUID();
    return atOnce(() => post(`${bareUrl}/${eventId}`));
  };
  const latencies = { ours: [] as number[], baseline: [] as number[] };
  for (let round = 0; round < rounds + 5; round += 1) {
    const pair = { ours: await ours(), baseline: await baseline() };
    // The first iterations open connections and prepare statements.
    if (round < 5) continue;
    latencies.ours.push(...pair.ours);
    latencies.baseline.push(...pair.baseline);
  }
  await processes.stop(server);
  await query(stack.databaseUrl, 'DELETE FROM webhook_events WHERE workflow_id = $1', [workflowId]);
  const p99 = (of: number[]) => ({
    median: percentile(of, 99),
    p95: percentile(of, 99),
    samples: of.length,
  });
  const median = (of: number[]) => percentile(of, 50).toFixed(1);
  return compare({
    measure: `${copies} copies of one event at once / bare insert on conflict, p99`,
    unit: 'ms',
    ours: p99(latencies.ours),
    baseline: p99(latencies.baseline),
    bound: atMost(1.5),
    notes: [
      `${rounds} rounds, one run each; median ${median(latencies.ours)} / ${median(latencies.baseline)} ms`,
      'the bare server reads no webhook, checks no signature and starts nothing',
    ],
  });
}
