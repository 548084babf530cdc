import { createHash } from 'node:crypto';
import { z } from 'zod';
import { adoptPlainCodes, type InviteRules } from '#shared/db/people/invite-codes.ts';
import { type Db, type Pool, sql } from './pool.ts';
import { listMigrations, LOCK_KEY } from './migrate.ts';

/** Upgrades a database from the last state before 1.0.0. Only the upgrade command uses it. */

/** SHA-256 over a line for each of the 57 migrations before 1.0.0: its name, a space, the SHA-256 of its text. */
const LAST_BEFORE = '7c8b239807c4d69e0722aeba572cfcb7c9acba160bf129bf0000ca52161411dd';
const SCHEMA = '0001_schema.sql';

const one = <T extends z.ZodType>(type: T) => z.object({ value: type });

/** `empty`: no schema. `before`: exactly the last state before 1.0.0. `older`: an earlier state. */
export type SchemaState = 'empty' | 'older' | 'before' | 'upgraded';

export async function readSchemaState(db: Db): Promise<SchemaState> {
  const exists = await db.oneFirst(sql.type(one(z.boolean()))`
    SELECT to_regclass('migrations') IS NOT NULL AS value`);
  if (!exists) return 'empty';
  const applied = await db.any(sql.type(z.object({ name: z.string(), digest: z.string() }))`
    SELECT name, digest FROM migrations WHERE name ~ '^[0-9]{4}_' ORDER BY name COLLATE "C"`);
  if (applied.length === 0) return 'empty';
  if (applied[0]?.name === SCHEMA) return 'upgraded';
  const lines = applied.map(({ name, digest }) => `${name} ${digest}\n`).join('');
  const digest = createHash('sha256').update(lines).digest('hex');
  return digest === LAST_BEFORE ? 'before' : 'older';
}

/** The ids of all open runs, and of those whose start may not have reached Temporal. */
export async function listRunsToRestart(db: Db): Promise<{ open: string[]; unsent: string[] }> {
  const ids = z.object({ id: z.string(), unsent: z.boolean() });
  const rows = await db.any(sql.type(ids)`
    SELECT id, EXISTS (SELECT FROM outbox WHERE run_id = r.id AND kind = 'start') AS unsent
    FROM runs r WHERE status IN ('pending', 'running', 'paused')`);
  return {
    open: rows.map(({ id }) => id),
    unsent: rows.flatMap(({ id, unsent }) => (unsent ? [id] : [])),
  };
}

const nothing = z.object({});

/**
 * Upgrades the database to 1.0.0, in one transaction. Every open run gets an outbox row that restarts it from the
 * ledger, except those whose start is still in the outbox; `sent` lists those of them that already have an execution. A
 * failed run also resumes from the ledger, so no earlier history is ever replayed. Returns the number of runs that will
 * be restarted.
 */
export async function upgradeDatabase(
  db: Pool,
  { sent, rules }: { sent: readonly string[]; rules: InviteRules },
): Promise<number> {
  const [schema] = await listMigrations();
  if (schema?.name !== SCHEMA) throw new Error(`${SCHEMA} is not there`);
  return db.transaction(async (tx) => {
    await tx.query(sql.type(nothing)`SET LOCAL statement_timeout = 0`);
    await tx.any(sql.type(z.object({}).loose())`SELECT pg_advisory_xact_lock(${LOCK_KEY})`);
    const state = await readSchemaState(tx);
    if (state !== 'before') throw new Error('another process has upgraded it');
    await validateConstraints(tx);
    await adoptPlainCodes(tx, rules);
    await tx.query(sql.type(nothing)`
      DELETE FROM outbox WHERE kind = 'start' AND run_id = ANY (${sql.array([...sent], 'text')})`);
    await tx.query(sql.type(nothing)`
      UPDATE outbox SET payload = json_build_object('n', payload -> 'n'), due_at = now(), leased_until = NULL
      WHERE kind = 'resume'`);
    await tx.query(sql.type(nothing)`
      INSERT INTO outbox (run_id, kind, payload)
      SELECT id, 'resume', json_build_object('n', resumed_count) FROM runs r
      WHERE status IN ('pending', 'running', 'paused')
        AND NOT EXISTS (SELECT FROM outbox o WHERE o.run_id = r.id AND o.kind IN ('start', 'resume'))
      ORDER BY created_at`);
    await tx.query(sql.type(nothing)`
      UPDATE runs r SET from_ledger = true, lost_since = NULL,
        resuming = EXISTS (SELECT FROM outbox o WHERE o.run_id = r.id AND o.kind = 'resume')
      WHERE status IN ('pending', 'running', 'paused', 'failed')`);
    await tx.query(sql.type(nothing)`DELETE FROM migrations WHERE name ~ '^[0-9]{4}_'`);
    await tx.query(sql.type(nothing)`
      INSERT INTO migrations (name, digest) VALUES (${schema.name}, ${schema.digest})`);
    return tx.oneFirst(sql.type(one(z.number()))`
      SELECT count(*) AS value FROM outbox WHERE kind = 'resume'`);
  });
}

/** Validates constraints that existing rows were not checked against. */
async function validateConstraints(db: Db): Promise<void> {
  await db.query(sql.type(nothing)`
    DO $$
    DECLARE c record;
    BEGIN
      FOR c IN SELECT conrelid::regclass AS of, conname FROM pg_constraint
               WHERE connamespace = 'public'::regnamespace AND NOT convalidated LOOP
        EXECUTE format('ALTER TABLE %s VALIDATE CONSTRAINT %I', c.of, c.conname);
      END LOOP;
    END $$`);
}
