-- Each audit entry is sealed soon after its commit: a seal holds the hash of the seal before it and of the entry, so
-- that no entry can be changed, removed or put between others without breaking the chain. The hash is computed by the
-- sealer and by the check (shared/db/audit-chain.ts), never by the database itself: what a function here says could
-- be changed together with the rows.

-- Entries that wait for their seal. Known by the queue and not by a number up to which all is sealed, since an entry
-- can become visible long after a later one.
CREATE TABLE audit_unsealed (
  workspace_id text NOT NULL,
  seq          bigint NOT NULL,
  PRIMARY KEY (workspace_id, seq)
);

CREATE TABLE audit_seals (
  workspace_id  text NOT NULL,
  position      bigint NOT NULL CHECK (position > 0),
  audit_id      text NOT NULL UNIQUE,
  previous_hash bytea NOT NULL CHECK (length(previous_hash) = 32),
  hash          bytea NOT NULL CHECK (length(hash) = 32),
  sealed_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (workspace_id, position)
);

-- One row per workspace. The head is the newest seal. The base is the newest one that a sweep has removed: the chain
-- is checked from there. No reference to the workspace: the chain outlives it, as the log does.
CREATE TABLE audit_chains (
  workspace_id  text PRIMARY KEY,
  head_position bigint NOT NULL DEFAULT 0,
  head_hash     bytea NOT NULL DEFAULT decode(repeat('00', 32), 'hex') CHECK (length(head_hash) = 32),
  base_position bigint NOT NULL DEFAULT 0,
  base_hash     bytea NOT NULL DEFAULT decode(repeat('00', 32), 'hex') CHECK (length(base_hash) = 32),
  CHECK (base_position BETWEEN 0 AND head_position)
);

-- Every sweep that removed something. To write a row here is to sweep: nothing else can delete an entry or a seal.
CREATE TABLE audit_sweeps (
  id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id  text NOT NULL,
  before        timestamptz NOT NULL,
  batch         integer NOT NULL CHECK (batch > 0),
  -- The trigger fills in the rest, whatever the statement says.
  removed       bigint NOT NULL DEFAULT 0,
  base_position bigint NOT NULL DEFAULT 0,
  base_hash     bytea NOT NULL DEFAULT '',
  swept_at      timestamptz NOT NULL DEFAULT clock_timestamp()
);
-- Sweeps at the same moment take their turn after they got their id: their order is that of the bases.
CREATE UNIQUE INDEX audit_sweeps_by_base ON audit_sweeps (workspace_id, base_position);

CREATE FUNCTION queue_audit_entry() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO audit_unsealed (seq, workspace_id) VALUES (NEW.seq, NEW.workspace_id);
  RETURN NULL;
END $$;
CREATE TRIGGER audit_log_queue AFTER INSERT ON audit_log
  FOR EACH ROW EXECUTE FUNCTION queue_audit_entry();

INSERT INTO audit_unsealed (seq, workspace_id) SELECT seq, workspace_id FROM audit_log;

-- A statement of ours runs a trigger at depth 1. Deeper is only what the trigger of audit_sweeps deletes.
CREATE OR REPLACE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND pg_trigger_depth() > 1 THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'the audit log is append-only' USING ERRCODE = 'insufficient_privilege';
END $$;

CREATE TRIGGER audit_seals_append_only BEFORE UPDATE OR DELETE ON audit_seals
  FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_seals_no_truncate BEFORE TRUNCATE ON audit_seals
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_sweeps_append_only BEFORE UPDATE OR DELETE ON audit_sweeps
  FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_sweeps_no_truncate BEFORE TRUNCATE ON audit_sweeps
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();

/* Heads only move forward, and only a sweep moves the base. */
CREATE FUNCTION refuse_chain_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    IF pg_trigger_depth() > 1 OR (NEW.workspace_id = OLD.workspace_id AND NEW.head_position > OLD.head_position
        AND NEW.base_position = OLD.base_position AND NEW.base_hash = OLD.base_hash) THEN
      RETURN NEW;
    END IF;
  END IF;
  RAISE EXCEPTION 'the chain of the audit log only grows' USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER audit_chains_only_grow BEFORE UPDATE OR DELETE ON audit_chains
  FOR EACH ROW EXECUTE FUNCTION refuse_chain_change();
CREATE TRIGGER audit_chains_no_truncate BEFORE TRUNCATE ON audit_chains
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_chain_change();

/*
 * Removes the oldest entries of NEW.workspace_id with their seals, at most NEW.batch: those from the base on that are
 * all there, follow each other without a gap and were created before NEW.before. An entry that is gone stops it: the
 * chain still has to tell of that. Holding the chain's row keeps the sealer and other sweeps away.
 */
CREATE FUNCTION remove_swept_entries() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  base bigint;
  last bigint;
BEGIN
  SELECT c.base_position INTO base FROM audit_chains c WHERE c.workspace_id = NEW.workspace_id FOR UPDATE;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  SELECT max(page.position) FILTER (WHERE page.goes) INTO last
  FROM (
    SELECT s.position,
           bool_and(s.position = base + s.n AND coalesce(a.created_at < NEW.before, false))
             OVER (ORDER BY s.position) AS goes
    FROM (SELECT position, audit_id, row_number() OVER (ORDER BY position) AS n
          FROM audit_seals WHERE workspace_id = NEW.workspace_id AND position > base
          ORDER BY position LIMIT NEW.batch) s
    LEFT JOIN audit_log a ON a.id = s.audit_id AND a.workspace_id = NEW.workspace_id) page;
  IF last IS NULL THEN
    RETURN NULL;
  END IF;
  SELECT hash INTO NEW.base_hash FROM audit_seals WHERE workspace_id = NEW.workspace_id AND position = last;
  NEW.removed := last - base;
  NEW.base_position := last;
  UPDATE audit_chains SET base_position = last, base_hash = NEW.base_hash WHERE workspace_id = NEW.workspace_id;
  DELETE FROM audit_log a USING audit_seals s
  WHERE s.workspace_id = NEW.workspace_id AND s.position > base AND s.position <= last
    AND a.id = s.audit_id AND a.workspace_id = NEW.workspace_id;
  DELETE FROM audit_seals WHERE workspace_id = NEW.workspace_id AND position > base AND position <= last;
  RETURN NEW;
END $$;
CREATE TRIGGER audit_sweeps_sweep BEFORE INSERT ON audit_sweeps
  FOR EACH ROW EXECUTE FUNCTION remove_swept_entries();

/* Removes up to `batch` of the oldest sealed entries created before `before`, and returns how many went. */
CREATE FUNCTION sweep_audit(workspace_id text, before timestamptz, batch integer) RETURNS bigint LANGUAGE sql AS $$
  WITH swept AS (
    INSERT INTO audit_sweeps (workspace_id, before, batch)
    VALUES (sweep_audit.workspace_id, sweep_audit.before, sweep_audit.batch)
    RETURNING removed
  )
  SELECT coalesce((SELECT removed FROM swept), 0)
$$;
