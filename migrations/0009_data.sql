-- The data API: records that are collected, who may read them, what that costs, and who is told of what happens.

-- Store. A feed is a stream of records of some types. Its records are all made up (`is_demo`) or all real.
CREATE TABLE data_feeds (
  id              text PRIMARY KEY,
  workspace_id    text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  is_demo         boolean NOT NULL DEFAULT false,
  name            text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  description     text NOT NULL DEFAULT '',
  status          text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'paused', 'degraded', 'archived')),
  entity_types    text[] NOT NULL DEFAULT '{}',
  schema          json NOT NULL DEFAULT '{}',
  geography       json NOT NULL DEFAULT '{}',
  specification   json NOT NULL DEFAULT '{}',
  last_event_at   timestamptz,
  last_checked_at timestamptz,
  created_by      text,
  created_at      timestamptz NOT NULL DEFAULT now(),
  updated_at      timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX data_feeds_by_workspace ON data_feeds (workspace_id, is_demo, created_at DESC, id DESC);

-- Where records come from.
CREATE TABLE data_sources (
  id                   text PRIMARY KEY,
  workspace_id         text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  is_demo              boolean NOT NULL DEFAULT false,
  name                 text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  type                 text NOT NULL,
  jurisdiction         text,
  cadence              text,
  permission_status    text,
  license_status       text,
  reliability_score    double precision CHECK (reliability_score BETWEEN 0 AND 1),
  health               text NOT NULL DEFAULT 'unknown' CHECK (health IN ('unknown', 'healthy', 'failed')),
  last_success_at      timestamptz,
  last_failure_at      timestamptz,
  last_error           text,
  consecutive_failures integer NOT NULL DEFAULT 0,
  -- Of the report last taken, so that it counts once however often it comes.
  last_report_key      text,
  created_by           text,
  created_at           timestamptz NOT NULL DEFAULT now(),
  updated_at           timestamptz NOT NULL DEFAULT now(),
  UNIQUE (workspace_id, is_demo, name)
);

-- Canonical records. `seq` is the order in which they came to be; `is_demo` is their feed's.
CREATE TABLE data_entities (
  seq                 bigint GENERATED ALWAYS AS IDENTITY,
  id                  text PRIMARY KEY,
  workspace_id        text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  feed_id             text NOT NULL REFERENCES data_feeds ON DELETE CASCADE,
  is_demo             boolean NOT NULL,
  external_key        text NOT NULL,
  entity_type         text NOT NULL,
  canonical_name      text NOT NULL,
  aliases             jsonb NOT NULL DEFAULT '[]',
  attributes          jsonb NOT NULL DEFAULT '{}',
  external_ids        jsonb NOT NULL DEFAULT '{}',
  geography           jsonb NOT NULL DEFAULT '{}',
  city                text GENERATED ALWAYS AS (lower(geography->>'city')) STORED,
  region              text GENERATED ALWAYS AS (lower(geography->>'region')) STORED,
  country             text GENERATED ALWAYS AS (lower(geography->>'country')) STORED,
  status              text NOT NULL DEFAULT 'active',
  verification_status text NOT NULL DEFAULT 'unverified',
  confidence          double precision NOT NULL DEFAULT 0 CHECK (confidence BETWEEN 0 AND 1),
  version             integer NOT NULL DEFAULT 1,
  source_evidence     jsonb NOT NULL DEFAULT '[]',
  -- Of all that a new version would be made for.
  content_hash        bytea NOT NULL,
  first_observed_at   timestamptz NOT NULL,
  last_observed_at    timestamptz NOT NULL,
  last_verified_at    timestamptz,
  created_at          timestamptz NOT NULL DEFAULT now(),
  -- When the newest version was made.
  updated_at          timestamptz NOT NULL DEFAULT now(),
  -- Hundredths. The nudge keeps 0.29 * 100, which falls short of 29, out of the class below.
  confidence_class    smallint NOT NULL GENERATED ALWAYS AS (floor(confidence * 100 + 1e-6)) STORED,
  -- How old the record was at its last update: k from 2^(k/4) seconds on, 0 below a second, -1 of one that was
  -- observed later than it was updated.
  age_class           smallint NOT NULL GENERATED ALWAYS AS (
    CASE WHEN updated_at < first_observed_at THEN -1
         ELSE floor(4 * ln(greatest(extract(epoch FROM updated_at - first_observed_at), 1)::double precision)
                    / ln(2::double precision)) END) STORED,
  UNIQUE (feed_id, external_key)
);

