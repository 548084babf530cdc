import pg from 'pg';

/**
 * A journal of the rows that limits count, written by triggers in the transaction of each change: who had a slot or a
 * call when. Such rows are deleted as soon as they no longer count, so nothing else could show it at the end.
 */
const journal = `
  CREATE TABLE storm_journal (
    n bigint GENERATED ALWAYS AS IDENTITY,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    about text NOT NULL,
    change text NOT NULL,
    fields jsonb NOT NULL
  );
  CREATE FUNCTION storm_note() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    changed jsonb := CASE TG_OP WHEN 'DELETE' THEN to_jsonb(OLD) ELSE to_jsonb(NEW) END;
  BEGIN
    -- Of steps, only those of runs that need a slot.
    IF TG_TABLE_NAME = 'steps' AND NOT EXISTS (
      SELECT FROM runs r WHERE r.id = changed ->> 'run_id' AND r.limits ->> 'key' IS NOT NULL) THEN
      RETURN NULL;
    END IF;
    INSERT INTO storm_journal (about, change, fields)
    SELECT TG_TABLE_NAME, lower(TG_OP), jsonb_object_agg(f.key, f.value)
    FROM jsonb_each(changed) AS f WHERE f.key = ANY (TG_ARGV);
    RETURN NULL;
  END
  $$;
  CREATE TRIGGER storm_places AFTER INSERT OR UPDATE OF state OR DELETE ON run_places FOR EACH ROW
    EXECUTE FUNCTION storm_note('run_id', 'workflow_id', 'key', 'rate_key', 'priority', 'seq', 'state',
                                'debounce_key');
  CREATE TRIGGER storm_tokens AFTER INSERT ON rate_tokens FOR EACH ROW EXECUTE FUNCTION storm_note('workflow_id', 'key', 'taken_at');
  CREATE TRIGGER storm_limits AFTER INSERT OR UPDATE ON workflow_limits FOR EACH ROW
    EXECUTE FUNCTION storm_note('workflow_id', 'settings');
  CREATE TRIGGER storm_calls AFTER INSERT OR UPDATE OR DELETE ON limited_calls FOR EACH ROW
    EXECUTE FUNCTION storm_note('scope', 'run_id', 'step_key', 'claim', 'ended', 'taken_at');
  CREATE TRIGGER storm_begun AFTER INSERT ON steps FOR EACH ROW WHEN (NEW.claim IS NOT NULL)
    EXECUTE FUNCTION storm_note('run_id', 'step_key', 'claim', 'claim_until');
  CREATE TRIGGER storm_claims AFTER UPDATE ON steps FOR EACH ROW
    WHEN (NEW.claim IS DISTINCT FROM OLD.claim OR NEW.claim_until IS DISTINCT FROM OLD.claim_until)
    EXECUTE FUNCTION storm_note('run_id', 'step_key', 'claim', 'claim_until')`;

/** One change of a row, with the fields that count. `at` is the database's clock, ms since 1970. */
export type JournalRow = { at: number; change: 'insert' | 'update' | 'delete' } & (
  | { about: 'run_places'; fields: PlaceFields }
  | { about: 'rate_tokens'; fields: { workflow_id: string; key: string } }
  | { about: 'workflow_limits'; fields: { workflow_id: string; settings: LimitSettings } }
  | { about: 'limited_calls'; fields: CallFields }
  | { about: 'steps'; fields: ClaimFields }
);

export interface PlaceFields {
  run_id: string;
  workflow_id: string;
  key: string | null;
  rate_key: string | null;
  priority: number;
  seq: number;
  /** A run that is paused gives up its slot: `pausing` while a step has a claim, then `away`. */
  state: 'debounced' | 'waiting' | 'holding' | 'leaving' | 'pausing' | 'away';
  debounce_key?: string | null;
}

export interface LimitSettings {
  concurrency: { limit: number; on_limit: string } | null;
  rate: { limit: number; per_seconds: number } | null;
}

export interface CallFields {
  scope: string;
  run_id: string;
  step_key: string;
  claim: string;
  ended: boolean;
}

export interface ClaimFields {
  run_id: string;
  step_key: string;
  claim: string | null;
  /** ms since 1970 */
  claim_until: number | null;
}

/** Begins the journal of this database. */
export async function keepJournal(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(journal);
  } finally {
    await client.end();
  }
}

/** The statement that reads it. What counts by its own time has that one: a trigger of a busy server can be late. */
export const readJournal = `
  SELECT (extract(epoch FROM j.at) * 1000)::float8 AS at, about, change,
         CASE WHEN about = 'steps' THEN fields || jsonb_build_object('claim_until',
           (extract(epoch FROM (fields ->> 'claim_until')::timestamptz) * 1000)::float8)
         ELSE fields - 'taken_at' END AS fields
  FROM (
    SELECT CASE WHEN change = 'insert' THEN coalesce((fields ->> 'taken_at')::timestamptz, at) ELSE at END AS at, about, change,
           fields, n
    FROM storm_journal
  ) AS j ORDER BY j.at, n`;
