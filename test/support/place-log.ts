import { z } from 'zod';
import { type Pool, sql } from '#shared/db/pool.ts';

/** A log of what happens to the places of runs under limits, written by a trigger, in the order of the changes. */

const change = z.object({
  run_id: z.string(),
  key: z.string(),
  state: z.string().nullable(),
  at_ms: z.number(),
});
export type PlaceChange = z.infer<typeof change>;

export async function logPlaces(db: Pool): Promise<void> {
  await db.query(sql.type(z.object({}))`
    CREATE TABLE place_log (seq bigint GENERATED ALWAYS AS IDENTITY, run_id text, workflow_id text, key text, state text,
                            at timestamptz NOT NULL DEFAULT clock_timestamp())`);
  await db.query(sql.type(z.object({}))`
    CREATE FUNCTION log_place() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO place_log (run_id, workflow_id, key, state)
      VALUES (coalesce(NEW.run_id, OLD.run_id), coalesce(NEW.workflow_id, OLD.workflow_id), coalesce(NEW.key, OLD.key, ''), NEW.state);
      RETURN NULL;
    END $$`);
  await db.query(sql.type(z.object({}))`
    CREATE TRIGGER log_place AFTER INSERT OR UPDATE OF state OR DELETE ON run_places
    FOR EACH ROW EXECUTE FUNCTION log_place()`);
}

export const placeLog = (db: Pool, workflowId: string): Promise<readonly PlaceChange[]> =>
  db.any(sql.type(change)`
    SELECT run_id, key, state, (extract(epoch FROM at) * 1000)::float8 AS at_ms
    FROM place_log WHERE workflow_id = ${workflowId} ORDER BY seq`);

/** The most runs of one key that were in flight at any instant of the log. */
export function mostInFlight(log: readonly PlaceChange[]): number {
  const holding = new Map<string, Set<string>>();
  let most = 0;
  for (const { run_id, key, state } of log) {
    const runs = holding.get(key) ?? new Set();
    holding.set(key, runs);
    if (state === 'holding') runs.add(run_id);
    else runs.delete(run_id);
    most = Math.max(most, runs.size);
  }
  return most;
}
