import { beforeEach, describe, expect, test } from '@jest/globals';
import type { AuditAction, AuditTarget } from '#shared/contract/audit/audit.ts';
import pg from 'pg';
import { z } from 'zod';
import type { MemberStats } from '#shared/contract/people/member.ts';
import { recordAudit } from '#shared/db/audit/audit.ts';
import { sealAuditEntries, sweepAudit } from '#shared/db/audit/chain.ts';
import { readMemberStats } from '#shared/db/people/member-stats.ts';
import { connectDatabase, sql } from '#shared/db/pool.ts';
import { foldUsage } from '#shared/db/money/usage.ts';
import { newId } from '#shared/crypto/ids.ts';
import { untilLockWaiters } from '#test/support/lock-waits.ts';
import { useDatabase } from '#test/db/use-database.ts';

const db = useDatabase();
let workspaceId: string;
let memberId: string;
beforeEach(async () => {
  workspaceId = newId('workspace');
  await db.query(sql.unsafe`INSERT INTO workspaces (id, name) VALUES (${workspaceId}, 'x')`);
  memberId = await addMember(workspaceId);
});

const addMember = async (workspace: string): Promise<string> => {
  const id = newId('member');
  await db.query(sql.unsafe`
    INSERT INTO members (id, workspace_id, name, email, role, status)
    VALUES (${id}, ${workspace}, 'Ann', ${`${id}@example.com`}, 'editor', 'active')`);
  return id;
};

type Act = [targetType: AuditTarget, action: AuditAction];
const act = async ([targetType, action]: Act, by: string | null = memberId, n = 0) =>
  recordAudit(
    db,
    { workspaceId, id: by, name: 'Ann' },
    { action, targetType, targetId: 'x', details: { n } },
  );
/** Records an action with this time. */
const actAt = async (at: string, [targetType, action]: Act) =>
  db.query(sql.unsafe`
    INSERT INTO audit_log (id, workspace_id, action, actor_id, target_type, target_id, created_at)
    VALUES (${newId('audit')}, ${workspaceId}, ${action}, ${memberId}, ${targetType}, 'x', ${at}::timestamptz)`);
const cost = async (day: string, micros: number, of: string | null = memberId) =>
  db.query(sql.unsafe`
    INSERT INTO usage_deltas (workspace_id, day, cost_micros, member_id)
    VALUES (${workspaceId}, ${day}::date, ${micros}, ${of})`);
const stats = async (at?: string): Promise<MemberStats> =>
  readMemberStats(db, { workspaceId, memberId, ...(at === undefined ? {} : { at }) });
const shown = ({ activity }: MemberStats) => activity.filter((each) => each.count > 0);

describe('the stats of a member', () => {
  test('without actions are zeros, with thirty days up to today', async () => {
    const { activity, ...rest } = await stats('2026-03-05T23:59:59.999Z');
    expect(rest).toEqual({
      member_id: memberId,
      runs_triggered: 0,
      approvals: 0,
      rejections: 0,
      workflows_created: 0,
      total_cost_usd: 0,
      recent_actions: [],
    });
    expect(activity).toHaveLength(30);
    expect(activity[0]).toEqual({ date: '2026-02-04', count: 0 });
    expect(activity.at(-1)).toEqual({ date: '2026-03-05', count: 0 });
    expect(activity.map((each) => each.date)).toEqual(activity.map((each) => each.date).toSorted());
  });

  test('are the same before, during and after counting', async () => {
    const acts: Act[] = [
      ['workflow', 'create'],
      ['workflow', 'run'],
      ['workflow', 'run'],
      ['run', 'approve'],
      ['run', 'reject'],
      ['run', 'reject'],
      ['budget', 'create'],
      ['run', 'cancel'],
    ];
    for (const each of acts) await act(each);
    const [colleague, stranger] = [await addMember(workspaceId), newId('member')];
    for (const by of [colleague, stranger, null]) await act(['workflow', 'run'], by);
    const today = new Date().toISOString().slice(0, 10);
    await cost(today, 1_500_000);
    await cost('2020-01-01', 1);
    await cost('2020-01-01', 2);
    await cost(today, 7, colleague);
    await cost(today, 9, null);
    const before = await stats();
    expect(before).toMatchObject({
      runs_triggered: 2,
      approvals: 1,
      rejections: 2,
      workflows_created: 1,
      total_cost_usd: 1.500003,
    });
    expect(shown(before)).toEqual([{ date: today, count: 8 }]);
    while ((await sealAuditEntries(db, workspaceId, 2)) > 0) expect(await stats()).toEqual(before);
    while ((await foldUsage(db, 2)) > 0) expect(await stats()).toEqual(before);
    expect(await stats()).toEqual(before);
    const { rows } = await db.query(sql.type(
      z.object({ member_id: z.string(), actions: z.number(), cost_micros: z.number() }),
    )`
      SELECT member_id, sum(actions) AS actions, sum(cost_micros) AS cost_micros FROM member_days
      WHERE workspace_id = ${workspaceId} GROUP BY 1`);
    const figures = rows.map((row) => [row.member_id, row.actions, row.cost_micros]);
    expect(figures.sort()).toEqual(
      [
        [memberId, 8, 1_500_003],
        [colleague, 1, 7],
        [stranger, 1, 0],
      ].sort(),
    );
  });

  test('count an action on its UTC day, also after sealing', async () => {
    for (const at of [
      '2026-03-01T23:59:59.999Z',
      '2026-03-02T00:00:00.000Z',
      '2026-03-02T13:00:00+14:00',
      '2026-03-03T00:00:00+00:00',
      '2026-01-30T12:00:00Z',
      '2026-02-02T00:00:00Z',
    ]) {
      await actAt(at, ['workflow', 'run']);
    }
    const expected = [
      { date: '2026-02-02', count: 1 },
      { date: '2026-03-01', count: 2 },
      { date: '2026-03-02', count: 1 },
      { date: '2026-03-03', count: 1 },
    ];
    expect(shown(await stats('2026-03-03T12:00:00Z'))).toEqual(expected);
    await sealAuditEntries(db, workspaceId);
    const after = await stats('2026-03-03T12:00:00Z');
    expect([shown(after), after.runs_triggered]).toEqual([expected, 6]);
    expect(shown(await stats('2026-03-04T12:00:00Z'))).toEqual(expected.slice(1));
  });

  test('survive the removal of entries by retention, and show the fifteen newest left', async () => {
    await actAt('2020-01-01T00:00:00Z', ['workflow', 'run']);
    for (let n = 1; n <= 20; n += 1) await act(['workflow', 'create'], memberId, n);
    await act(['workflow', 'create'], null);
    await sealAuditEntries(db, workspaceId);
    const before = await stats();
    expect(before.recent_actions.map((each) => each.details['n'])).toEqual(
      Array.from({ length: 15 }, (_, i) => 20 - i),
    );
    const later = '2100-01-01T00:00:00Z';
    expect(await sweepAudit(db, { workspaceId, before: later, batch: 18 })).toBe(18);
    const after = await stats();
    expect(after).toEqual({ ...before, recent_actions: before.recent_actions.slice(0, 3) });
    expect(after).toMatchObject({ runs_triggered: 1, workflows_created: 20 });
  });

  test('are not found for an unknown member or in another workspace', async () => {
    const elsewhere = newId('workspace');
    await db.query(sql.unsafe`INSERT INTO workspaces (id, name) VALUES (${elsewhere}, 'y')`);
    for (const scope of [
      { workspaceId: elsewhere, memberId },
      { workspaceId, memberId: newId('member') },
    ]) {
      await expect(readMemberStats(db, scope)).rejects.toThrow('Member not found');
    }
  });
});

