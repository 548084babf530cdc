import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { z } from 'zod';
import { recordAudit } from '#shared/db/audit/audit.ts';
import {
  listUnsealedWorkspaces,
  sealAuditEntries,
  sweepAudit,
  verifyAudit,
} from '#shared/db/audit/chain.ts';
import { connectDatabase, type Pool, sql } from '#shared/db/pool.ts';
import { newId } from '#shared/crypto/ids.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { raceRounds } from '#test/support/soak.ts';

let database: TestDatabase;
let db: Pool;
/** The attacker: a superuser on a separate connection. */
let intruder: pg.Client;
/** Each test has a separate chain. */
let workspaceId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  db = await connectDatabase(database.url, { maxPoolSize: 12 });
  intruder = new pg.Client({ connectionString: database.url });
  await intruder.connect();
});
afterAll(async () => {
  await intruder.end();
  await db.end();
  await database.drop();
});
beforeEach(() => {
  workspaceId = newId('workspace');
});

const write = async (n: number, workspace = workspaceId): Promise<void> => {
  const actor = { workspaceId: workspace, id: null, name: 'Ann "A" Ünal' };
  for (let i = 1; i <= n; i += 1) {
    await recordAudit(db, actor, {
      action: 'update',
      targetType: 'workflow',
      targetId: `wf_${i}`,
      details: { i, text: 'a "b" \\ ü', nested: { list: [1, null, 0.1] } },
    });
  }
};
const sealAll = async (batch?: number): Promise<number> => {
  let sealed = 0;
  for (;;) {
    const more = await sealAuditEntries(db, workspaceId, batch);
    if (more === 0) return sealed;
    sealed += more;
  }
};
const chainOf = async (n: number): Promise<string[]> => {
  await write(n);
  await sealAll();
  const row = z.object({ audit_id: z.string() });
  return [
    ...(await db.anyFirst(sql.type(row)`
      SELECT audit_id FROM audit_seals WHERE workspace_id = ${workspaceId} ORDER BY position`)),
  ];
};
const verify = async () => verifyAudit(db, workspaceId);
const count = async (table: string) =>
  db.oneFirst(sql.type(z.object({ n: z.number() }))`
    SELECT count(*) AS n FROM ${sql.identifier([table])} WHERE workspace_id = ${workspaceId}`);

const tables = ['audit_log', 'audit_seals', 'audit_chains', 'audit_sweeps', 'audit_unsealed'];
/** Changes rows with all triggers of these tables disabled, which only their owner can do. */
const tamper = async (text: string, values: unknown[] = []): Promise<void> => {
  for (const table of tables) await intruder.query(`ALTER TABLE ${table} DISABLE TRIGGER ALL`);
  try {
    const { rowCount } = await intruder.query(text, values);
    expect(rowCount).toBeGreaterThan(0);
  } finally {
    for (const table of tables) await intruder.query(`ALTER TABLE ${table} ENABLE TRIGGER ALL`);
  }
};

/** The sealed text of an entry `a`. */
const entry = `convert_to(json_build_array(a.id, a.seq::text, a.workspace_id, a.action, a.actor_id, a.actor_name,
  a.target_type, a.target_id, a.details::text,
  to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text, 'UTF8')`;

