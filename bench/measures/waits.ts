import { createCall } from '#bench/api-client.ts';
import { ordinaryChain } from '#bench/graphs.ts';
import { atLeast, atMost, compare, figure, type Result, single } from '#bench/result.ts';
import { query, type Stack } from '#bench/stack.ts';
import { flood, pause, percentile, timed } from '#bench/statistics.ts';
import { createTenant, type Tenant } from '#bench/tenant.ts';
import { readLag } from './stalls.ts';

const TIMED = 5_000;
const AWAITED = 10_000;
const AT_ONCE = 30;
/** Runs whose start says how long the others will take. */
const FIRST = 500;
const SAMPLES_ALONE = 100;
const LOOK_MS = 200;
/** The time between the beginnings of two runs of the other tenant. */
const INTERVAL_MS = 500;

/** Many waits that end at one moment, and many events that each end one of as many waits. */
export async function waits(stack: Stack): Promise<Result[]> {
  const other = await createTenant(stack, 'Beside');
  try {
    const beside = await sampler(other);
    for (let n = 0; n < 10; n += 1) await beside.take();
    const alone: number[] = [];
    await everyInterval(
      () => alone.length < SAMPLES_ALONE,
      async () => void alone.push(await beside.take()),
    );
    return [...(await oneDeadline(stack, beside, alone)), ...(await manyEvents(stack))];
  } finally {
    await other.close();
  }
}

async function oneDeadline(
  stack: Stack,
  beside: Sampler,
  alone: readonly number[],
): Promise<Result[]> {
  const first = await manyDue(stack, async (open) => {
    while ((await open()) > 0) await pause(LOOK_MS);
  });
  const times: number[] = [];
  const second = await manyDue(stack, async (open) => {
    let left = TIMED;
    await everyInterval(
      () => left > 0,
      async () => {
        times.push(await beside.take());
        left = await open();
      },
    );
  });
  return [
    compare({
      measure: `runs per second, ${TIMED} waits that end at one time / their starts`,
      unit: 'runs/s',
      ours: single((TIMED * 1_000) / first.ending),
      baseline: single((TIMED * 1_000) / first.starting),
      bound: atLeast(0.8),
      notes: [
        `beside the other tenant's runs ${((TIMED * 1_000) / second.ending).toFixed(1)} runs/s`,
      ],
    }),
    compare({
      measure: `another tenant's run of 3 ordinary steps beside them / without, p95`,
      unit: 'ms',
      ours: figure(times),
      baseline: figure(alone),
      value: percentile(times, 95) / percentile(alone, 95),
      bound: atMost(2),
      notes: [`a run begins every ${INTERVAL_MS} ms, unless the one before has not ended`],
    }),
  ];
}

/** How long it takes to start runs that wait for one time, and to end them then, in ms. */
async function manyDue(
  { service, databaseUrl }: Stack,
  meanwhile: (open: () => Promise<number>) => Promise<void>,
): Promise<{ starting: number; ending: number }> {
  const workflow = await service.define('Until a time', {
    nodes: [{ id: 'sleep', kind: 'wait', until: '{at}' }],
    edges: [],
  });
  const far = new Date(Date.now() + 3_600_000).toISOString();
  const first = await timed(async () => {
    await flood(FIRST, AT_ONCE, () => service.trigger(workflow, { at: far }));
    await allOpen(databaseUrl, workflow, FIRST);
  });
  const due = Date.now() + 1.5 * first * (TIMED / FIRST) + 10_000;
  const at = new Date(due).toISOString();
  const starting = await timed(async () => {
    await flood(TIMED, AT_ONCE, () => service.trigger(workflow, { at }));
    await allOpen(databaseUrl, workflow, TIMED + FIRST, due);
  });
  await pause(due - Date.now());
  await meanwhile(async () => (await openRuns(databaseUrl, workflow)) - FIRST);
  const ending = (await lastEnd(databaseUrl, workflow)) - due;
  await service.remove(workflow);
  return { starting, ending };
}

