import { beforeEach, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { z } from 'zod';
import { connectDatabase, type Pool, sql } from '#shared/db/pool.ts';
import { foldUsage, readOverview, readUsage } from '#shared/db/money/usage.ts';
import { newId } from '#shared/crypto/ids.ts';
import { useDatabase } from '#test/db/use-database.ts';

const db = useDatabase();
let workspaceId: string;
beforeEach(async () => {
  workspaceId = newId('workspace');
  await db.query(sql.unsafe`INSERT INTO workspaces (id, name) VALUES (${workspaceId}, 'x')`);
});

interface Delta {
  day?: string;
  runs?: number;
  succeeded?: number;
  failed?: number;
  cost?: number;
  evaluated?: number;
  passed?: number;
  checks?: number;
}
const add = async (delta: Delta, workspace = workspaceId) =>
  db.query(sql.unsafe`
    INSERT INTO usage_deltas
      (workspace_id, day, runs, succeeded, failed, cost_micros, evaluated, checks_passed, checks_total)
    VALUES (${workspace}, coalesce(${delta.day ?? null}::date, (now() AT TIME ZONE 'UTC')::date),
            ${delta.runs ?? 0}, ${delta.succeeded ?? 0}, ${delta.failed ?? 0}, ${delta.cost ?? 0},
            ${delta.evaluated ?? 0}, ${delta.passed ?? 0}, ${delta.checks ?? 0})`);
const count = async (month: string, shard: number, runs: number) =>
  db.query(sql.unsafe`
    INSERT INTO run_counters (workspace_id, month, shard, runs)
    VALUES (${workspaceId}, ${month}::date, ${shard}, ${runs})`);
const rows = async (table: string) =>
  db.oneFirst(sql.type(z.object({ n: z.number() }))`
    SELECT count(*) AS n FROM ${sql.identifier([table])} WHERE workspace_id = ${workspaceId}`);
const overview = async (at?: string) =>
  readOverview(db, { workspaceId, ...(at === undefined ? {} : { at }) });

describe('the overview', () => {
  test('of a workspace without runs is all zeros, with fourteen days up to today', async () => {
    const { runs_by_day, ...rest } = await overview('2026-03-05T23:59:59.999Z');
    expect(rest).toEqual({
      total_runs: 0,
      success_rate: 0,
      total_cost_usd: 0,
      active_workflows: 0,
      eval_pass_rate: null,
      evaluated_runs: 0,
    });
    expect(runs_by_day.map((each) => each.date)).toEqual([
      ...[20, 21, 22, 23, 24, 25, 26, 27, 28].map((day) => `2026-02-${day}`),
      ...[1, 2, 3, 4, 5].map((day) => `2026-03-0${day}`),
    ]);
    expect(runs_by_day.every((each) => each.count === 0 && each.cost_usd === 0)).toBe(true);
  });

  test('is the same before, during and after folding, and counts only its workspace', async () => {
    await add({ day: '2026-03-05', runs: 3, succeeded: 2, failed: 1, cost: 1_500_001 });
    await add({ day: '2026-03-05', runs: 1, evaluated: 1, passed: 2, checks: 3 });
    await add({ day: '2026-02-21', runs: 2, succeeded: 1, cost: 1 });
    await add({ day: '2020-01-01', runs: 5, failed: -1, succeeded: 1, cost: 2_000_000 });
    const other = newId('workspace');
    await db.query(sql.unsafe`INSERT INTO workspaces (id, name) VALUES (${other}, 'y')`);
    await add({ day: '2026-03-05', runs: 100, cost: 100, failed: 7 }, other);
    await db.query(sql.unsafe`
      INSERT INTO workflows (id, workspace_id, name, status) VALUES
        (${newId('workflow')}, ${workspaceId}, 'a', 'published'),
        (${newId('workflow')}, ${workspaceId}, 'b', 'draft'),
        (${newId('workflow')}, ${other}, 'c', 'published')`);
    const before = await overview('2026-03-05T12:00:00Z');
    expect(before).toMatchObject({
      total_runs: 11,
      success_rate: 100,
      total_cost_usd: 3.500002,
      active_workflows: 1,
      eval_pass_rate: 66.7,
      evaluated_runs: 1,
    });
    expect(before.runs_by_day.filter((each) => each.count > 0)).toEqual([
      { date: '2026-02-21', count: 2, cost_usd: 0.000001 },
      { date: '2026-03-05', count: 4, cost_usd: 1.500001 },
    ]);
    for (let left = 5; left > 0; left -= 2) {
      await foldUsage(db, 2);
      expect(await overview('2026-03-05T12:00:00Z')).toEqual(before);
    }
    expect([await rows('usage_deltas'), await rows('usage_days')]).toEqual([0, 3]);
  });

  test('gives the success rate one decimal', async () => {
    await add({ runs: 3, succeeded: 2, failed: 1 });
    expect(await overview()).toMatchObject({ success_rate: 66.7 });
    await add({ runs: 3, failed: 1, succeeded: -2 });
    expect(await overview()).toMatchObject({ success_rate: 0 });
  });
});

describe('usage', () => {
  test('covers the UTC calendar month to its last second, over all shards', async () => {
    await count('2024-02-01', 0, 5);
    await count('2024-02-01', 3, 7);
    await count('2024-01-01', 0, 100);
    await count('2024-03-01', 0, 1_000);
    await add({ day: '2024-01-31', cost: 1_000_000 });
    await add({ day: '2024-02-01', cost: 250_000 });
    await foldUsage(db);
    await add({ day: '2024-02-29', cost: 1 });
    await add({ day: '2024-03-01', cost: 4_000_000 });
    const february = {
      plan: 'free',
      runs_used: 12,
      runs_limit: 1_000,
      cost_usd: 0.250001,
      period_start: '2024-02-01T00:00:00.000Z',
      period_end: '2024-02-29T23:59:59.000Z',
    };
    for (const at of ['2024-02-01T00:00:00Z', '2024-02-29T23:59:59.999Z']) {
      expect(await readUsage(db, { workspaceId, at })).toEqual(february);
    }
    expect(await readUsage(db, { workspaceId, at: '2024-03-01T00:00:00Z' })).toMatchObject({
      runs_used: 1_000,
      cost_usd: 4,
    });
    // The month does not change with the caller's time zone.
    expect(await readUsage(db, { workspaceId, at: '2024-03-01T05:00:00+14:00' })).toEqual(february);
  });

  test('has no limit on enterprise, and spans December to its end', async () => {
    await db.query(sql.unsafe`
      UPDATE workspaces SET plan = 'enterprise' WHERE id = ${workspaceId}`);
    expect(await readUsage(db, { workspaceId, at: '2025-12-31T23:59:59Z' })).toEqual({
      plan: 'enterprise',
      runs_used: 0,
      runs_limit: null,
      cost_usd: 0,
      period_start: '2025-12-01T00:00:00.000Z',
      period_end: '2025-12-31T23:59:59.000Z',
    });
  });
});

describe('folding', () => {
  test('by several workers while deltas arrive shows every reader each delta exactly once', async () => {
    const pools = await Promise.all(
      [1, 2, 3].map(async () => connectDatabase(db.url, { maxPoolSize: 3 })),
    );
    const writers = 4;
    const each = 25;
    let begun = 0;
    let committed = 0;
    let writing = true;
    const write = async () => {
      for (let n = 0; n < each; n += 1) {
        begun += 1;
        await add({ runs: 1, cost: 3, succeeded: 1 });
        committed += 1;
      }
    };
    const fold = async (pool: Pool) => {
      while (writing) await foldUsage(pool, 25);
    };
    let reads = 0;
    const read = async () => {
      let last = 0;
      while (writing) {
        const least = committed;
        const [seen, usage] = [await overview(), await readUsage(db, { workspaceId })];
        const most = begun;
        // Counts all runs committed before the read, none started after it, and no fewer than the previous read.
        expect(seen.total_runs).toBeGreaterThanOrEqual(Math.max(least, last));
        expect(seen.total_runs).toBeLessThanOrEqual(most);
        expect(Math.round(seen.total_cost_usd * 1e6)).toBe(seen.total_runs * 3);
        expect(Math.round(usage.cost_usd * 1e6)).toBeGreaterThanOrEqual(seen.total_runs * 3);
        last = seen.total_runs;
        reads += 2;
      }
    };
    const background = [...pools.map(fold), read(), read(), read()];
    while (reads < 2_000) {
      await Promise.all(Array.from({ length: writers }, write));
    }
    writing = false;
    await Promise.all(background);
    while ((await foldUsage(db)) > 0);
    expect(await rows('usage_deltas')).toBe(0);
    expect(await overview()).toMatchObject({
      total_runs: committed,
      total_cost_usd: (committed * 3) / 1e6,
    });
    expect(reads).toBeGreaterThanOrEqual(2_000);
    for (const pool of pools) await pool.end();
  }, 60_000);

  test('does not wait for deltas that another worker has locked', async () => {
    await add({ runs: 1 });
    const other = new pg.Client({ connectionString: db.url });
    await other.connect();
    await other.query('BEGIN');
    await other.query('SELECT FROM usage_deltas FOR UPDATE');
    expect(await Promise.all([foldUsage(db), foldUsage(db)])).toEqual([0, 0]);
    await other.query('COMMIT');
    await other.end();
    expect(await foldUsage(db)).toBe(1);
  });

  test('drops deltas of a deleted workspace, and continues', async () => {
    await add({ runs: 1 }, 'ws_gone');
    await add({ runs: 2 });
    expect(await foldUsage(db)).toBe(2);
    expect(await overview()).toMatchObject({ total_runs: 2 });
  });
});