describe('sealing', () => {
  test('continues a chain that 1.0.0 has begun, and verifies all of it', async () => {
    const [first] = await chainOf(1);
    // The seals of 1.0.0 have the hash of the entry itself.
    await tamper(
      `UPDATE audit_seals s SET entry_digest = NULL, hash = sha256(previous_hash || ${entry})
       FROM audit_log a WHERE a.id = s.audit_id AND a.id = $1`,
      [first],
    );
    await tamper(
      `UPDATE audit_chains c SET head_hash = s.hash FROM audit_seals s WHERE s.audit_id = $1 AND c.workspace_id = $2`,
      [first, workspaceId],
    );
    expect(await verify()).toMatchObject({ valid: true, sealed: 1 });
    await chainOf(2);
    expect(await verify()).toMatchObject({ valid: true, sealed: 3 });
    await tamper(`UPDATE audit_log SET actor_name = 'Bob' WHERE id = $1`, [first]);
    expect(await verify()).toMatchObject({ valid: false, first_problem: { position: 1 } });
  });

  test('links every entry of a workspace, in order, across batches and workspaces', async () => {
    const other = newId('workspace');
    for (let round = 0; round < 5; round += 1) {
      await write(3);
      await write(2, other);
    }
    expect(await verify()).toMatchObject({ valid: true, sealed: 0, unsealed: 15, head: null });
    expect(await listUnsealedWorkspaces(db)).toEqual([workspaceId, other].sort());
    expect(await sealAll(4)).toBe(15);
    expect(await listUnsealedWorkspaces(db)).toEqual([other]);
    expect(await sealAuditEntries(db, other)).toBe(10);
    expect(await listUnsealedWorkspaces(db)).toEqual([]);
    expect(await verify()).toEqual({
      valid: true,
      sealed: 15,
      unsealed: 0,
      head: { position: 15, hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
      tool_calls: { decisions: 0, made: 0, problems: [] },
    });
    expect(await verifyAudit(db, other)).toMatchObject({ valid: true, sealed: 10, unsealed: 0 });
  });

  test('covers every column', async () => {
    const { rows } = await intruder.query<{ column_name: string }>(
      `SELECT column_name FROM information_schema.columns WHERE table_name = 'audit_log'`,
    );
    const other: Record<string, string> = {
      id: `'aud_other'`,
      seq: '1000000',
      workspace_id: `'ws_other'`,
      action: `'delete'`,
      actor_id: `'mem_other'`,
      actor_name: 'NULL',
      target_type: `'run'`,
      target_id: `'wf_2'`,
      details: `details || '{"i": 2}'`,
      created_at: `created_at + interval '1 microsecond'`,
    };
    // A new column needs a value here, and the chain must cover it.
    expect(rows.map((row) => row.column_name).sort()).toEqual(Object.keys(other).sort());
    await intruder.query('ALTER TABLE audit_log ALTER seq SET GENERATED BY DEFAULT');
    for (const [column, value] of Object.entries(other)) {
      workspaceId = newId('workspace');
      const [first] = await chainOf(1);
      expect({ column, ...(await verify()) }).toMatchObject({ column, valid: true });
      await tamper(`UPDATE audit_log SET ${column} = ${value} WHERE id = $1`, [first]);
      expect({ column, ...(await verify()) }).toMatchObject({
        column,
        valid: false,
        first_problem: { position: 1, audit_id: first },
      });
    }
  });

  test('makes one chain with concurrent sealers and writers', async () => {
    const pools = await Promise.all([1, 2, 3].map(async () => connectDatabase(database.url)));
    let writing = true;
    const sealers = pools.map(async (pool) => {
      while (writing) await sealAuditEntries(pool, workspaceId, 7);
    });
    const checks: boolean[] = [];
    const checker = async () => {
      while (writing) checks.push((await verify()).valid);
    };
    const checking = checker();
    await Promise.all([1, 2, 3, 4, 5].map(async () => write(60)));
    writing = false;
    await Promise.all([...sealers, checking]);
    await sealAll();
    expect(await verify()).toMatchObject({ valid: true, sealed: 300, unsealed: 0 });
    expect(checks.length).toBeGreaterThan(5);
    expect(new Set(checks)).toEqual(new Set([true]));
    for (const pool of pools) await pool.end();
  });

  test('appends an entry that commits late, after entries with higher numbers', async () => {
    const late = new pg.Client({ connectionString: database.url });
    await late.connect();
    await late.query('BEGIN');
    await late.query(
      `INSERT INTO audit_log (id, workspace_id, action, target_type, target_id)
       VALUES ($1, $2, 'update', 'workflow', 'wf_late')`,
      [`aud_late_${workspaceId}`, workspaceId],
    );
    await chainOf(3);
    expect(await verify()).toMatchObject({ valid: true, sealed: 3, unsealed: 0 });
    await late.query('COMMIT');
    await late.end();
    expect(await verify()).toMatchObject({ valid: true, sealed: 3, unsealed: 1 });
    await sealAll();
    expect(await verify()).toMatchObject({ valid: true, sealed: 4, unsealed: 0 });
  });

  test('does not block writers', async () => {
    await chainOf(3);
    await write(1);
    // A sealer that hangs while it holds the lock.
    await intruder.query('BEGIN');
    await intruder.query('SELECT FROM audit_chains WHERE workspace_id = $1 FOR UPDATE', [
      workspaceId,
    ]);
    expect(await sealAuditEntries(db, workspaceId)).toBe(0);
    await write(2);
    expect(await verify()).toMatchObject({ valid: true, sealed: 3, unsealed: 3 });
    await intruder.query('COMMIT');
    await sealAll();
    expect(await verify()).toMatchObject({ valid: true, sealed: 6 });
  });
});

describe('without disabling triggers', () => {
  test.each([
    `UPDATE audit_log SET action = 'x'`,
    'DELETE FROM audit_log',
    'TRUNCATE audit_log',
    `UPDATE audit_seals SET hash = previous_hash`,
    'DELETE FROM audit_seals',
    'TRUNCATE audit_seals',
    'UPDATE audit_chains SET base_position = head_position, base_hash = head_hash',
    'UPDATE audit_chains SET head_position = head_position - 1',
    'UPDATE audit_chains SET head_hash = base_hash',
    'DELETE FROM audit_chains',
    'TRUNCATE audit_chains',
    'UPDATE audit_sweeps SET removed = 0',
    'DELETE FROM audit_sweeps',
    'TRUNCATE audit_sweeps',
  ])('the database refuses %s', async (statement) => {
    await chainOf(2);
    await sweepAudit(db, { workspaceId, before: later, batch: 1 });
    await expect(intruder.query(statement)).rejects.toThrow(/append-only|only grows/);
    expect(await verify()).toMatchObject({ valid: true, sealed: 1 });
  });
});

const later = '2100-01-01T00:00:00Z';

describe('with triggers disabled, the check finds', () => {
  const expectProblem = async (problem: object) =>
    expect(await verify()).toMatchObject({ valid: false, first_problem: problem });

  test('a changed entry', async () => {
    const ids = await chainOf(5);
    await tamper(`UPDATE audit_log SET actor_name = 'Bob' WHERE id = $1`, [ids[2]]);
    await expectProblem({
      position: 3,
      audit_id: ids[2],
      problem: 'the entry or its seal was changed',
    });
  });

  test('a changed entry with a recomputed seal', async () => {
    const ids = await chainOf(5);
    await tamper(`UPDATE audit_log SET actor_name = 'Bob' WHERE id = $1`, [ids[2]]);
    await tamper(
      `UPDATE audit_seals s SET entry_digest = sha256(${entry}), hash = sha256(previous_hash || sha256(${entry}))
       FROM audit_log a WHERE a.id = s.audit_id AND a.id = $1`,
      [ids[2]],
    );
    await expectProblem({
      position: 4,
      problem: 'the seal does not follow the one before it',
    });
  });

  test('a changed digest of an entry', async () => {
    const ids = await chainOf(3);
    await tamper('UPDATE audit_seals SET entry_digest = previous_hash WHERE audit_id = $1', [
      ids[1],
    ]);
    await expectProblem({ position: 2, problem: 'the entry or its seal was changed' });
  });

  test('a removed entry', async () => {
    const ids = await chainOf(5);
    await tamper('DELETE FROM audit_log WHERE id = $1', [ids[4]]);
    await expectProblem({ position: 5, audit_id: ids[4], problem: 'the entry was removed' });
  });

  test.each([1, 3, 5])('a removed seal, at position %i of 5', async (position) => {
    await chainOf(5);
    await tamper('DELETE FROM audit_seals WHERE workspace_id = $1 AND position = $2', [
      workspaceId,
      position,
    ]);
    await expectProblem({ position, problem: 'a seal was removed' });
  });

  test('an entry removed together with its seal', async () => {
    const ids = await chainOf(5);
    await tamper('DELETE FROM audit_log WHERE id = $1', [ids[1]]);
    await tamper('DELETE FROM audit_seals WHERE audit_id = $1', [ids[1]]);
    await expectProblem({ position: 2, problem: 'a seal was removed' });
  });

  test('the newest entries removed with their seals, and the head reset', async () => {
    const ids = await chainOf(5);
    const noted = (await verify()).head;
    if (noted === null) throw new Error('no head');
    await tamper('DELETE FROM audit_seals WHERE workspace_id = $1 AND position > 3', [workspaceId]);
    await tamper(
      `UPDATE audit_chains c SET head_position = 3, head_hash = s.hash
       FROM audit_seals s WHERE s.workspace_id = c.workspace_id AND s.position = 3 AND c.workspace_id = $1`,
      [workspaceId],
    );
    await expectProblem({ position: null, audit_id: ids[3] });
    await tamper('DELETE FROM audit_log WHERE id = ANY($1)', [ids.slice(3)]);
    // The database alone no longer shows the loss; only a head recorded elsewhere does.
    expect(await verify()).toMatchObject({ valid: true, sealed: 3 });
    expect(await verifyAudit(db, workspaceId, noted)).toMatchObject({
      valid: false,
      first_problem: { position: 5, problem: 'the chain does not hold the noted head' },
    });
    await write(4);
    await sealAll();
    expect(await verify()).toMatchObject({ valid: true, sealed: 7 });
    expect(await verifyAudit(db, workspaceId, noted)).toMatchObject({
      valid: false,
      first_problem: { position: 5, problem: 'the chain does not hold the noted head' },
    });
  });

  test('two swapped seals', async () => {
    await chainOf(5);
    await tamper(
      `UPDATE audit_seals SET position = CASE position WHEN 2 THEN 103 ELSE 102 END
       WHERE workspace_id = $1 AND position IN (2, 3)`,
      [workspaceId],
    );
    await tamper(
      'UPDATE audit_seals SET position = position - 100 WHERE workspace_id = $1 AND position > 100',
      [workspaceId],
    );
    await expectProblem({ position: 2, problem: 'the seal does not follow the one before it' });
  });

  test('two entries with swapped content', async () => {
    const ids = await chainOf(5);
    await tamper(
      `UPDATE audit_log a SET target_id = b.target_id, details = b.details, created_at = b.created_at
       FROM audit_log b WHERE a.id = ANY($1) AND b.id = ANY($1) AND a.id <> b.id`,
      [[ids[1], ids[3]]],
    );
    await expectProblem({ position: 2, audit_id: ids[1] });
  });

  test('an entry that bypassed the triggers', async () => {
    await chainOf(3);
    await tamper(
      `INSERT INTO audit_log (id, workspace_id, action, target_type, target_id, created_at)
       VALUES ('aud_forged', $1, 'delete', 'run', 'run_x', now() - interval '1 day')`,
      [workspaceId],
    );
    await expectProblem({
      position: null,
      audit_id: 'aud_forged',
      problem: 'the entry is neither sealed nor waiting to be sealed',
    });
  });

  test('an entry removed from the queue', async () => {
    await chainOf(2);
    await write(1);
    await tamper('DELETE FROM audit_unsealed WHERE workspace_id = $1', [workspaceId]);
    await expectProblem({ position: null });
  });

  test('a forged seal at the end of the chain', async () => {
    await chainOf(3);
    await write(1);
    await tamper(
      `INSERT INTO audit_seals (workspace_id, position, audit_id, previous_hash, hash)
       SELECT $1, 4, a.id, c.head_hash, sha256('forged') FROM audit_log a, audit_chains c
       WHERE c.workspace_id = $1 AND a.workspace_id = $1 ORDER BY a.seq DESC LIMIT 1`,
      [workspaceId],
    );
    await expectProblem({ position: 4, problem: 'the entry or its seal was changed' });
    await expect(sealAll()).rejects.toThrow(/unique/);
  });

  test('a removed chain, and a base moved without a sweep', async () => {
    await chainOf(3);
    await tamper(
      `UPDATE audit_chains c SET base_position = 1, base_hash = s.hash
       FROM audit_seals s WHERE s.workspace_id = $1 AND s.position = 1 AND c.workspace_id = $1`,
      [workspaceId],
    );
    await expectProblem({ position: 1 });
    await tamper('DELETE FROM audit_chains WHERE workspace_id = $1', [workspaceId]);
    await expectProblem({ position: null, problem: 'the head of the chain was removed' });
  });
});

describe('a sweep', () => {
  test('removes the oldest entries in batches and leaves a valid chain', async () => {
    const ids = await chainOf(10);
    const noted = (await verify()).head ?? undefined;
    const row = z.object({ created_at: z.string() });
    const before = await db.oneFirst(sql.type(row)`
      SELECT created_at::text FROM audit_log WHERE id = ${ids[7] ?? ''}`);
    const sweep = async () => sweepAudit(db, { workspaceId, before, batch: 3 });
    expect([await sweep(), await sweep(), await sweep(), await sweep()]).toEqual([3, 3, 1, 0]);
    expect(await verifyAudit(db, workspaceId, noted)).toMatchObject({
      valid: true,
      sealed: 3,
      unsealed: 0,
      head: { position: 10 },
    });
    expect([await count('audit_log'), await count('audit_sweeps')]).toEqual([3, 3]);
    await write(2);
    await sealAll();
    expect(await verify()).toMatchObject({ valid: true, sealed: 5, head: { position: 12 } });
    expect(await sweepAudit(db, { workspaceId, before: later, batch: 100 })).toBe(5);
    expect(await verify()).toMatchObject({ valid: true, sealed: 0, head: { position: 12 } });
  });

  test('keeps unsealed entries', async () => {
    await chainOf(2);
    await write(2);
    expect(await sweepAudit(db, { workspaceId, before: later, batch: 100 })).toBe(2);
    expect(await sweepAudit(db, { workspaceId, before: later, batch: 100 })).toBe(0);
    expect(await verify()).toMatchObject({ valid: true, sealed: 0, unsealed: 2 });
    expect(await sweepAudit(db, { workspaceId: 'ws_none', before: later, batch: 1 })).toBe(0);
  });

  test('stops at a missing entry, so that the check still finds it', async () => {
    const ids = await chainOf(5);
    await tamper('DELETE FROM audit_log WHERE id = $1', [ids[2]]);
    expect(await sweepAudit(db, { workspaceId, before: later, batch: 100 })).toBe(2);
    expect(await sweepAudit(db, { workspaceId, before: later, batch: 100 })).toBe(0);
    expect(await verify()).toMatchObject({ valid: false, first_problem: { position: 3 } });
  });

  test('computes the values of its record', async () => {
    await chainOf(3);
    await intruder.query(
      `INSERT INTO audit_sweeps (workspace_id, before, batch, removed, base_position, base_hash)
       VALUES ($1, $2, 2, 999, 999, 'x')`,
      [workspaceId, later],
    );
    expect(await verify()).toMatchObject({ valid: true, sealed: 1 });
  });

  test('leaves one complete chain during concurrent sealing, writing and checking', async () => {
    for (let round = 0; round < raceRounds(40); round += 1) {
      workspaceId = newId('workspace');
      await chainOf(5);
      const sweep = async () => sweepAudit(db, { workspaceId, before: later, batch: 3 });
      const [, , , , , first, second] = await Promise.all([
        write(4),
        sweep(),
        sealAuditEntries(db, workspaceId, 2),
        sweep(),
        sealAuditEntries(db, workspaceId, 2),
        verify(),
        verify(),
      ]);
      expect([first.valid, second.valid]).toEqual([true, true]);
      await sealAll();
      expect(await verify()).toMatchObject({
        valid: true,
        unsealed: 0,
        head: { position: 9 },
        sealed: await count('audit_log'),
      });
    }
  });
});