/** Begins the next one at a fixed rate, however long each takes, unless the one before has not ended. */
async function everyInterval(more: () => boolean, act: () => Promise<void>): Promise<void> {
  while (more()) {
    const next = pause(INTERVAL_MS);
    await act();
    await next;
  }
}

async function manyEvents(stack: Stack): Promise<Result[]> {
  const { service, databaseUrl, apiUrl } = stack;
  const call = createCall(apiUrl);
  const workflow = await service.define('Until it is paid', {
    nodes: [
      { id: 'paid', kind: 'wait', event: { name: 'paid', match: 'event.data.invoice == invoice' } },
    ],
    edges: [],
  });
  let invoice = 0;
  const starting = await timed(async () => {
    await flood(AWAITED, AT_ONCE, () => service.trigger(workflow, { invoice: (invoice += 1) }));
    await allOpen(databaseUrl, workflow, AWAITED);
  });
  await readLag(stack, 'busy');
  let paid = 0;
  const ending = await timed(async () => {
    await flood(AWAITED, AT_ONCE, () =>
      call('POST', '/api/events', { name: 'paid', data: { invoice: (paid += 1) } }),
    );
    while ((await openRuns(databaseUrl, workflow)) > 0) await pause(LOOK_MS);
  });
  const busy = await readLag(stack, 'busy');
  await service.remove(workflow);
  return [
    compare({
      measure: `runs per second, ${AWAITED} events for as many waits / their starts`,
      unit: 'runs/s',
      ours: single((AWAITED * 1_000) / ending),
      baseline: single((AWAITED * 1_000) / starting),
      bound: atLeast(0.8),
    }),
    ...(['api', 'worker'] as const).map((part) =>
      compare({
        measure: `longest stall by the ${part}'s own work while ${AWAITED} events are matched`,
        unit: 'ms',
        ours: single(busy[part]),
        bound: atMost(50),
      }),
    ),
  ];
}

interface Sampler {
  /** How long a run of the other tenant takes, in ms. */
  take: () => Promise<number>;
}

async function sampler({ send }: Tenant): Promise<Sampler> {
  const { id } = (await send('POST', '/api/workflows', {
    name: 'Beside',
    graph: ordinaryChain(3),
  })) as { id: string };
  return {
    take: () =>
      timed(async () => {
        const { run_id: run } = (await send('POST', `/api/workflows/${id}/runs`, {})) as {
          run_id: string;
        };
        for (;;) {
          const { status } = (await send('GET', `/api/runs/${run}`)) as { status: string };
          if (status === 'success') return;
          if (status === 'failed') throw new Error('a run of the other tenant has failed');
          await pause(5);
        }
      }),
  };
}

/** Waits until so many waits are open. Throws if they are not at `due`, in ms since 1970. */
async function allOpen(
  url: string,
  workflow: string,
  wanted: number,
  due = Date.now() + 600_000,
): Promise<void> {
  for (;;) {
    const [row] = await query<{ open: string }>(
      url,
      `SELECT count(*) AS open FROM run_waits w JOIN runs r ON r.id = w.run_id
       WHERE r.workflow_id = $1 AND w.status = 'open'`,
      [workflow],
    );
    if (Number(row?.open) >= wanted) return;
    if (Date.now() > due) throw new Error(`${row?.open} of ${wanted} waits were open in time`);
    await pause(LOOK_MS);
  }
}

async function openRuns(url: string, workflow: string): Promise<number> {
  const [row] = await query<{ open: string }>(
    url,
    `SELECT count(*) AS open FROM runs WHERE workflow_id = $1 AND finished_at IS NULL`,
    [workflow],
  );
  return Number(row?.open);
}

/** When the last run ended, in ms since 1970. */
async function lastEnd(url: string, workflow: string): Promise<number> {
  const [row] = await query<{ last: number }>(
    url,
    `SELECT extract(epoch FROM max(finished_at))::float8 * 1000 AS last FROM runs WHERE workflow_id = $1`,
    [workflow],
  );
  return row?.last ?? NaN;
}
