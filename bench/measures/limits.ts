import { createCall } from '#bench/api-client.ts';
import { chain } from '#bench/graphs.ts';
import { atMost, compare, figure, type Result } from '#bench/result.ts';
import { query, type Stack } from '#bench/stack.ts';
import { flood, percentile } from '#bench/statistics.ts';

const RUNS = 100;
const AT_ONCE = 10;

/** How soon the next run of a queue begins to work when the one before it has ended. */
export async function limits({ service, apiUrl, databaseUrl }: Stack): Promise<Result[]> {
  const workflow = await service.define('One at a time', chain(1));
  await createCall(apiUrl)('PUT', `/api/workflows/${workflow}/limits`, {
    concurrency: { limit: 1 },
  });
  const ids: string[] = [];
  await flood(RUNS, AT_ONCE, async () => void ids.push(await service.trigger(workflow)));
  await Promise.all(ids.map((id) => service.until(id, 'ended', 120_000)));
  const rows = await query<{ ms: number; overlaps: boolean }>(
    databaseUrl,
    `SELECT extract(epoch FROM started_at - before)::float8 * 1000 AS ms, started_at < before AS overlaps
     FROM (SELECT started_at, lag(finished_at) OVER (ORDER BY started_at) AS before FROM runs WHERE workflow_id = $1) AS r
     WHERE before IS NOT NULL`,
    [workflow],
  );
  if (rows.length !== RUNS - 1) throw new Error(`${rows.length + 1} of ${RUNS} runs have begun`);
  if (rows.some(({ overlaps }) => overlaps)) throw new Error('two runs were in flight at once');
  const times = rows.map(({ ms }) => ms);
  await service.remove(workflow);
  return [
    compare({
      measure: 'from the end of a run to the beginning of the next one of its queue, p95',
      unit: 'ms',
      ours: figure(times),
      value: percentile(times, 95),
      bound: atMost(100),
      notes: [`${RUNS} runs of a workflow with one slot, by the clock of the database`],
    }),
  ];
}