-- Lists are read in the order of an index that begins with what is asked for, so that a page costs the same however
-- many records match and wherever they lie; shared/db/data/entities.ts tells which list walks which. A feed names its
-- workspace and mode. Classes are merged: a page of each, then the newest of those.
-- Newest first,
CREATE INDEX data_entities_newest ON data_entities (workspace_id, is_demo, first_observed_at, seq);
CREATE INDEX data_entities_newest_of_feed ON data_entities (feed_id, first_observed_at, seq);
CREATE INDEX data_entities_newest_of_type ON data_entities (workspace_id, is_demo, entity_type, first_observed_at, seq);
CREATE INDEX data_entities_newest_of_city ON data_entities (workspace_id, is_demo, city, first_observed_at, seq);
CREATE INDEX data_entities_newest_of_region ON data_entities (workspace_id, is_demo, region, first_observed_at, seq);
CREATE INDEX data_entities_newest_of_country ON data_entities (workspace_id, is_demo, country, first_observed_at, seq);
-- with two of them,
CREATE INDEX data_entities_newest_of_feed_type ON data_entities (feed_id, entity_type, first_observed_at, seq);
CREATE INDEX data_entities_newest_of_feed_city ON data_entities (feed_id, city, first_observed_at, seq);
CREATE INDEX data_entities_newest_of_feed_region ON data_entities (feed_id, region, first_observed_at, seq);
CREATE INDEX data_entities_newest_of_feed_country ON data_entities (feed_id, country, first_observed_at, seq);
CREATE INDEX data_entities_newest_of_type_city ON data_entities (workspace_id, is_demo, entity_type, city, first_observed_at, seq);
CREATE INDEX data_entities_newest_of_type_region ON data_entities (workspace_id, is_demo, entity_type, region, first_observed_at, seq);
CREATE INDEX data_entities_newest_of_type_country ON data_entities (workspace_id, is_demo, entity_type, country, first_observed_at, seq);
-- of at least a confidence,
CREATE INDEX data_entities_sure ON data_entities (workspace_id, is_demo, confidence_class, first_observed_at, seq);
CREATE INDEX data_entities_sure_of_feed ON data_entities (feed_id, confidence_class, first_observed_at, seq);
CREATE INDEX data_entities_sure_of_type ON data_entities (workspace_id, is_demo, entity_type, confidence_class, first_observed_at, seq);
CREATE INDEX data_entities_sure_of_city ON data_entities (workspace_id, is_demo, city, confidence_class, first_observed_at, seq);
CREATE INDEX data_entities_sure_of_region ON data_entities (workspace_id, is_demo, region, confidence_class, first_observed_at, seq);
CREATE INDEX data_entities_sure_of_country ON data_entities (workspace_id, is_demo, country, confidence_class, first_observed_at, seq);
-- last updated first.
CREATE INDEX data_entities_updated ON data_entities (workspace_id, is_demo, updated_at, seq);
CREATE INDEX data_entities_updated_of_feed ON data_entities (feed_id, updated_at, seq);
CREATE INDEX data_entities_updated_of_type ON data_entities (workspace_id, is_demo, entity_type, updated_at, seq);
CREATE INDEX data_entities_updated_of_city ON data_entities (workspace_id, is_demo, city, updated_at, seq);
CREATE INDEX data_entities_updated_of_region ON data_entities (workspace_id, is_demo, region, updated_at, seq);
CREATE INDEX data_entities_updated_of_country ON data_entities (workspace_id, is_demo, country, updated_at, seq);
CREATE INDEX data_entities_updated_sure ON data_entities (workspace_id, is_demo, confidence_class, updated_at, seq);
CREATE INDEX data_entities_updated_by_age ON data_entities (workspace_id, is_demo, age_class, updated_at, seq);

