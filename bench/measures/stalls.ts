import { request } from 'undici';
import { chain } from '#bench/graphs.ts';
import { atMost, compare, figure, type Result, single } from '#bench/result.ts';
import type { Stack } from '#bench/stack.ts';
import { pause, percentile } from '#bench/statistics.ts';
import { createTenant, type Tenant } from '#bench/tenant.ts';

const ROUNDS = 2;
/** Runs of the other tenant in each part of an iteration. */
const RUNS = 75;
/** Each attack restarts when it has ended, but at most once per this interval. */
const AGAIN_MS = 2_000;
const LOOK_MS = 250;
/** With the pattern below, just within the limits of a transform. */
const TEXT_LENGTH = 35_000;

/**
 * The impact of one tenant on the API and the worker: the longest stall of their event loops, and the duration of
 * another tenant's runs with and without the attack.
 */
export async function stalls(stack: Stack): Promise<Result[]> {
  const attacker = await createAttacker(stack);
  const victim = await stack.service.define('Beside an attacker', chain(3));
  const time = async (): Promise<number> => {
    const began = performance.now();
    await stack.service.run(victim);
    return performance.now() - began;
  };
  try {
    for (let n = 0; n < 10; n += 1) await time();
    const alone: number[] = [];
    const beside: Record<AttackKind, number[]> = { judging: [], computing: [] };
    const quiet: Lag[] = [];
    const lags: Lag[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      await readLag(stack);
      for (let n = 0; n < RUNS; n += 1) alone.push(await time());
      quiet.push(await readLag(stack));
      for (const kind of attackKinds) {
        const attack = attacker.begin(kind);
        try {
          await pause(AGAIN_MS);
          for (let n = 0; n < RUNS; n += 1) beside[kind].push(await time());
          lags.push(await readLag(stack));
        } finally {
          await attack.end();
        }
      }
    }
    const summary = attacker.summary();
    return [
      ...(['api', 'worker'] as const).map((part) =>
        compare({
          measure: `longest stall of the ${part} under attack`,
          unit: 'ms',
          ours: single(Math.max(...lags.map((lag) => lag[part]))),
          bound: { ...atMost(200), aim: 50 },
          notes: [
            `without an attack ${Math.max(...quiet.map((lag) => lag[part])).toFixed(0)} ms`,
            ...(part === 'api' ? [summary] : []),
          ],
        }),
      ),
      ...attackKinds.map((kind) =>
        compare({
          measure: `another tenant's run of 3 nodes beside costly ${kind} / without, p95`,
          unit: 'ms',
          ours: figure(beside[kind]),
          baseline: figure(alone),
          value: percentile(beside[kind], 95) / percentile(alone, 95),
          bound: { ...atMost(2), aim: 1.3 },
        }),
      ),
    ];
  } finally {
    await attacker.close();
  }
}

interface Lag {
  api: number;
  worker: number;
}

/**
 * The longest delay of each event loop since the last read, in ms. `busy`: only what its thread has computed, without the
 * time in which it waited for a processor.
 */
export async function readLag(
  { apiUrl, workerMetricsUrl }: Stack,
  what: 'lag' | 'busy' = 'lag',
): Promise<Lag> {
  const figure = new RegExp(`^nodejs_eventloop_${what}_max_seconds (\\S+)$`, 'm');
  const [api, worker] = await Promise.all(
    [`${apiUrl}/metrics`, workerMetricsUrl].map(async (url) => {
      const text = await (await request(url)).body.text();
      return Number(figure.exec(text)?.[1]) * 1_000;
    }),
  );
  return { api: api ?? Number.NaN, worker: worker ?? Number.NaN };
}

/**
 * Judging: checks of a run, schemas of tools, policies. Computing: many steps and conditions at once, whose number
 * costs more than their computations on a machine with two cores.
 */
const attackKinds = ['judging', 'computing'] as const;
type AttackKind = (typeof attackKinds)[number];

interface Attacker {
  begin(kind: AttackKind): { end(): Promise<void> };
  /** The counts of response statuses. */
  summary(): string;
  close(): Promise<void>;
}

/** The slowest linear pattern for RE2: it never matches, and every match remains possible until the end. */
const COSTLY = '(?i)(?:a[ab]{0,30}){0,8}c';

async function createAttacker(stack: Stack): Promise<Attacker> {
  const tenant = await createTenant(stack, 'Attacker');
  const { send } = tenant;
  const attacks = await createAttacks(send);
  return {
    begin: (kind) => {
      const stop = new AbortController();
      const pending = attacks[kind].map((attack) => repeat(attack, stop.signal));
      return {
        end: async () => {
          stop.abort();
          await tenant.cancelRuns();
          await Promise.all(pending);
          await pause(2 * AGAIN_MS);
        },
      };
    },
    summary: () =>
      `answers to the attacker: ${[...tenant.answers].map(([status, count]) => `${count} × ${status}`).join(', ')}`,
    close: tenant.close,
  };
}

