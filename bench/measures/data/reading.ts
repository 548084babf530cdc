import { readFileSync } from 'node:fs';
import autocannon from 'autocannon';
import pg from 'pg';
import { request } from 'undici';
import { freePorts } from '#scripts/stack/ports.ts';
import type { Processes } from '#bench/processes.ts';
import { atLeast, atMost, compare, compareSamples, figure, type Result } from '#bench/result.ts';
import type { Stack } from '#bench/stack.ts';
import { interleave, median, percentile, timed } from '#bench/statistics.ts';
import { bringUp, list, pageAt, questions, type Records, workspaceId } from './records.ts';

const few = 10_000;
const many = 1_000_000;
const deepPage = 300;
const limits = { count: 300, least: 100, budgetMs: 10_000 };

/**
 * Compares reading a million records with reading ten thousand, in another database on the same server behind another
 * API process.
 */
export async function dataReading(stack: Stack, processes: Processes): Promise<Result[]> {
  const little = await bringUp(stack, processes, 'records_few', few);
  const large = await bringUp(stack, processes, 'records_many', many);
  return [
    ...(await pages(large, little)),
    await filters(large),
    await rate(stack, processes, large),
    ...(await csvExport(large)),
  ];
}

async function pages(large: Records, little: Records): Promise<Result[]> {
  const results: Result[] = [];
  for (const [name, count] of [
    ['first page', 1],
    [`page ${deepPage}`, deepPage],
  ] as const) {
    const [ours, baseline] = [await pageAt(large, count), await pageAt(little, count)];
    const samples = await interleave(
      limits,
      () => timed(() => list(large, ours)),
      () => timed(() => list(little, baseline)),
    );
    results.push(
      compareSamples(samples, {
        measure: `list records, ${name}, 1,000,000 / 10,000`,
        unit: 'ms',
        bound: atMost(1.5),
        notes: ['25 records a page; both are ours'],
      }),
    );
  }
  return results;
}

/** Measures the first page of a list and the page after it. */
async function filters(large: Records): Promise<Result> {
  const worst: { question: string; p95: number; samples: number[] }[] = [];
  for (const question of questions()) {
    for (const limit of [25, 100]) {
      const path = `/v1/entities?${question}&limit=${limit}`;
      const { next_cursor } = (await list(large, path)).pagination;
      const next = next_cursor === null ? path : `${path}&cursor=${next_cursor}`;
      const samples: number[] = [];
      for (let round = 0; round < 20; round += 1) {
        samples.push(await timed(() => list(large, round % 2 === 0 ? path : next)));
      }
      worst.push({ question: `${question}&limit=${limit}`, p95: percentile(samples, 95), samples });
    }
  }
  worst.sort((a, b) => b.p95 - a.p95);
  const [slowest] = worst;
  return compare({
    measure: 'list records, slowest filter or two of 1,000,000, p95',
    unit: 'ms',
    ours: figure(slowest?.samples ?? []),
    value: slowest?.p95 ?? Number.NaN,
    bound: atMost(50),
    notes: [
      `${worst.length} combinations; the median one takes ${median(worst.map((each) => each.p95)).toFixed(1)} ms`,
      `slowest: ${worst
        .slice(0, 3)
        .map((each) => `${each.question} ${each.p95.toFixed(0)} ms`)
        .join(', ')}`,
    ],
  });
}

const connections = 10;

