import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MAX_VALUES } from '#shared/outside-json.ts';
import { chain } from '#bench/graphs.ts';
import { atMost, compare, figure, type Result, single } from '#bench/result.ts';
import { query, type Stack } from '#bench/stack.ts';
import { pause, percentile, timed } from '#bench/statistics.ts';
import { createTenant, type Tenant } from '#bench/tenant.ts';
import { readLag } from './stalls.ts';

const SAMPLES = 100;
const LOOK_MS = 100;
/** Stored by releases without a limit: 4.8 MB, which take half a second to parse. */
const OLD_VALUES = 1_600_000;

/** As many values as fit into this much text. */
const lists = (values: number): string => `[${'[],'.repeat(values - 2)}[]]`;

/**
 * One tenant repeatedly forks, rehearses and reruns a run with the largest state: one with as many values as a result
 * from outside can have, or one that was stored before there was a limit. Measures the longest stall of the worker's
 * main thread, and the runs of another tenant in the meantime.
 */
export async function largeStates(stack: Stack): Promise<Result[]> {
  const victim = await stack.service.define('Beside large states', chain(3));
  const heavy = await createTenant(stack, 'Heavy');
  const time = () => timed(() => stack.service.run(victim));
  try {
    const largest = await largestRun(heavy);
    const old = await oldRun(stack, heavy);
    for (let n = 0; n < 10; n += 1) await time();
    await readLag(stack);
    const alone = await sample(time);
    const quiet = await readLag(stack);
    const results: Result[] = [];
    for (const [what, run] of [
      ['the largest state', largest],
      ['a state of earlier releases', old],
    ] as const) {
      const again = startAgain(heavy, run);
      await readLag(stack);
      const beside = await sample(time);
      const lag = await readLag(stack);
      const started = await again.end();
      results.push(
        compare({
          measure: `longest stall of the worker beside forks and rehearsals of ${what}`,
          unit: 'ms',
          ours: single(lag.worker),
          bound: atMost(100),
          notes: [`without them ${quiet.worker.toFixed(0)} ms; ${started}`],
        }),
        compare({
          measure: `another tenant's run of 3 nodes beside forks and rehearsals of ${what} / without, p95`,
          unit: 'ms',
          ours: figure(beside),
          baseline: figure(alone),
          value: percentile(beside, 95) / percentile(alone, 95),
          bound: atMost(2),
        }),
      );
    }
    return results;
  } finally {
    await heavy.cancelRuns();
    await heavy.close();
  }
}

async function sample(time: () => Promise<number>): Promise<number[]> {
  const times: number[] = [];
  while (times.length < SAMPLES) times.push(await time());
  return times;
}

/** A run whose state has as many values as one result from outside can have. */
async function largestRun(heavy: Tenant): Promise<string> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(lists(MAX_VALUES));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  try {
    return await runThen(heavy, 'Largest', {
      ...{ id: 'read', kind: 'tool', tool_name: 'http_request' },
      params: { url: `http://127.0.0.1:${port}/` },
    });
  } finally {
    server.close();
  }
}

/** A run whose first step has a result that no release since would take. */
async function oldRun({ databaseUrl }: Stack, heavy: Tenant): Promise<string> {
  const started = await runThen(heavy, 'Old', {
    ...{ id: 'read', kind: 'tool', tool_name: 'json_transform', params: { expression: '1' } },
  });
  await query(
    databaseUrl,
    `UPDATE steps SET output = $2::json WHERE run_id = $1 AND step_key = 'read'`,
    [started, lists(OLD_VALUES)],
  );
  return started;
}

async function runThen(heavy: Tenant, name: string, read: object): Promise<string> {
  const next = {
    id: 'next',
    kind: 'tool',
    tool_name: 'json_transform',
    params: { expression: '1' },
  };
  const graph = { nodes: [read, next], edges: [{ source: 'read', target: 'next' }] };
  const { id } = (await heavy.send('POST', '/api/workflows', { name, graph })) as { id: string };
  const { run_id: runId } = (await heavy.send('POST', `/api/workflows/${id}/runs`, {})) as {
    run_id: string;
  };
  const status = await ended(heavy, runId);
  if (status !== 'run_completed') throw new Error(`the run '${name}' is ${status}`);
  return runId;
}

/** The frame with which a run ended. It reads the run's frames, which do not contain its state. */
async function ended(heavy: Tenant, runId: string): Promise<string> {
  for (;;) {
    const { events } = (await heavy.send('GET', `/api/runs/${runId}/events`)) as {
      events: { frame: { type: string } }[];
    };
    const last = events.at(-1)?.frame.type ?? '';
    if (last === 'run_completed' || last === 'run_failed') return last;
    await pause(LOOK_MS);
  }
}

/**
 * Forks and rehearses a run repeatedly until `end`, which resolves with the number of times, and how the last one
 * ended.
 */
function startAgain(heavy: Tenant, runId: string): { end(): Promise<string> } {
  const outcomes = new Map<string, number>();
  let stopped = false;
  const again = async (path: string, body: object): Promise<void> => {
    while (!stopped) {
      const answer = await heavy.sendForText('POST', `/api/runs/${runId}/${path}`, body);
      const id = /^\{"id":"(\w+)"/.exec(answer)?.[1];
      const outcome = id === undefined ? `refused (${answer})` : await ended(heavy, id);
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      await pause(LOOK_MS);
    }
  };
  const requests: [string, object][] = [
    ['fork', { from_step: 'next' }],
    ['rerun', { mode: 'recorded' }],
    ['fork', { from_step: 'next', mode: 'recorded' }],
  ];
  const pending = requests.map(([path, body]) => again(path, body));
  return {
    end: async () => {
      stopped = true;
      await Promise.all(pending);
      return [...outcomes].map(([outcome, count]) => `${count} × ${outcome}`).join(', ');
    },
  };
}