test('each action and cost counts once, and no figure falls, with concurrent writers, sealers and folds', async () => {
  const pools = await Promise.all([1, 2, 3].map(async () => connectDatabase(db.url)));
  const members = [memberId, await addMember(workspaceId), await addMember(workspaceId)];
  const days = ['2026-03-01', '2026-03-02', '2026-03-03'];
  let writing = true;
  const counters = pools.map(async (pool, i) => {
    while (writing) {
      await sealAuditEntries(pool, workspaceId, 3 + i);
      await foldUsage(pool, 3 + i);
    }
  });
  const seen: [number, number, number][] = [];
  const reader = async () => {
    while (writing) {
      const { runs_triggered, total_cost_usd, activity } = await stats();
      seen.push([runs_triggered, total_cost_usd, activity.at(-1)?.count ?? 0]);
    }
  };
  const reading = reader();
  const write = async (member: string) => {
    for (let n = 0; n < 60; n += 1) {
      await act(['workflow', 'run'], member);
      await cost(days[n % 3]!, 1_000_000, member);
    }
  };
  await Promise.all([...members, ...members].map(async (member) => write(member)));
  const atOnce = await stats();
  writing = false;
  await Promise.all([...counters, reading]);
  expect(atOnce).toMatchObject({ runs_triggered: 120, total_cost_usd: 120 });
  while ((await sealAuditEntries(db, workspaceId)) > 0);
  while ((await foldUsage(db)) > 0);
  for (const member of members) {
    expect(await readMemberStats(db, { workspaceId, memberId: member })).toMatchObject({
      runs_triggered: 120,
      total_cost_usd: 120,
    });
  }
  expect(seen.length).toBeGreaterThan(5);
  for (const [i, figures] of seen.entries()) {
    figures.forEach((figure, at) => expect(figure).toBeGreaterThanOrEqual(seen[i - 1]?.[at] ?? 0));
  }
  await Promise.all(pools.map((pool) => pool.end()));
}, 60_000);

test('entries of a deleted workspace are sealed, but not counted', async () => {
  const gone = newId('workspace');
  await recordAudit(
    db,
    { workspaceId: gone, id: memberId, name: 'Ann' },
    { action: 'create', targetType: 'workflow', targetId: 'x' },
  );
  expect(await sealAuditEntries(db, gone)).toBe(1);
  expect(await stats()).toMatchObject({ workflows_created: 0 });
});

test('a wait for a counter does not block actions', async () => {
  await act(['workflow', 'run']);
  await sealAuditEntries(db, workspaceId);
  const holder = new pg.Client({ connectionString: db.url });
  await holder.connect();
  await holder.query('BEGIN');
  await holder.query('SELECT FROM member_days WHERE member_id = $1 FOR UPDATE', [memberId]);
  await act(['workflow', 'run']);
  const sealing = sealAuditEntries(db, workspaceId);
  await untilLockWaiters(db, 1);
  await act(['workflow', 'run']);
  expect(await stats()).toMatchObject({ runs_triggered: 3 });
  await holder.query('COMMIT');
  await holder.end();
  expect(await sealing).toBe(1);
  expect(await stats()).toMatchObject({ runs_triggered: 3 });
});
