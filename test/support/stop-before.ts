import { z } from 'zod';
import { type FragmentSqlToken, type Pool, sql } from '#shared/db/pool.ts';
import { eventually } from './engine.ts';

export interface Stop {
  /** Resolves when a session is about to make the change, and waits. */
  reached(): Promise<void>;
  /** Releases the waiting sessions and all later ones. */
  release(): Promise<void>;
}

/**
 * Makes changes of rows wait inside their transaction, so that a test can act just before the commit. `change` is as in
 * CREATE TRIGGER (`UPDATE OF status`), `when` refers to NEW and OLD.
 */
export async function stopBefore(
  db: Pool,
  { change, table, when }: { change: FragmentSqlToken; table: string; when: FragmentSqlToken },
): Promise<Stop> {
  const target = sql.identifier([table]);
  await db.query(sql.unsafe`
    CREATE OR REPLACE FUNCTION wait_for_test() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN PERFORM pg_advisory_xact_lock_shared(42); RETURN NEW; END'
  `);
  await db.query(sql.unsafe`DROP TRIGGER IF EXISTS wait_for_test ON ${target}`);
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let locked: () => void = () => undefined;
  const ready = new Promise<void>((resolve) => {
    locked = resolve;
  });
  const holding = db.transaction(async (tx) => {
    await tx.query(sql.unsafe`SET LOCAL idle_in_transaction_session_timeout = 0`);
    await tx.query(sql.unsafe`SELECT pg_advisory_xact_lock(42)`);
    locked();
    await released;
  });
  await ready;
  await db.query(sql.unsafe`
    CREATE TRIGGER wait_for_test BEFORE ${change} ON ${target} FOR EACH ROW
    WHEN (${when}) EXECUTE FUNCTION wait_for_test()
  `);
  return {
    reached: () => eventually(async () => (await waiters(db)) > 0, 20_000),
    release: async () => {
      release();
      await holding;
      await db.query(sql.unsafe`DROP TRIGGER IF EXISTS wait_for_test ON ${target}`);
    },
  };
}

/** The number of sessions waiting for the lock above. */
async function waiters(db: Pool): Promise<number> {
  return db.oneFirst(sql.type(z.object({ n: z.number() }))`
    SELECT count(*) AS n FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event = 'advisory'
  `);
}