async function rate(stack: Stack, processes: Processes, large: Records): Promise<Result> {
  const [port = 0] = await freePorts(1);
  const server = await processes.startNode({
    name: 'bare-server-of-records',
    script: 'bench/bare/server.ts',
    env: { ...stack.environment, DATABASE_URL: large.databaseUrl, API_PORT: String(port) },
  });
  const fire = async (url: string, duration: number): Promise<number> => {
    const result = await autocannon({ url, connections, duration, headers: large.headers });
    if (result.non2xx > 0 || result.errors > 0) {
      throw new Error(`${result.non2xx} answers and ${result.errors} connections failed at ${url}`);
    }
    return result.requests.total / result.duration;
  };
  const urls = [
    `${large.apiUrl}/v1/entities`,
    `http://127.0.0.1:${port}/entities/${workspaceId}`,
  ] as const;
  for (const url of urls) await fire(url, 1);
  const [ours, bare]: [number[], number[]] = [[], []];
  for (let round = 0; round < 4; round += 1) {
    ours.push(await fire(urls[0], 3));
    bare.push(await fire(urls[1], 3));
  }
  await processes.stop(server);
  return compare({
    measure: 'list records, metered / bare Fastify, same statement',
    unit: 'requests/s',
    ours: figure(ours),
    baseline: figure(bare),
    value: median(ours.map((each, round) => each / (bare[round] ?? Number.NaN))),
    bound: atLeast(0.5, 0.6),
    notes: [`${connections} connections of one key, 25 records a page`],
  });
}

async function csvExport(large: Records): Promise<Result[]> {
  const send = async (): Promise<void> => {
    const response = await request(`${large.apiUrl}/v1/exports`, {
      method: 'POST',
      headers: { ...large.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ kind: 'entities', format: 'csv' }),
    });
    let bytes = 0;
    for await (const chunk of response.body) bytes += (chunk as Buffer).length;
    if (response.statusCode !== 200 || bytes < 1_000_000) throw new Error(`export: ${bytes} bytes`);
  };
  const client = new pg.Client({ connectionString: large.databaseUrl });
  await client.connect();
  for (let warm = 0; warm < 5; warm += 1) await send();
  const growth: number[] = [];
  const samples = await interleave(
    { count: 20, least: 10, budgetMs: 20_000 },
    () => timed(async () => growth.push(await grownBy(large.pid, send))),
    () => timed(() => copy(client)),
  );
  await client.end();
  const [ours, baseline] = [samples.map((each) => each.ours), samples.map((each) => each.baseline)];
  return [
    compare({
      measure: 'export 10,000 records as CSV, speed / COPY',
      unit: 'ms',
      ours: figure(ours),
      baseline: figure(baseline),
      value: median(baseline) / median(ours),
      bound: atLeast(0.2),
      notes: ['the value is that of rows per second'],
    }),
    compare({
      measure: 'memory an export adds to its process',
      unit: 'MB',
      ours: figure(growth),
      value: percentile(growth, 95),
      bound: atMost(30),
      notes: [
        `from the moment before an export to the most during it, 95th of 100; ${residentMb(large.pid).toFixed(0)} MB after all ${growth.length}`,
      ],
    }),
  ];
}

/** The peak growth of a process during some work, in MB above its size before. */
async function grownBy(pid: number, work: () => Promise<void>): Promise<number> {
  const before = residentMb(pid);
  let most = before;
  const look = (): void => {
    most = Math.max(most, residentMb(pid));
  };
  const watch = setInterval(look, 5);
  try {
    await work();
    look();
  } finally {
    clearInterval(watch);
  }
  return most - before;
}

const residentMb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

/** The same columns and rows, written by the database. The client discards the bytes. */
function copy(client: pg.Client): Promise<void> {
  return new Promise((resolve, reject) => {
    const ignore = (): void => undefined;
    const command = {
      submit: (connection: { query: (text: string) => void }) => {
        connection.query(`COPY (
          SELECT id, feed_id, entity_type, canonical_name, aliases, attributes, external_ids, geography, status,
                 verification_status, confidence, version, source_evidence, first_observed_at, last_observed_at,
                 last_verified_at, updated_at, is_demo
          FROM data_entities WHERE workspace_id = '${workspaceId}' AND NOT is_demo
          ORDER BY first_observed_at DESC, seq DESC LIMIT 10000) TO STDOUT (FORMAT csv, HEADER)`);
      },
      handleCopyData: ignore,
      handleCommandComplete: ignore,
      handleReadyForQuery: () => resolve(),
      handleError: reject,
    };
    client.query(command as unknown as pg.Submittable);
  });
}
