-- The log of what inbound webhooks received, with the outcome.
CREATE TABLE inbound_events (
  id          text PRIMARY KEY,
  workflow_id text NOT NULL REFERENCES workflows (id) ON DELETE CASCADE,
  received_at timestamptz NOT NULL DEFAULT now(),
  outcome     text NOT NULL CHECK (outcome IN ('run', 'duplicate', 'refused')),
  -- The status of the response.
  status      smallint NOT NULL,
  -- Why it was refused, and the text of the response.
  reason      text,
  detail      text,
  -- The run that it started, or for a duplicate the run that the first one started. It may have been deleted since.
  run_id      text,
  -- The id by which copies are recognized.
  event_id    text,
  -- The network of the sender, without the part of the address that names one machine.
  source      text NOT NULL,
  headers     json NOT NULL,
  -- Bytes of the whole body; null: it was not read.
  size        integer,
  -- Its first bytes.
  body        bytea,
  -- How many refusals it stands for: of those over the limit of a minute only the number is kept.
  times       integer NOT NULL DEFAULT 1,
  CHECK ((outcome = 'refused') = (reason IS NOT NULL))
);
CREATE INDEX inbound_events_by_outcome ON inbound_events (workflow_id, outcome, received_at DESC, id DESC);

-- The runs that started when people replayed events.
CREATE TABLE inbound_event_replays (
  run_id     text PRIMARY KEY,
  event_id   text NOT NULL REFERENCES inbound_events (id) ON DELETE CASCADE,
  -- The replay of several events that started it.
  job_id     text,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX inbound_event_replays_once ON inbound_event_replays (event_id, job_id) WHERE job_id IS NOT NULL;
CREATE INDEX inbound_event_replays_by_event ON inbound_event_replays (event_id);

-- The event that started it, or that it replays.
ALTER TABLE runs ADD COLUMN inbound_event_id text;

ALTER TABLE background_jobs
  DROP CONSTRAINT background_jobs_kind_check,
  ADD CONSTRAINT background_jobs_kind_check CHECK (kind IN ('backtest', 'experiment', 'event_replay')) NOT VALID;