/** Each attack runs to its end. Its outcome does not matter: some requests are refused. */
type Attacks = Record<AttackKind, (() => Promise<unknown>)[]>;

async function createAttacks(send: Tenant['send']): Promise<Attacks> {
  const { parallel, conditions, checked } = await defineCostly(send);
  const text = unordered(TEXT_LENGTH);
  const input = { text, part: text.slice(0, 300) };
  const runOf = (workflow: string) => async () => {
    const { run_id: id } = (await send('POST', `/api/workflows/${workflow}/runs`, input)) as {
      run_id?: string;
    };
    if (id !== undefined) await ended(send, id);
  };
  let sent = 0;
  const registerTool = () => {
    sent += 1;
    return send('POST', '/api/tools', {
      name: `tool_${sent}`,
      description: 'Takes long to compile',
      kind: 'http',
      endpoint_url: 'https://example.net/',
      input_schema: slowSchema(String(sent)),
    });
  };
  const policies = slowPolicies();
  return {
    judging: [
      runOf(checked),
      ...Array.from({ length: 10 }, () => registerTool),
      () => send('PUT', '/api/workspace/policies', policies),
    ],
    computing: [runOf(parallel), runOf(conditions)],
  };
}

/** Defines the workflows of the attacks and returns their ids. */
async function defineCostly(
  send: Tenant['send'],
): Promise<{ parallel: string; conditions: string; checked: string }> {
  const define = async (name: string, graph: object): Promise<string> =>
    ((await send('POST', '/api/workflows', { name, graph })) as { id: string }).id;
  const transform = (id: string, expression: string) => ({
    id,
    kind: 'tool',
    tool_name: 'json_transform',
    params: { expression },
  });
  const parallel = await define('Parallel transforms', {
    nodes: Array.from({ length: 40 }, (_, n) =>
      transform(`n${n}`, `matches(text, '${COSTLY}${n}')`),
    ),
    edges: [],
  });
  const conditions = await define('Conditions', {
    nodes: Array.from({ length: 40 }, (_, n) => [
      transform(`n${n}`, '1'),
      { id: `c${n}`, kind: 'condition', expression: `matches(part, '${COSTLY}${n}')` },
    ]).flat(),
    edges: Array.from({ length: 40 }, (_, n) => ({ source: `n${n}`, target: `c${n}` })),
  });
  const checked = await define('Checks', { nodes: [transform('n', '1')], edges: [] });
  await send(
    'PUT',
    `/api/workflows/${checked}/checks`,
    Array.from({ length: 100 }, (_, n) => ({
      name: `check ${n}`,
      type: 'regex',
      target: 'text',
      value: `${COSTLY}${n}`,
    })),
  );
  return { parallel, conditions, checked };
}

/** A schema that is slow to compile. */
const slowSchema = (title: string) => ({
  title,
  properties: Object.fromEntries(
    Array.from({ length: 1_000 }, (_, n) => [
      `property_${n}`,
      { type: 'string', pattern: `^[a-z]{1,9}${n}$` },
    ]),
  ),
});

/** Policies that are slow to compile. */
function slowPolicies(): object {
  const slow = `(?i)${'[\u0000-\uffff]{9}'.repeat(31)}`;
  return {
    tools: Array.from({ length: 6 }, (_, tool) => ({
      tool: `t${tool}`,
      blocked_arguments: Array.from({ length: 50 }, (_each, n) => ({
        argument: 'a',
        pattern: `${slow}${tool}_${n}`,
      })),
    })),
  };
}

async function ended(send: Tenant['send'], runId: string): Promise<void> {
  for (;;) {
    const { status } = (await send('GET', `/api/runs/${runId}`)) as { status: string };
    if (status !== 'pending' && status !== 'running') return;
    await pause(LOOK_MS);
  }
}

async function repeat(attack: () => Promise<unknown>, stopped: AbortSignal): Promise<void> {
  while (!stopped.aborted) {
    const began = performance.now();
    await attack().catch(() => undefined);
    await pause(Math.max(0, AGAIN_MS - (performance.now() - began)));
  }
}

/** The letters a and b in a pseudorandom order, the same in every run of the benchmark. */
function unordered(length: number): string {
  let seed = 1;
  return Array.from({ length }, () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed > 1_073_741_824 ? 'a' : 'b';
  }).join('');
}
