import { chain } from '#bench/graphs.ts';
import { atMost, compare, figure, type Result } from '#bench/result.ts';
import { query, type Stack } from '#bench/stack.ts';
import { pause, percentile } from '#bench/statistics.ts';

const SCHEDULES = 300;
const MADE_AT_ONCE = 10;
const MINUTE_MS = 60_000;
/** Temporal must have all of them before they are due. */
const LEAD_MS = 15_000;

/** The delay from the full minute to the last run of many schedules that are due in it. */
export async function schedules({ service, apiUrl, databaseUrl }: Stack): Promise<Result[]> {
  const workflow = await service.define('Scheduled', chain(1));
  const made = performance.now();
  const due = await makeSchedules(apiUrl, workflow);
  const making = (performance.now() - made) / 1_000;
  await allSynced(databaseUrl);
  const late = Date.now() > due - 1_000;
  if (late) throw new Error('the schedules were not made in time for their minute');
  await pause(due - Date.now());
  const lags = await admitted(databaseUrl, due);
  const ended = await lastEnd(databaseUrl, due);
  await service.remove(workflow);
  return [
    compare({
      measure: `${SCHEDULES} schedules due at once, from the minute to the run`,
      unit: 's',
      ours: figure(lags),
      value: Math.max(...lags),
      bound: atMost(60),
      notes: [
        `last run admitted after ${Math.max(...lags).toFixed(1)} s, nine tenths after ${percentile(lags, 90).toFixed(1)} s; ` +
          `all runs ended after ${ended.toFixed(1)} s; making the schedules took ${making.toFixed(1)} s`,
      ],
    }),
  ];
}

/** All due at the same full minute; returns that minute, in ms since 1970. */
async function makeSchedules(apiUrl: string, workflowId: string): Promise<number> {
  const due = new Date(Math.ceil((Date.now() + LEAD_MS + MINUTE_MS / 2) / MINUTE_MS) * MINUTE_MS);
  const body = JSON.stringify({
    workflow_id: workflowId,
    cron: `${due.getUTCMinutes()} ${due.getUTCHours()} * * *`,
  });
  const make = async (): Promise<void> => {
    const answer = await fetch(`${apiUrl}/api/schedules`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    if (answer.status !== 201) throw new Error(`POST /api/schedules answered ${answer.status}`);
    await answer.arrayBuffer();
  };
  for (let count = 0; count < SCHEDULES; count += MADE_AT_ONCE) {
    await Promise.all(Array.from({ length: MADE_AT_ONCE }, make));
  }
  return due.getTime();
}

async function allSynced(databaseUrl: string): Promise<void> {
  for (;;) {
    const rows = await query(
      databaseUrl,
      'SELECT FROM schedules WHERE told_revision < revision LIMIT 1',
    );
    if (rows.length === 0) return;
    await pause(200);
  }
}

/** Seconds from the minute to each run, once all runs exist. */
async function admitted(databaseUrl: string, due: number): Promise<number[]> {
  for (;;) {
    const rows = await query<{ lag: number }>(
      databaseUrl,
      `SELECT extract(epoch FROM created_at - due_at)::float8 AS lag FROM runs
       WHERE due_at = to_timestamp($1::float8 / 1000)`,
      [due],
    );
    if (rows.length >= SCHEDULES) return rows.map((row) => row.lag);
    if (Date.now() > due + 3 * MINUTE_MS) {
      throw new Error(`only ${rows.length} of ${SCHEDULES} schedules have their run`);
    }
    await pause(500);
  }
}

/** Seconds from the minute to the end of the last run. */
async function lastEnd(databaseUrl: string, due: number): Promise<number> {
  for (;;) {
    const [row] = await query<{ open: string; last: number | null }>(
      databaseUrl,
      `SELECT count(*) FILTER (WHERE finished_at IS NULL) AS open,
              max(extract(epoch FROM finished_at - due_at))::float8 AS last
       FROM runs WHERE due_at = to_timestamp($1::float8 / 1000)`,
      [due],
    );
    if (row?.open === '0') return row.last ?? NaN;
    await pause(500);
  }
}