-- What a record was like in each version.
CREATE TABLE data_entity_versions (
  entity_id    text NOT NULL REFERENCES data_entities ON DELETE CASCADE,
  version      integer NOT NULL,
  workspace_id text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  changed_at   timestamptz NOT NULL,
  attributes   jsonb NOT NULL,
  changed      text[] NOT NULL DEFAULT '{}',
  PRIMARY KEY (entity_id, version)
);

-- One row per attribute that a version changed.
CREATE TABLE data_changes (
  seq          bigint GENERATED ALWAYS AS IDENTITY,
  id           text PRIMARY KEY,
  workspace_id text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  feed_id      text NOT NULL REFERENCES data_feeds ON DELETE CASCADE,
  is_demo      boolean NOT NULL,
  entity_id    text NOT NULL REFERENCES data_entities ON DELETE CASCADE,
  entity_type  text NOT NULL,
  attribute    text NOT NULL,
  old_value    jsonb,
  new_value    jsonb,
  version      integer NOT NULL,
  source_id    text,
  changed_at   timestamptz NOT NULL
);
CREATE INDEX data_changes_by_entity ON data_changes (entity_id);
CREATE INDEX data_changes_newest ON data_changes (workspace_id, is_demo, changed_at, seq);
CREATE INDEX data_changes_newest_of_feed ON data_changes (feed_id, changed_at, seq);

-- Things that happened to a record.
CREATE TABLE data_events (
  seq                 bigint GENERATED ALWAYS AS IDENTITY,
  id                  text PRIMARY KEY,
  workspace_id        text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  feed_id             text NOT NULL REFERENCES data_feeds ON DELETE CASCADE,
  is_demo             boolean NOT NULL,
  external_key        text NOT NULL,
  event_type          text NOT NULL,
  occurred_at         timestamptz NOT NULL,
  detected_at         timestamptz NOT NULL,
  primary_entity_id   text NOT NULL REFERENCES data_entities ON DELETE CASCADE,
  summary             text NOT NULL,
  relevance_score     double precision,
  opportunity_score   double precision,
  confidence          double precision NOT NULL DEFAULT 0 CHECK (confidence BETWEEN 0 AND 1),
  verification_status text NOT NULL DEFAULT 'unverified',
  match_reason        text,
  source_evidence     jsonb NOT NULL DEFAULT '[]',
  content_hash        bytea NOT NULL,
  -- When a page of the data API first held it.
  delivered_at        timestamptz,
  created_at          timestamptz NOT NULL DEFAULT now(),
  updated_at          timestamptz NOT NULL DEFAULT now(),
  -- As of data_entities.
  confidence_class    smallint NOT NULL GENERATED ALWAYS AS (floor(confidence * 100 + 1e-6)) STORED,
  UNIQUE (feed_id, external_key)
);
CREATE INDEX data_events_by_entity ON data_events (primary_entity_id);
-- Lists, as those of data_entities; newest first,
CREATE INDEX data_events_newest ON data_events (workspace_id, is_demo, detected_at, seq);
CREATE INDEX data_events_newest_of_feed ON data_events (feed_id, detected_at, seq);
CREATE INDEX data_events_newest_of_type ON data_events (workspace_id, is_demo, event_type, detected_at, seq);
CREATE INDEX data_events_newest_of_feed_type ON data_events (feed_id, event_type, detected_at, seq);
-- of at least a confidence.
CREATE INDEX data_events_sure ON data_events (workspace_id, is_demo, confidence_class, detected_at, seq);
CREATE INDEX data_events_sure_of_feed ON data_events (feed_id, confidence_class, detected_at, seq);
CREATE INDEX data_events_sure_of_type ON data_events (workspace_id, is_demo, event_type, confidence_class, detected_at, seq);

-- Keys of the data API, and what is counted for them.
CREATE TABLE data_keys (
  id                        text PRIMARY KEY,
  workspace_id              text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  name                      text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  mode                      text NOT NULL CHECK (mode IN ('live', 'test')),
  prefix                    text NOT NULL,
  hash                      bytea NOT NULL UNIQUE,
  scopes                    text[] NOT NULL,
  expires_at                timestamptz,
  ip_allowlist              text[] NOT NULL DEFAULT '{}',
  monthly_request_allowance bigint CHECK (monthly_request_allowance >= 0),
  monthly_credit_allowance  bigint CHECK (monthly_credit_allowance >= 0),
  revoked_at                timestamptz,
  created_by                text,
  created_at                timestamptz NOT NULL DEFAULT now(),
  last_used_at              timestamptz
);
CREATE INDEX data_keys_by_workspace ON data_keys (workspace_id, created_at DESC, id DESC);

-- Calendar months, UTC. What is compared with the allowances of the plan, and of the key.
CREATE TABLE data_months (
  workspace_id  text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  month         date NOT NULL,
  requests      bigint NOT NULL DEFAULT 0,
  records       bigint NOT NULL DEFAULT 0,
  credits       bigint NOT NULL DEFAULT 0,
  deliveries    bigint NOT NULL DEFAULT 0,
  source_checks bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (workspace_id, month)
);
CREATE TABLE data_key_months (
  key_id       text NOT NULL REFERENCES data_keys ON DELETE CASCADE,
  month        date NOT NULL,
  workspace_id text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  requests     bigint NOT NULL DEFAULT 0,
  records      bigint NOT NULL DEFAULT 0,
  credits      bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (key_id, month)
);
CREATE INDEX data_key_months_by_workspace ON data_key_months (workspace_id, month);
-- The ledger: what each answer cost. The counters above are its sums.
CREATE TABLE data_charges (
  seq          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  key_id       text NOT NULL,
  -- In which the request was admitted.
  month        date NOT NULL,
  request_id   text NOT NULL,
  operation    text NOT NULL,
  credits      integer NOT NULL CHECK (credits > 0),
  records      integer NOT NULL CHECK (records >= 0),
  charged_at   timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX data_charges_by_workspace ON data_charges (workspace_id, charged_at);
-- Shares of a plan's allowance that were used up, each told of once; a larger plan has shares of its own.
CREATE TABLE data_thresholds (
  workspace_id text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  month        date NOT NULL,
  meter        text NOT NULL CHECK (meter IN ('requests', 'credits')),
  allowance    bigint NOT NULL,
  percent      integer NOT NULL,
  reached_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, month, meter, allowance, percent)
);

-- Outbound webhooks. Endpoints of test keys hear of demo records only.
CREATE TABLE data_endpoints (
  id                    text PRIMARY KEY,
  workspace_id          text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  is_demo               boolean NOT NULL,
  url                   text NOT NULL,
  events                text[] NOT NULL,
  -- Sealed. The one before stays good for a while after a rotation.
  secret                text NOT NULL,
  previous_secret       text,
  previous_secret_until timestamptz,
  status                text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'failing')),
  consecutive_failures  integer NOT NULL DEFAULT 0,
  last_delivery_at      timestamptz,
  created_by            text,
  created_at            timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX data_endpoints_by_workspace ON data_endpoints (workspace_id, is_demo, created_at DESC, id DESC);

-- What happened, as endpoints are told; only what some endpoint wants to hear.
CREATE TABLE outbound_events (
  id           text PRIMARY KEY,
  workspace_id text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  type         text NOT NULL,
  data         json NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX outbound_events_by_age ON outbound_events (workspace_id, created_at);

CREATE TABLE data_deliveries (
  id               text PRIMARY KEY,
  workspace_id     text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  endpoint_id      text NOT NULL REFERENCES data_endpoints ON DELETE CASCADE,
  event_id         text NOT NULL REFERENCES outbound_events ON DELETE CASCADE,
  status           text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'dead')),
  -- Attempts that the endpoint has had since the delivery was last begun anew.
  attempts         integer NOT NULL DEFAULT 0,
  -- Rises when a delivery is begun anew.
  round            integer NOT NULL DEFAULT 1,
  created_at       timestamptz NOT NULL DEFAULT now(),
  ended_at         timestamptz
);
CREATE INDEX data_deliveries_by_endpoint ON data_deliveries (endpoint_id, created_at DESC, id DESC);

-- The log of a delivery.
CREATE TABLE data_delivery_attempts (
  delivery_id text NOT NULL REFERENCES data_deliveries ON DELETE CASCADE,
  round       integer NOT NULL,
  attempt     integer NOT NULL,
  started_at  timestamptz NOT NULL,
  duration_ms integer NOT NULL,
  status_code integer,
  error       text,
  PRIMARY KEY (delivery_id, round, attempt)
);
