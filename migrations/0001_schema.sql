-- The schema of 1.0.0. Later changes are numbered files beside this one, forward only.
--
-- Payloads (inputs, outputs, state) are `json`, not `jsonb`: they are stored and returned as they came, never
-- searched, and skipping the binary form is the cheaper write. What is filtered or joined on has a column of its own.

-- ---- Workspaces and people ---------------------------------------------------------------------------------------

CREATE TABLE workspaces (
  id              text PRIMARY KEY,
  name            text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  plan            text NOT NULL DEFAULT 'free' CHECK (plan IN ('free', 'starter', 'pro', 'enterprise')),
  created_at      timestamptz NOT NULL DEFAULT now(),
  policy_revision integer NOT NULL DEFAULT 0,
  -- Rises whenever a tool comes or goes: a graph that names some was checked for one revision.
  tool_revision   integer NOT NULL DEFAULT 0,
  -- Raised with each budget that is created: an admission that began before it sees that its budgets are out of date.
  budget_revision integer NOT NULL DEFAULT 0
);

CREATE TABLE members (
  id                   text PRIMARY KEY,
  workspace_id         text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  name                 text NOT NULL,
  email                text NOT NULL,
  role                 text NOT NULL CHECK (role IN ('admin', 'editor', 'viewer')),
  status               text NOT NULL CHECK (status IN ('active', 'invited', 'pending')),
  overrides            jsonb NOT NULL DEFAULT '{}',
  is_owner             boolean NOT NULL DEFAULT false,
  created_at           timestamptz NOT NULL DEFAULT now(),
  -- Who may come in, and as whom.
  password_hash        text,
  -- Session tokens carry it. A new password raises it, which voids every token from before.
  session_epoch        integer NOT NULL DEFAULT 1,
  -- The plain code, only where nothing can be sealed and the email is still due. A code is checked by its hash.
  invite_code          text UNIQUE,
  -- When the invitation is to be mailed (again); null when there is nothing to mail.
  invite_mail_due_at   timestamptz,
  invite_mail_attempts integer NOT NULL DEFAULT 0,
  -- Where a sign-up came from, so that one network cannot take all places of those who wait for approval.
  signup_network       text,
  -- SHA-256 of a code that can be used until `invite_expires_at`; also of a sign-up that was approved, where it is mailed.
  invite_code_hash     bytea,
  -- For listings; null where nothing can be sealed.
  invite_code_sealed   text,
  invite_expires_at    timestamptz,
  CONSTRAINT members_email_length CHECK (length(email) BETWEEN 3 AND 320),
  CONSTRAINT members_invite CHECK ((status <> 'invited') OR (invite_code IS NOT NULL) OR (invite_code_hash IS NOT NULL)),
  CONSTRAINT members_invite_code_has_use CHECK ((invite_code_hash IS NULL) OR (status IN ('invited', 'active'))),
  CONSTRAINT members_invite_code_hash_length CHECK (length(invite_code_hash) = 32),
  CONSTRAINT members_invite_expires CHECK ((invite_code_hash IS NULL) = (invite_expires_at IS NULL)),
  CONSTRAINT members_invited_has_no_password CHECK ((status <> 'invited') OR (password_hash IS NULL)),
  CONSTRAINT members_name_length CHECK (length(name) BETWEEN 1 AND 200)
);
CREATE INDEX members_by_workspace ON members (workspace_id, created_at, id);
CREATE UNIQUE INDEX members_email ON members (lower(email));
CREATE UNIQUE INDEX members_invite_code_hash ON members (invite_code_hash) WHERE invite_code_hash IS NOT NULL;
CREATE UNIQUE INDEX members_owner ON members (workspace_id) WHERE is_owner;
CREATE INDEX members_pending_by_network ON members (signup_network) WHERE status = 'pending';
CREATE INDEX members_to_mail ON members (invite_mail_due_at) WHERE invite_mail_due_at IS NOT NULL;

-- Failed sign-ins per account and per address in the current window. Losing them in a crash of the server only lets
-- somebody try again.
CREATE UNLOGGED TABLE sign_in_failures (
  subject        text PRIMARY KEY,
  failures       integer NOT NULL CHECK (failures >= 0),
  window_ends_at timestamptz NOT NULL
);
CREATE INDEX sign_in_failures_ended ON sign_in_failures (window_ends_at);

CREATE TABLE api_keys (
  id           text PRIMARY KEY,
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  name         text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  -- The beginning of the secret, to tell keys apart by.
  prefix       text NOT NULL,
  secret_hash  bytea NOT NULL UNIQUE CHECK (length(secret_hash) = 32),
  -- Of a linked key: what its member had when it was made; what counts is what the member has now.
  role         text NOT NULL CHECK (role IN ('admin', 'editor', 'viewer')),
  -- No reference: the key stays in the list, revoked, when its member is removed.
  member_id    text,
  created_by   text,
  created_at   timestamptz NOT NULL DEFAULT now(),
  revoked_at   timestamptz,
  last_used_at timestamptz
);
CREATE INDEX api_keys_by_member ON api_keys (member_id) WHERE member_id IS NOT NULL;
CREATE INDEX api_keys_by_workspace ON api_keys (workspace_id, created_at DESC, id DESC);

-- What each member did per UTC day. No reference to the member: the last of it may arrive when the member is gone.
CREATE TABLE member_days (
  workspace_id      text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  member_id         text NOT NULL,
  day               date NOT NULL,
  -- Audit entries of the member, and how many of them were of each kind; counted when they are sealed.
  actions           integer NOT NULL DEFAULT 0,
  runs              integer NOT NULL DEFAULT 0,
  approvals         integer NOT NULL DEFAULT 0,
  rejections        integer NOT NULL DEFAULT 0,
  workflows_created integer NOT NULL DEFAULT 0,
  -- Cost of the runs that the member triggered on that day.
  cost_micros       bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (workspace_id, member_id, day)
);

CREATE TABLE workspace_prices (
  workspace_id                 text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  model                        text NOT NULL,
  input_usd_per_million        numeric(14,6) NOT NULL CHECK (input_usd_per_million >= 0),
  output_usd_per_million       numeric(14,6) NOT NULL CHECK (output_usd_per_million >= 0),
  cached_input_usd_per_million numeric(14,6) CHECK (cached_input_usd_per_million >= 0),
  PRIMARY KEY (workspace_id, model)
);

-- ---- Workflows ---------------------------------------------------------------------------------------------------

CREATE TABLE workflows (
  id                  text PRIMARY KEY,
  workspace_id        text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  name                text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  description         text NOT NULL DEFAULT '',
  status              text NOT NULL DEFAULT 'draft' CHECK (status IN ('draft', 'published')),
  version             integer NOT NULL DEFAULT 1 CHECK (version > 0),
  checks              json NOT NULL DEFAULT '[]',
  run_cap_micros      bigint CHECK (run_cap_micros > 0),
  created_by          text,
  created_at          timestamptz NOT NULL DEFAULT now(),
  updated_at          timestamptz NOT NULL DEFAULT now(),
  -- Publishing needs an experiment of exactly what is published.
  requires_experiment boolean NOT NULL DEFAULT false,
  -- Caps, and budgets with an estimate, are not exceeded by requests whose cost has a bound. With 'one_step' they are
  -- exceeded by less than one step.
  overrun             text NOT NULL DEFAULT 'none' CHECK (overrun IN ('none', 'one_step'))
);
CREATE INDEX workflows_by_workspace ON workflows (workspace_id, created_at DESC, id DESC);

-- What a version of a workflow calls, as its graph names it. An editor needs other permissions to change what a published
-- workflow, or one with a trigger, reaches at any distance; the search walks backwards from what changes, by the index.
--
--   custom:<name>             a custom tool that a node calls, or an agent offers
--   workflow <id or name>     a workflow that a node calls, or an agent offers
--   current <id or name>      the same, where it is the current version
--   <version> <id or name>    the same, where it is this version
--   offered <tool>            a custom tool or a workflow whose texts the model of an agent reads
--
-- A version can be drawn in any form. No name has 500 characters, and an entry of the index has at most 2,700 bytes.
CREATE FUNCTION called_by_graph(graph json) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT coalesce(array_agg(DISTINCT called), '{}')
  FROM (
    SELECT n FROM json_array_elements(CASE WHEN json_typeof(graph -> 'nodes') = 'array' THEN graph -> 'nodes' ELSE '[]' END) AS n
    WHERE json_typeof(n) = 'object'
  ) AS nodes
  CROSS JOIN LATERAL (
    SELECT n ->> 'tool_name' AS called
    UNION ALL
    SELECT 'workflow ' || (n ->> 'workflow') WHERE n ->> 'kind' = 'workflow'
    UNION ALL
    SELECT CASE WHEN n ->> 'version' ~ '^[1-9][0-9]*$' THEN n ->> 'version' ELSE 'current' END || ' ' || (n ->> 'workflow')
    WHERE n ->> 'kind' = 'workflow'
    UNION ALL
    SELECT prefix || CASE WHEN prefix IN ('', 'offered ') THEN tool ELSE substr(tool, length('workflow:') + 1) END
    FROM (
      SELECT CASE json_typeof(entry) WHEN 'string' THEN entry #>> '{}' WHEN 'object' THEN entry ->> 'name' END AS tool
      FROM json_array_elements(CASE WHEN json_typeof(n -> 'tools') = 'array' THEN n -> 'tools' ELSE '[]' END) AS entry
    ) AS entries
    CROSS JOIN unnest(CASE WHEN starts_with(tool, 'custom:') THEN ARRAY['', 'offered ']
                           WHEN starts_with(tool, 'workflow:') THEN ARRAY['workflow ', 'current ', 'offered '] END) AS prefix
  ) AS calls
  WHERE length(called) < 500
    AND (starts_with(called, 'custom:') OR strpos(called, ' ') > 0)
$$;

CREATE TABLE workflow_versions (
  workflow_id     text NOT NULL REFERENCES workflows (id) ON DELETE CASCADE,
  version         integer NOT NULL,
  graph           json NOT NULL,
  created_by      text,
  created_at      timestamptz NOT NULL DEFAULT now(),
  -- The JSON Schema of a version's input; without one, any object is accepted.
  input_schema    json,
  -- The name of the author, as it was then, and what they said about the version.
  created_by_name text,
  note            text,
  -- No node can set the key 'secrets' any more, which nothing can read. Versions that may do so keep running.
  may_set_secrets boolean NOT NULL DEFAULT false,
  PRIMARY KEY (workflow_id, version)
);
CREATE INDEX workflow_versions_by_called ON workflow_versions USING gin (called_by_graph(graph));

-- Work on a workflow that nothing runs yet. Publishing makes it the current version and removes the row.
CREATE TABLE workflow_drafts (
  workflow_id   text PRIMARY KEY REFERENCES workflows (id) ON DELETE CASCADE,
  workspace_id  text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  -- The version that the work began at. The draft can be published while that is the current one.
  base_version  integer NOT NULL CHECK (base_version >= 1),
  graph         json NOT NULL,
  input_schema  json,
  -- Counts the saves that changed something.
  revision      integer NOT NULL DEFAULT 1 CHECK (revision >= 1),
  created_at    timestamptz NOT NULL DEFAULT now(),
  -- Who saved it last. The name is kept for keys without a member, and for members who leave.
  saved_by      text,
  saved_by_name text,
  saved_at      timestamptz NOT NULL DEFAULT now()
);

-- The names by which models call workflows. A name stays with its workflow until that is renamed or deleted, so that no
-- other workflow takes it meanwhile.
CREATE TABLE workflow_tools (
  workflow_id  text PRIMARY KEY REFERENCES workflows (id) ON DELETE CASCADE,
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  -- From the workflow's name; another one replaces the row.
  slug         text NOT NULL,
  name         text NOT NULL,
  CONSTRAINT workflow_tools_one_per_name UNIQUE (workspace_id, name)
);

-- Outputs of nodes that a member keeps from past runs, for tests of single nodes. The output is a copy: the run may be
-- removed by retention.
CREATE TABLE workflow_pins (
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  workflow_id  text NOT NULL REFERENCES workflows (id) ON DELETE CASCADE,
  -- Null: of the credentials without a member.
  member_id    text REFERENCES members (id) ON DELETE CASCADE,
  node_id      text NOT NULL,
  run_id       text NOT NULL,
  step_key     text NOT NULL,
  output       json NOT NULL,
  pinned_at    timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT workflow_pins_one_per_node UNIQUE NULLS NOT DISTINCT (workflow_id, member_id, node_id)
);
CREATE INDEX workflow_pins_by_member ON workflow_pins (member_id);

-- Graphs that somebody saved to begin others with. The ones that come with the service are not here.
CREATE TABLE templates (
  id           text PRIMARY KEY,
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  name         text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  description  text NOT NULL DEFAULT '',
  graph        json NOT NULL,
  checks       json NOT NULL DEFAULT '[]',
  sample_input json NOT NULL DEFAULT '{}',
  created_by   text,
  created_at   timestamptz NOT NULL DEFAULT now(),
  updated_at   timestamptz NOT NULL DEFAULT now(),
  input_schema json
);
CREATE INDEX templates_by_workspace ON templates (workspace_id, created_at DESC, id DESC);

-- What of the examples a start has made, so that later ones do not make again what retention or people have removed.
-- An entry outlives the workflow or run it names, hence no reference.
CREATE TABLE examples_made (
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  key          text NOT NULL,
  id           text NOT NULL,
  made_at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, key)
);

-- ---- Runs --------------------------------------------------------------------------------------------------------

CREATE TABLE runs (
  id                text PRIMARY KEY,
  workspace_id      text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  workflow_id       text NOT NULL REFERENCES workflows (id) ON DELETE CASCADE,
  workflow_version  integer NOT NULL,
  status            text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'running', 'paused', 'success', 'failed')),
  trigger           text NOT NULL CHECK (trigger IN ('manual', 'webhook', 'mcp', 'schedule', 'workflow')),
  input             json NOT NULL,
  state             json,
  output            json,
  error             text,
  failure           json,
  evals             json,
  cost_micros       bigint NOT NULL DEFAULT 0 CHECK (cost_micros >= 0),
  cost_cap_micros   bigint CHECK (cost_cap_micros >= 0),
  created_by        text,
  created_by_name   text,
  created_at        timestamptz NOT NULL DEFAULT now(),
  started_at        timestamptz,
  finished_at       timestamptz,
  updated_at        timestamptz NOT NULL DEFAULT now(),
  -- Time spent active and waiting at gates up to `phase_since`; the phase since then is told by the status.
  active_ms         bigint NOT NULL DEFAULT 0,
  waiting_ms        bigint NOT NULL DEFAULT 0,
  phase_since       timestamptz,
  -- Failures the execution has reported, and how many of them a resume has answered for.
  failures_reported integer NOT NULL DEFAULT 0,
  failures_granted  integer NOT NULL DEFAULT 0,
  resumed_count     integer NOT NULL DEFAULT 0,
  temporal_run_id   text,
  -- Executions that a resume has put aside: whatever they still say is ignored.
  superseded        text[] NOT NULL DEFAULT '{}',
  frame_seq         bigint NOT NULL DEFAULT 0,
  -- The history can no longer be replayed: the next resume starts a new execution from the ledger.
  from_ledger       boolean NOT NULL DEFAULT false,
  -- When the reconciler first found no live execution behind an open run.
  lost_since        timestamptz,
  checked_at        timestamptz,
  -- Freed from block budgets by an override: only the run's own cap holds.
  budget_exempt     boolean NOT NULL DEFAULT false,
  -- From a resume until its reset is about to be sent nobody works for the run: whatever execution still speaks is one
  -- from before, also one that the run's row has not heard of yet.
  resuming          boolean NOT NULL DEFAULT false,
  schedule_id       text,
  -- The time at which the schedule was due; null when somebody triggered it by hand.
  due_at            timestamptz,
  -- The step that started the run. A run outlives the parent that retention removes.
  parent_run_id     text REFERENCES runs (id) ON DELETE SET NULL,
  parent_step_key   text,
  -- The last attempt of that step, which started or resumed the run: an attempt that is repeated finds what it did.
  parent_attempt    integer NOT NULL DEFAULT 0,
  -- 1 for a run without a parent.
  depth             integer NOT NULL DEFAULT 1,
  -- The member who counts as the starter of a run, for the gates that exclude them: the one who triggered it, the one who
  -- created its schedule, or that of the run above it. Kept with the run, since a schedule can be deleted while a gate of
  -- its run is open. Null for a run that nobody started, such as that of an inbound webhook.
  starter_id        text,
  -- Runs that start from another one: run again, or forked at a step, with copies of the steps that were finished.
  forked_from       text REFERENCES runs (id) ON DELETE SET NULL,
  -- Null for a run that executes everything again.
  forked_from_step  text,
  -- What is laid over the state at steps, by step key.
  laid              json,
  -- The graph of a run of a draft; null for the graph of its version.
  graph             json,
  -- Rehearsals: runs whose steps take their results from the record of another run, their `forked_from`.
  -- What may be executed for real, and the decisions of the request; null for an ordinary run.
  rehearsal         json,
  -- The experiment whose rehearsal it is: one of each run.
  experiment_id     text,
  -- The event that started it, or that it replays.
  inbound_event_id  text,
  -- What the workflow had when the run was admitted, as its cap.
  overrun           text NOT NULL DEFAULT 'none',
  -- Every member who counts as a starter of a run, for the gates that exclude them: of the run itself and of those from
  -- which it starts, of the run above it, and of its schedule also those who changed when or with what it runs. Null: only
  -- `starter_id`, if any.
  starters          text[],
  CONSTRAINT runs_workflow_id_workflow_version_fkey FOREIGN KEY (workflow_id, workflow_version) REFERENCES workflow_versions,
  CONSTRAINT runs_check CHECK (failures_granted <= failures_reported),
  CONSTRAINT runs_check1 CHECK ((status IN ('success', 'failed')) = (finished_at IS NOT NULL))
);
-- Written once, when a run fails.
CREATE INDEX runs_by_failure ON runs (workspace_id, (failure ->> 'kind'), created_at DESC, id DESC)
  WHERE failure IS NOT NULL;
CREATE INDEX runs_by_source ON runs (forked_from, created_at DESC, id DESC) WHERE forked_from IS NOT NULL;
-- Rewritten when the status changes, which already writes every index of the row.
CREATE INDEX runs_by_status ON runs (workspace_id, status, created_at DESC, id DESC);
-- Runs of an old version are far from the start of the list, and the planner expects the runs of all versions everywhere in
-- it. Drafts have no version.
CREATE INDEX runs_by_version ON runs (workflow_id, workflow_version, created_at DESC, id DESC) WHERE graph IS NULL;
CREATE INDEX runs_by_workflow ON runs (workflow_id, created_at DESC, id DESC);
CREATE INDEX runs_by_workspace ON runs (workspace_id, created_at DESC, id DESC);
CREATE INDEX runs_live_by_schedule ON runs (schedule_id) WHERE schedule_id IS NOT NULL AND status IN ('pending', 'running', 'paused');
-- The few ended runs whose history holds payloads much older than their end: they waited at a gate, or were resumed.
CREATE INDEX runs_long_lived ON runs (created_at) WHERE finished_at - created_at > interval '1 day';
-- Runs whose execution was found gone are settled before others are looked at, however many are open.
CREATE INDEX runs_lost ON runs (lost_since) WHERE lost_since IS NOT NULL;
CREATE INDEX runs_of_drafts ON runs (workflow_id) WHERE graph IS NOT NULL;
CREATE UNIQUE INDEX runs_one_per_experiment ON runs (experiment_id, forked_from) WHERE experiment_id IS NOT NULL;
-- Also finds the children of a run.
CREATE UNIQUE INDEX runs_one_per_step ON runs (parent_run_id, parent_step_key) WHERE parent_run_id IS NOT NULL;
CREATE UNIQUE INDEX runs_one_per_tick ON runs (schedule_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX runs_open ON runs (coalesce(checked_at, created_at)) WHERE status IN ('pending', 'running', 'paused');
-- Children that have not begun, in order: how many of them a workspace has decides when the next is sent to Temporal.
CREATE INDEX runs_pending_children ON runs (workspace_id, depth DESC, id) WHERE status = 'pending' AND parent_run_id IS NOT NULL;
-- The cost of an open run changes with each step. A summary of ranges of pages costs these updates next to nothing and
-- leaves them in place (HOT), which a b-tree would not. It finds rare values; common ones are found soon in the order of
-- the list.
CREATE INDEX runs_ranges ON runs USING brin
  (cost_micros, active_ms, workflow_version, trigger text_bloom_ops, workspace_id text_bloom_ops)
  WITH (pages_per_range = 32, autosummarize = on);
CREATE INDEX runs_rehearsed ON runs (workspace_id, created_at DESC, id DESC) WHERE rehearsal IS NOT NULL;

CREATE TABLE idempotency_keys (
  workspace_id text NOT NULL,
  workflow_id  text NOT NULL,
  key          text NOT NULL,
  fingerprint  bytea NOT NULL,
  -- Deferred: the key is claimed before the run is written, both in one transaction.
  run_id       text NOT NULL REFERENCES runs (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
  created_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, workflow_id, key)
);
CREATE INDEX idempotency_keys_by_run ON idempotency_keys (run_id);

CREATE TABLE steps (
  run_id             text NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  step_key           text NOT NULL,
  node_id            text NOT NULL,
  label              text NOT NULL,
  kind               text NOT NULL
                     CHECK (kind IN ('agent', 'tool', 'condition', 'loop', 'map', 'workflow', 'human_gate', 'merge')),
  iteration          integer[] NOT NULL DEFAULT '{}',
  -- State key of the output; null: the node id.
  output_key         text,
  status             text NOT NULL
                     CHECK (status IN ('running', 'success', 'failed', 'paused', 'skipped', 'cancelled', 'unrecorded')),
  -- Tries that ended in an error of the node, and how many of them a resume has forgiven.
  errors             integer NOT NULL DEFAULT 0,
  forgiven           integer NOT NULL DEFAULT 0,
  attempts           integer NOT NULL DEFAULT 1,
  -- The run's `resumed_count` when the step was last begun: a failed step is tried again only after a resume.
  epoch              integer NOT NULL DEFAULT 0,
  -- Part of the key that outside tools deduplicate by; rises after a definite error answer.
  generation         integer NOT NULL DEFAULT 0,
  -- Who is working on it (execution and attempt) and until when that is believed.
  claim              text,
  claim_until        timestamptz,
  -- Where the step stands among the run's others: the number of its first frame.
  ordinal            bigint NOT NULL DEFAULT 0,
  -- The workflow task at which the result became part of the execution's state.
  event_id           bigint,
  queued_at          timestamptz,
  started_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
  finished_at        timestamptz,
  cost_micros        bigint NOT NULL DEFAULT 0 CHECK (cost_micros >= 0),
  model              text,
  usage              json,
  unpriced           boolean NOT NULL DEFAULT false,
  input              json,
  output             json,
  error              text,
  policy             json NOT NULL DEFAULT '[]',
  -- When the attempt at a step began that is its last so far, unless that is its very first. Null: its
  -- only attempt began at `started_at`.
  attempt_started_at timestamptz,
  -- What the attempt at work at a step may cost, counted against its run's cap and budgets until it ends. Both are set
  -- only where a cap or a budget with an estimate applies; what they say counts only while the claim lasts.
  expected_micros    bigint,
  expected_unknown   boolean NOT NULL DEFAULT false,
  -- When the newest attempt ended, where the step goes on without it.
  attempt_ended_at   timestamptz,
  -- Agents that use tools: each turn and each call is a step under the agent's step.
  parent_step_key    text,
  -- From 1.
  turn               integer,
  -- The number of a call in its turn, from 1, and its tool; null for a turn.
  call_index         integer,
  call_tool          text,
  -- Why a step has failed. `caught`: its error edges were taken, so the run continued, and a resume does not repeat it.
  error_kind         text CHECK (error_kind IN ('node', 'timeout', 'policy', 'rejected', 'child')),
  caught             boolean NOT NULL DEFAULT false,
  -- Whether the stream of the run has said that the child of the step is paused.
  child_paused       boolean NOT NULL DEFAULT false,
  -- The run that executed the step. It may have been deleted since.
  reused_from        text,
  -- The answer had no usage, and counts what it may have cost at most.
  cost_estimated     boolean NOT NULL DEFAULT false,
  PRIMARY KEY (run_id, step_key)
);

-- Attempts at steps that another attempt followed, also one after a resume. The newest attempt is the step's own row, so
-- most steps have none here.
CREATE TABLE step_attempts (
  run_id      text NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  step_key    text NOT NULL,
  attempt     integer NOT NULL,
  started_at  timestamptz NOT NULL,
  ended_at    timestamptz NOT NULL,
  outcome     text NOT NULL CHECK (outcome IN ('failed', 'cancelled', 'interrupted')),
  error       text,
  -- All attempts at a step together cost what the step costs. One that ends late adds to its own.
  cost_micros bigint NOT NULL,
  -- Of an attempt that had not ended when the next one began.
  claim       text,
  PRIMARY KEY (run_id, step_key, attempt)
);

-- What the steps of the other run were executed with. A step of the rehearsal with the same digest has the same result.
CREATE TABLE recorded_steps (
  run_id   text NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  step_key text NOT NULL,
  -- Of the node and its rendered input.
  digest   text NOT NULL,
  PRIMARY KEY (run_id, step_key)
);

CREATE TABLE gates (
  run_id            text NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  step_key          text NOT NULL,
  round             integer NOT NULL,
  node_id           text NOT NULL,
  label             text NOT NULL,
  prompt            text NOT NULL,
  -- Nothing follows a rejection here: it fails the run.
  fails_on_reject   boolean NOT NULL,
  status            text NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'approved', 'rejected', 'cancelled')),
  input             json,
  opened_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
  decided_at        timestamptz,
  decided_by        text,
  decided_by_name   text,
  -- What the person who decided gave as the reason.
  reason            text,
  kind              text NOT NULL DEFAULT 'human_gate' CHECK (kind IN ('human_gate', 'tool_call')),
  -- The rest is for kind `tool_call`. The arguments as they were shown, and the digest over them.
  tool              text,
  turn              integer,
  arguments         json,
  schema_digest     text,
  digest            text,
  -- Where the approver changed them. The decision is bound to `decided_digest`.
  decided_arguments json,
  decided_digest    text,
  -- What a gate asks of its approvers, as its version had it when it opened. Null: any approval by anyone decides it.
  settings          json,
  -- Who has decided so far, oldest first: [{member_id, by, approved, at, reason, input}]. The row's lock counts them.
  decisions         json,
  -- The deadline and the next reminder, by the clock of the database. The execution of the run has a timer for them.
  expires_at        timestamptz,
  remind_at         timestamptz,
  reminders         integer NOT NULL DEFAULT 0,
  -- Set when the deadline decided the gate, to what the gate does then.
  timed_out         text CHECK (timed_out IN ('reject', 'approve', 'fail')),
  -- The member who is expected to decide a gate. Others who can decide it still can.
  assignee_id       text,
  -- Who made the decision at a gate: a person (a member or a key), the deadline of the gate, or the request of a rehearsal.
  -- `reused_from`: the run in which it was made, when a fork or a rehearsal took it over. Such a decision is history.
  decided_by_kind   text CHECK (decided_by_kind IN ('member', 'deadline', 'request')),
  reused_from       text,
  tool_digest       text,
  PRIMARY KEY (run_id, step_key, round),
  CONSTRAINT gates_tool_call_check CHECK ((kind <> 'tool_call') OR ((tool IS NOT NULL) AND (turn IS NOT NULL) AND (arguments IS NOT NULL) AND (schema_digest IS NOT NULL) AND (digest IS NOT NULL)))
);
CREATE INDEX gates_open ON gates (opened_at, run_id) WHERE status = 'open';

-- What a run's stream says, in order. The number is taken under the run's row lock, so commit order is number order.
CREATE TABLE run_frames (
  run_id     text NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  seq        bigint NOT NULL,
  frame      json NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (run_id, seq)
);

-- What has been promised to Temporal and is not yet known to have reached it. Rows of one run are carried out in
-- order and removed when they hold. No reference to the run: a deleted run's execution still has to be ended.
CREATE TABLE outbox (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run_id       text NOT NULL,
  kind         text NOT NULL CHECK (kind IN ('start', 'decision', 'cancel', 'resume', 'alert', 'child', 'job')),
  payload      json NOT NULL DEFAULT '{}',
  attempts     integer NOT NULL DEFAULT 0,
  due_at       timestamptz NOT NULL DEFAULT now(),
  leased_until timestamptz,
  last_error   text,
  created_at   timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX outbox_by_run ON outbox (run_id, id);
CREATE INDEX outbox_due ON outbox (due_at);

-- Payloads too large for the event history, by content.
CREATE TABLE payloads (
  digest     text PRIMARY KEY,
  bytes      bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- When a payload was last given to Temporal, within a day: storing it again touches it.
  stored_at  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX payloads_by_age ON payloads (stored_at);

-- The words of a run: its id, input, output and error. Each has the key of the workspace and the day before it, so that
-- a search reads the entries of one workspace only, and stops at the day that fills its page.
CREATE TABLE run_words (
  run_id text PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
  words  tsvector NOT NULL
);
CREATE INDEX run_words_of ON run_words USING gin (words);

-- Runs whose words have changed since they were read. No reference to the run: it may be deleted before.
CREATE TABLE run_words_due (
  id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run_id text NOT NULL
);

-- Filters of the list of runs that a member has saved under a name.
CREATE TABLE run_views (
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  -- Null: of the credentials without a member.
  member_id    text REFERENCES members (id) ON DELETE CASCADE,
  name         text NOT NULL,
  filter       text NOT NULL,
  saved_at     timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT run_views_one_per_name UNIQUE NULLS NOT DISTINCT (workspace_id, member_id, name)
);
CREATE INDEX run_views_by_member ON run_views (member_id);

-- ---- Money -------------------------------------------------------------------------------------------------------

CREATE TABLE usage_days (
  workspace_id  text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  day           date NOT NULL,
  runs          bigint NOT NULL DEFAULT 0,
  succeeded     bigint NOT NULL DEFAULT 0,
  failed        bigint NOT NULL DEFAULT 0,
  cost_micros   bigint NOT NULL DEFAULT 0,
  evaluated     bigint NOT NULL DEFAULT 0,
  checks_passed bigint NOT NULL DEFAULT 0,
  checks_total  bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (workspace_id, day)
);

-- What happened to a workspace's runs, by the UTC day they were created on. Writers append a delta, so that no two of
-- them wait for each other; from time to time deltas are folded into their day. A reader adds up both, in one statement.
CREATE TABLE usage_deltas (
  id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id  text NOT NULL,
  day           date NOT NULL,
  runs          integer NOT NULL DEFAULT 0,
  succeeded     integer NOT NULL DEFAULT 0,
  failed        integer NOT NULL DEFAULT 0,
  cost_micros   bigint NOT NULL DEFAULT 0,
  evaluated     integer NOT NULL DEFAULT 0,
  checks_passed integer NOT NULL DEFAULT 0,
  checks_total  integer NOT NULL DEFAULT 0,
  -- Whose run the cost is of; null for runs that no member triggered, and for what is not cost.
  member_id     text
);
CREATE INDEX usage_deltas_by_workspace ON usage_deltas (workspace_id);

-- Runs counted against the monthly quota. Limited plans count in shard 0 alone, whose row is the gate; unlimited ones
-- spread over the others, since nobody has to wait for them. Deleting runs changes nothing here.
CREATE TABLE run_counters (
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  month        date NOT NULL,
  shard        smallint NOT NULL,
  runs         bigint NOT NULL CHECK (runs >= 0),
  PRIMARY KEY (workspace_id, month, shard)
);

CREATE TABLE budgets (
  id              text PRIMARY KEY,
  workspace_id    text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  name            text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  scope           text NOT NULL CHECK (scope IN ('workspace', 'workflow')),
  workflow_id     text REFERENCES workflows (id) ON DELETE CASCADE,
  "window"        text NOT NULL CHECK ("window" IN ('day', 'week', 'month', 'total')),
  limit_micros    bigint NOT NULL CHECK (limit_micros > 0),
  -- What each trigger reserves; null: only settled spend counts.
  estimate_micros bigint CHECK (estimate_micros >= 0),
  -- The window that the two counters are of; a later one begins with zeros.
  window_start    timestamptz NOT NULL,
  spent_micros    bigint NOT NULL DEFAULT 0 CHECK (spent_micros >= 0),
  reserved_micros bigint NOT NULL DEFAULT 0 CHECK (reserved_micros >= 0),
  created_at      timestamptz NOT NULL DEFAULT now(),
  updated_at      timestamptz NOT NULL DEFAULT now(),
  overrun         text NOT NULL DEFAULT 'none' CHECK (overrun IN ('none', 'one_step')),
  CONSTRAINT budgets_check CHECK ((scope = 'workflow') = (workflow_id IS NOT NULL))
);
CREATE INDEX budgets_by_workflow ON budgets (workflow_id) WHERE workflow_id IS NOT NULL;
CREATE INDEX budgets_by_workspace ON budgets (workspace_id, id);

-- The ledger behind the counters: one row per budget, run and hold. The n-th hold of a run is that of its n-th resume.
-- No reference to the run: what it cost stays when it is deleted. Run '' is what was spent before the budget began.
CREATE TABLE budget_holds (
  budget_id       text NOT NULL REFERENCES budgets (id) ON DELETE CASCADE,
  run_id          text NOT NULL,
  n               integer NOT NULL,
  window_start    timestamptz NOT NULL,
  -- What the run had cost when the hold was placed; the hold is for what comes on top.
  base_micros     bigint NOT NULL DEFAULT 0,
  -- Reserved at first; null: nothing is reserved, the cost counts once it is settled.
  estimate_micros bigint CHECK (estimate_micros >= 0),
  held_micros     bigint NOT NULL DEFAULT 0 CHECK (held_micros >= 0),
  spent_micros    bigint NOT NULL DEFAULT 0 CHECK (spent_micros >= 0),
  status          text NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'settled', 'reaped')),
  opened_at       timestamptz NOT NULL DEFAULT now(),
  closed_at       timestamptz,
  -- Of what a hold reserves, the part that its run has not cost yet and that goes beyond the estimate; and whether a step
  -- that may cost anything is at work beyond the estimate.
  pending_micros  bigint NOT NULL DEFAULT 0,
  pending_unknown boolean NOT NULL DEFAULT false,
  -- The hold of a run that another one started is part of that run's: it places no estimate of its own, takes what its
  -- requests need from the hold of the nearest run above it that placed one, and gives back what they did not use. Its
  -- estimate_micros is what it has taken.
  contained       boolean NOT NULL DEFAULT false,
  PRIMARY KEY (budget_id, run_id, n),
  CONSTRAINT budget_holds_check CHECK ((status = 'open') = (closed_at IS NULL)),
  CONSTRAINT budget_holds_check1 CHECK ((status = 'open') OR (held_micros = 0))
);
CREATE INDEX budget_holds_by_run ON budget_holds (run_id, n);
-- The history of a budget: what ended lately, out of a ledger that is never cleared. With half a million holds the days
-- of one window are read in 2 ms instead of 700, those of a budget without window in 110 instead of 950. A hold has its
-- entry from its end on, which makes new ones in all indexes as it is, since it leaves that of open holds.
CREATE INDEX budget_holds_closed ON budget_holds (budget_id, closed_at) WHERE closed_at IS NOT NULL;
CREATE INDEX budget_holds_open ON budget_holds (opened_at) WHERE status = 'open';
CREATE INDEX budget_holds_pending ON budget_holds (budget_id) WHERE pending_micros > 0 OR pending_unknown;

-- ---- Governance --------------------------------------------------------------------------------------------------

-- What a workspace allows agents and tools. No row: everything. Its revision is on the workspace, where a step reads
-- it with one look-up by key: a step begins only while it was judged by the revision that stands there.
CREATE TABLE workspace_policies (
  workspace_id text PRIMARY KEY REFERENCES workspaces (id) ON DELETE CASCADE,
  policies     json NOT NULL,
  updated_at   timestamptz NOT NULL DEFAULT now()
);

-- What policies, budgets and overrides decided. No reference to workflow and run: a decision stays when they are gone.
CREATE TABLE governance_events (
  -- The first 48 bits of a random UUID, as twelve hex digits.
  id           text PRIMARY KEY DEFAULT "left"(replace((gen_random_uuid())::text, '-', ''), 12) CHECK (id ~ '^[0-9a-f]{12}$'),
  -- Newest first is by this number: several events of one statement have one time.
  seq          bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  type         text NOT NULL
               CHECK (type IN ('policy_denied', 'tool_argument_blocked', 'data_redacted', 'budget_blocked', 'model_fallback_blocked', 'approval_override_granted')),
  workflow_id  text,
  version      integer,
  run_id       text,
  node_id      text,
  policy       text NOT NULL
               CHECK (policy IN ('tool_permission', 'tool_argument', 'dlp', 'model_allowlist', 'budget', 'fallback')),
  actor_id     text,
  decision     text NOT NULL CHECK (decision IN ('blocked', 'denied', 'redacted', 'granted')),
  reason       text NOT NULL,
  evidence     json NOT NULL DEFAULT '{}',
  created_at   timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX governance_events_by_decision ON governance_events (workspace_id, decision, seq DESC);
CREATE INDEX governance_events_by_run ON governance_events (run_id, seq DESC) WHERE run_id IS NOT NULL;
CREATE INDEX governance_events_by_type ON governance_events (workspace_id, type, seq DESC);
CREATE INDEX governance_events_by_workflow ON governance_events (workflow_id, seq DESC) WHERE workflow_id IS NOT NULL;
CREATE INDEX governance_events_by_workspace ON governance_events (workspace_id, seq DESC);

-- ---- The audit log -----------------------------------------------------------------------------------------------

CREATE TABLE audit_log (
  id           text PRIMARY KEY,
  seq          bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
  workspace_id text NOT NULL,
  action       text NOT NULL,
  actor_id     text,
  actor_name   text,
  target_type  text NOT NULL,
  target_id    text NOT NULL,
  details      jsonb NOT NULL DEFAULT '{}',
  created_at   timestamptz NOT NULL DEFAULT clock_timestamp()
);
-- The audit log is searched and counted by any of these alone. Ascending, although the newest are wanted first: entries
-- come at the end of each key's, which keeps the pages of an index full. The time is in them so that a search that also
-- asks for one need not read the entries.
CREATE INDEX audit_log_by_action ON audit_log (workspace_id, action, seq) INCLUDE (created_at);
CREATE INDEX audit_log_by_actor ON audit_log (workspace_id, actor_id, seq DESC) WHERE actor_id IS NOT NULL;
CREATE INDEX audit_log_by_target ON audit_log (workspace_id, target_id, seq) INCLUDE (created_at);
CREATE INDEX audit_log_by_target_type ON audit_log (workspace_id, target_type, seq) INCLUDE (created_at);
CREATE INDEX audit_log_by_time ON audit_log (workspace_id, created_at, seq);
CREATE INDEX audit_log_by_workspace ON audit_log (workspace_id, seq DESC);
-- For counting alone: of few different values, it is a twentieth of the others in size and read twice as fast.
CREATE INDEX audit_log_counted ON audit_log (workspace_id, target_type, action);

-- Each audit entry is sealed soon after its commit: a seal holds the hash of the seal before it and of the entry, so
-- that no entry can be changed, removed or put between others without breaking the chain. The hash is computed by the
-- sealer and by the check (shared/db/audit-chain.ts), never by the database itself: what a function here says could
-- be changed together with the rows.
--
-- Entries that wait for their seal. Known by the queue and not by a number up to which all is sealed, since an entry
-- can become visible long after a later one.
CREATE TABLE audit_unsealed (
  workspace_id text NOT NULL,
  seq          bigint NOT NULL,
  PRIMARY KEY (workspace_id, seq)
);

CREATE TABLE audit_seals (
  workspace_id  text NOT NULL,
  "position"    bigint NOT NULL CHECK ("position" > 0),
  audit_id      text NOT NULL UNIQUE,
  previous_hash bytea NOT NULL CHECK (length(previous_hash) = 32),
  hash          bytea NOT NULL CHECK (length(hash) = 32),
  sealed_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (workspace_id, "position")
);

-- One row per workspace. The head is the newest seal. The base is the newest one that a sweep has removed: the chain
-- is checked from there. No reference to the workspace: the chain outlives it, as the log does.
CREATE TABLE audit_chains (
  workspace_id  text PRIMARY KEY,
  head_position bigint NOT NULL DEFAULT 0,
  head_hash     bytea NOT NULL DEFAULT decode(repeat('00', 32), 'hex') CHECK (length(head_hash) = 32),
  base_position bigint NOT NULL DEFAULT 0,
  base_hash     bytea NOT NULL DEFAULT decode(repeat('00', 32), 'hex') CHECK (length(base_hash) = 32),
  CONSTRAINT audit_chains_check CHECK ((base_position >= 0) AND (base_position <= head_position))
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
  base_hash     bytea NOT NULL DEFAULT '\x'::bytea,
  swept_at      timestamptz NOT NULL DEFAULT clock_timestamp()
);
-- Sweeps at the same moment take their turn after they got their id: their order is that of the bases.
CREATE UNIQUE INDEX audit_sweeps_by_base ON audit_sweeps (workspace_id, base_position);

-- ---- Retention ---------------------------------------------------------------------------------------------------

-- What a sweep has removed and not yet told in the audit log. Counted in the transaction that removes, told and
-- emptied in one at the end: a sweeper that dies in between leaves the counts to the next one.
CREATE TABLE retention_removals (
  workspace_id text PRIMARY KEY REFERENCES workspaces (id) ON DELETE CASCADE,
  runs         integer NOT NULL DEFAULT 0 CHECK (runs >= 0),
  audit        integer NOT NULL DEFAULT 0 CHECK (audit >= 0)
);

-- ---- Triggers ----------------------------------------------------------------------------------------------------

-- Schedules. What Temporal keeps of one is made from its row.
CREATE TABLE schedules (
  id               text PRIMARY KEY,
  workspace_id     text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  workflow_id      text NOT NULL REFERENCES workflows (id) ON DELETE CASCADE,
  name             text,
  cron             text NOT NULL,
  timezone         text NOT NULL DEFAULT 'UTC',
  input            json NOT NULL DEFAULT '{}',
  enabled          boolean NOT NULL DEFAULT true,
  overlap          text NOT NULL DEFAULT 'skip' CHECK (overlap IN ('skip', 'allow')),
  -- What was due before it was made, or before its times were changed, is not caught up with.
  effective_from   timestamptz NOT NULL DEFAULT date_trunc('second', now()),
  -- Rises with each change; Temporal has been told of all up to `told_revision`. Who tells it holds the lease.
  revision         integer NOT NULL DEFAULT 1,
  told_revision    integer NOT NULL DEFAULT 0,
  told_at          timestamptz,
  leased_until     timestamptz,
  last_run_at      timestamptz,
  last_run_id      text,
  last_skip_at     timestamptz,
  last_skip_reason text,
  created_by       text,
  created_at       timestamptz NOT NULL DEFAULT now(),
  -- Why Temporal refused the schedule for good; it does not run until it is changed.
  sync_error       text,
  -- The release of the time zone rules with which the schedule was synced, such as 2025c; null: without rules of ours.
  told_rules       text,
  editors          text[] NOT NULL DEFAULT '{}',
  CONSTRAINT schedules_check CHECK ((last_skip_at IS NULL) = (last_skip_reason IS NULL))
);
CREATE INDEX schedules_by_workflow ON schedules (workflow_id);
CREATE INDEX schedules_by_workspace ON schedules (workspace_id, created_at DESC, id DESC);
CREATE INDEX schedules_to_tell ON schedules (id) WHERE told_revision < revision;

-- Other ways to start a run, and tools of a workspace's own.
--
-- Inbound webhooks. One per workflow; without a row, or without a secret, it is disabled.
CREATE TABLE workflow_webhooks (
  workflow_id                 text PRIMARY KEY REFERENCES workflows (id) ON DELETE CASCADE,
  workspace_id                text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  -- Readable, not hashed: the URL that is shown holds it, and signatures are made with it.
  secret                      text CHECK (secret ~ '^[0-9a-f]{32}$'),
  require_signature           boolean NOT NULL DEFAULT false,
  timestamp_tolerance_seconds integer NOT NULL DEFAULT 300 CHECK (timestamp_tolerance_seconds > 0),
  dedup_window_seconds        integer NOT NULL DEFAULT 0 CHECK (dedup_window_seconds >= 0),
  event_id_field              text NOT NULL DEFAULT 'event_id',
  -- Senders of webhooks that cannot adapt: their forms, their challenges and the header with the id of an event.
  accept_forms                boolean NOT NULL DEFAULT false,
  answer_challenges           boolean NOT NULL DEFAULT false,
  event_id_header             text
);

-- Events that have started a run, for as long as the window lasts in which they are told from new ones.
CREATE TABLE webhook_events (
  workflow_id text NOT NULL REFERENCES workflows (id) ON DELETE CASCADE,
  event_id    text NOT NULL,
  run_id      text NOT NULL,
  received_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workflow_id, event_id)
);
CREATE INDEX webhook_events_by_age ON webhook_events (workflow_id, received_at);

-- Signatures of events that have come, for as long as they could be sent again: each is good for one run. Kept as SHA-256.
CREATE TABLE webhook_signatures (
  workflow_id text NOT NULL REFERENCES workflows (id) ON DELETE CASCADE,
  signature   bytea NOT NULL,
  run_id      text NOT NULL,
  signed_at   timestamptz NOT NULL,
  PRIMARY KEY (workflow_id, signature)
);
CREATE INDEX webhook_signatures_by_age ON webhook_signatures (workflow_id, signed_at);

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
  CONSTRAINT inbound_events_check CHECK ((outcome = 'refused') = (reason IS NOT NULL))
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
CREATE INDEX inbound_event_replays_by_event ON inbound_event_replays (event_id);
CREATE UNIQUE INDEX inbound_event_replays_once ON inbound_event_replays (event_id, job_id) WHERE job_id IS NOT NULL;

-- ---- Tools and secrets -------------------------------------------------------------------------------------------

-- Custom tools, called from workflows as `custom:<name>`.
CREATE TABLE custom_tools (
  id              text PRIMARY KEY,
  workspace_id    text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  name            text NOT NULL CHECK (name ~ '^[a-z][a-z0-9_-]{0,63}$'),
  label           text NOT NULL DEFAULT '',
  description     text NOT NULL DEFAULT '',
  kind            text NOT NULL DEFAULT 'http' CHECK (kind IN ('http', 'mcp')),
  endpoint_url    text NOT NULL,
  method          text NOT NULL DEFAULT 'POST',
  -- Each value sealed; names are readable.
  headers         json NOT NULL DEFAULT '{}',
  mcp_tool        text,
  input_schema    json,
  timeout_seconds integer NOT NULL DEFAULT 60 CHECK (timeout_seconds > 0),
  retry_count     integer NOT NULL DEFAULT 1 CHECK (retry_count >= 0),
  created_by      text,
  created_at      timestamptz NOT NULL DEFAULT now(),
  updated_at      timestamptz NOT NULL DEFAULT now(),
  -- The digest of the schema that an MCP server gave for a tool when it was imported. A call is refused while the server
  -- gives another one. Null for a tool that was registered by hand, or changed since.
  pinned_schema   text CHECK (pinned_schema ~ '^sha256:[0-9a-f]{64}$'),
  -- An approval of a tool call is bound to what the call reaches. Calls that wait have no digest of it: those of custom tools and
  -- of workflows are refused when they are approved, and the agent can call again.
  revision        integer NOT NULL DEFAULT 1,
  CONSTRAINT custom_tools_workspace_id_name_key UNIQUE (workspace_id, name),
  CONSTRAINT custom_tools_check CHECK ((kind = 'mcp') = (mcp_tool IS NOT NULL))
);

-- Values that workflows send to other services. A value is sealed, and opens only for its workspace and name.
CREATE TABLE secrets (
  workspace_id  text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  name          text NOT NULL CHECK (name ~ '^[A-Z][A-Z0-9_]{0,63}$'),
  sealed_value  text NOT NULL,
  -- In their canonical form: lower case, without a default port.
  allowed_hosts text[] NOT NULL CHECK (cardinality(allowed_hosts) BETWEEN 1 AND 20),
  description   text NOT NULL,
  created_at    timestamptz NOT NULL DEFAULT now(),
  updated_at    timestamptz NOT NULL DEFAULT now(),
  -- When a call last needed it, to the minute.
  last_used_at  timestamptz,
  PRIMARY KEY (workspace_id, name)
);

-- ---- Background jobs ---------------------------------------------------------------------------------------------

-- Background jobs: work over a workspace's history with a row here and an execution in Temporal. The row decides: its
-- status, and after which page it continues.
CREATE TABLE background_jobs (
  id              text PRIMARY KEY,
  workspace_id    text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  kind            text NOT NULL CHECK (kind IN ('backtest', 'experiment', 'event_replay')),
  status          text NOT NULL DEFAULT 'running' CHECK (status IN ('running', 'done', 'cancelled', 'failed')),
  request         json NOT NULL,
  -- Where the next page begins; null: at the beginning.
  "position"      json,
  -- Counts the pages that were kept. A page is kept only by who has read the one before.
  pages           integer NOT NULL DEFAULT 0,
  done            bigint NOT NULL DEFAULT 0,
  -- Null until it was counted.
  total           bigint,
  result          json NOT NULL DEFAULT '{}',
  error           text,
  -- Counts the executions: a job whose execution was lost gets another one.
  round           integer NOT NULL DEFAULT 1,
  created_by      text,
  created_by_name text,
  created_at      timestamptz NOT NULL DEFAULT now(),
  updated_at      timestamptz NOT NULL DEFAULT now(),
  finished_at     timestamptz,
  CONSTRAINT background_jobs_check CHECK ((status = 'running') = (finished_at IS NULL))
);
CREATE INDEX background_jobs_by_workspace ON background_jobs (workspace_id, kind, created_at DESC, id DESC);
CREATE INDEX background_jobs_running ON background_jobs (updated_at) WHERE status = 'running';

-- Steps that other policies would have judged differently.
CREATE TABLE backtest_findings (
  job_id   text NOT NULL REFERENCES background_jobs (id) ON DELETE CASCADE,
  -- In the order in which they were found, from 1.
  n        integer NOT NULL,
  effect   text NOT NULL CHECK (effect IN ('would_block', 'would_redact', 'would_allow')),
  run_id   text NOT NULL,
  step_key text NOT NULL,
  node_id  text NOT NULL,
  before   text NOT NULL CHECK (before IN ('allowed', 'redacted', 'blocked')),
  after    text NOT NULL CHECK (after IN ('allowed', 'redacted', 'blocked')),
  reason   text NOT NULL,
  PRIMARY KEY (job_id, n)
);

-- What a job of the kind `experiment` tries on past runs of a workflow.
CREATE TABLE experiments (
  id             text PRIMARY KEY REFERENCES background_jobs (id) ON DELETE CASCADE,
  workspace_id   text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  workflow_id    text NOT NULL REFERENCES workflows (id) ON DELETE CASCADE,
  -- Null for a draft. Graph and schema are those of the version or of the draft as it was.
  version        integer,
  graph          json NOT NULL,
  input_schema   json,
  -- Of graph and schema: shows whether a draft is the one that was tried.
  content_digest text NOT NULL,
  -- Those of the workflow as it was. Both runs of a pair are scored by them.
  checks         json NOT NULL,
  -- How rehearsals execute what has no record.
  rules          json NOT NULL,
  budget_micros  bigint CHECK (budget_micros > 0),
  created_at     timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX experiments_by_content ON experiments (workflow_id, content_digest, created_at DESC);
CREATE INDEX experiments_by_workflow ON experiments (workflow_id, created_at DESC, id DESC);

-- The runs of an experiment, and what the rehearsal of each has shown.
CREATE TABLE experiment_runs (
  experiment_id    text NOT NULL REFERENCES experiments (id) ON DELETE CASCADE,
  n                integer NOT NULL,
  -- It may have been deleted since.
  run_id           text NOT NULL,
  rehearsal_run_id text,
  outcome          text CHECK (outcome IN ('equal', 'changed', 'failed', 'unrecorded', 'refused')),
  -- Orders the runs that are done, the worst with the highest.
  badness          integer,
  reason           text,
  diff             json,
  checks_won       json,
  checks_lost      json,
  -- Null where there is nothing to compare. The durations are those of the steps.
  base_micros      bigint,
  candidate_micros bigint,
  base_ms          bigint,
  candidate_ms     bigint,
  PRIMARY KEY (experiment_id, n),
  CONSTRAINT experiment_runs_experiment_id_run_id_key UNIQUE (experiment_id, run_id),
  CONSTRAINT experiment_runs_check CHECK ((outcome IS NULL) = (badness IS NULL))
);
CREATE INDEX experiment_runs_open ON experiment_runs (experiment_id, n) WHERE outcome IS NULL;
CREATE INDEX experiment_runs_worst ON experiment_runs (experiment_id, badness DESC, n) WHERE outcome IS NOT NULL;

-- ---- The data API: records ---------------------------------------------------------------------------------------

-- The data API: records that are collected, who may read them, what that costs, and who is told of what happens.
--
-- Store. A feed is a stream of records of some types. Its records are all made up (`is_demo`) or all real.
CREATE TABLE data_feeds (
  id              text PRIMARY KEY,
  workspace_id    text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
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
  workspace_id         text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
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
  CONSTRAINT data_sources_workspace_id_is_demo_name_key UNIQUE (workspace_id, is_demo, name)
);

-- Whoever writes records of a workspace holds its row: they take turns, and stamp what they write in that order.
CREATE TABLE data_turns (
  workspace_id text PRIMARY KEY REFERENCES workspaces (id) ON DELETE CASCADE,
  stamp        timestamptz NOT NULL
);

-- Canonical records. `seq` is the order in which they came to be; `is_demo` is their feed's.
CREATE TABLE data_entities (
  seq                 bigint GENERATED ALWAYS AS IDENTITY,
  id                  text PRIMARY KEY,
  workspace_id        text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  feed_id             text NOT NULL REFERENCES data_feeds (id) ON DELETE CASCADE,
  is_demo             boolean NOT NULL,
  external_key        text NOT NULL,
  entity_type         text NOT NULL,
  canonical_name      text NOT NULL,
  aliases             jsonb NOT NULL DEFAULT '[]',
  attributes          jsonb NOT NULL DEFAULT '{}',
  external_ids        jsonb NOT NULL DEFAULT '{}',
  geography           jsonb NOT NULL DEFAULT '{}',
  city                text GENERATED ALWAYS AS (lower(geography ->> 'city')) STORED,
  region              text GENERATED ALWAYS AS (lower(geography ->> 'region')) STORED,
  country             text GENERATED ALWAYS AS (lower(geography ->> 'country')) STORED,
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
  CONSTRAINT data_entities_feed_id_external_key_key UNIQUE (feed_id, external_key)
);
-- Lists are read in the order of an index that begins with what is asked for, so that a page costs the same however
-- many records match and wherever they lie; shared/db/data/entities.ts tells which list walks which. A feed names its
-- workspace and mode. Classes are merged: a page of each, then the newest of those.
-- Newest first,
CREATE INDEX data_entities_newest ON data_entities (workspace_id, is_demo, first_observed_at, seq);
CREATE INDEX data_entities_newest_of_city ON data_entities (workspace_id, is_demo, city, first_observed_at, seq);
CREATE INDEX data_entities_newest_of_country ON data_entities (workspace_id, is_demo, country, first_observed_at, seq);
CREATE INDEX data_entities_newest_of_feed ON data_entities (feed_id, first_observed_at, seq);
CREATE INDEX data_entities_newest_of_feed_city ON data_entities (feed_id, city, first_observed_at, seq);
CREATE INDEX data_entities_newest_of_feed_country ON data_entities (feed_id, country, first_observed_at, seq);
CREATE INDEX data_entities_newest_of_feed_region ON data_entities (feed_id, region, first_observed_at, seq);
-- with two of them,
CREATE INDEX data_entities_newest_of_feed_type ON data_entities (feed_id, entity_type, first_observed_at, seq);
CREATE INDEX data_entities_newest_of_region ON data_entities (workspace_id, is_demo, region, first_observed_at, seq);
CREATE INDEX data_entities_newest_of_type ON data_entities (workspace_id, is_demo, entity_type, first_observed_at, seq);
CREATE INDEX data_entities_newest_of_type_city ON data_entities (workspace_id, is_demo, entity_type, city, first_observed_at, seq);
CREATE INDEX data_entities_newest_of_type_country ON data_entities (workspace_id, is_demo, entity_type, country, first_observed_at, seq);
CREATE INDEX data_entities_newest_of_type_region ON data_entities (workspace_id, is_demo, entity_type, region, first_observed_at, seq);
-- of at least a confidence,
CREATE INDEX data_entities_sure ON data_entities (workspace_id, is_demo, confidence_class, first_observed_at, seq);
CREATE INDEX data_entities_sure_of_city ON data_entities (workspace_id, is_demo, city, confidence_class, first_observed_at, seq);
CREATE INDEX data_entities_sure_of_country ON data_entities (workspace_id, is_demo, country, confidence_class, first_observed_at, seq);
CREATE INDEX data_entities_sure_of_feed ON data_entities (feed_id, confidence_class, first_observed_at, seq);
CREATE INDEX data_entities_sure_of_region ON data_entities (workspace_id, is_demo, region, confidence_class, first_observed_at, seq);
CREATE INDEX data_entities_sure_of_type ON data_entities (workspace_id, is_demo, entity_type, confidence_class, first_observed_at, seq);
-- last updated first.
CREATE INDEX data_entities_updated ON data_entities (workspace_id, is_demo, updated_at, seq);
CREATE INDEX data_entities_updated_by_age ON data_entities (workspace_id, is_demo, age_class, updated_at, seq);
CREATE INDEX data_entities_updated_of_city ON data_entities (workspace_id, is_demo, city, updated_at, seq);
CREATE INDEX data_entities_updated_of_country ON data_entities (workspace_id, is_demo, country, updated_at, seq);
CREATE INDEX data_entities_updated_of_feed ON data_entities (feed_id, updated_at, seq);
CREATE INDEX data_entities_updated_of_region ON data_entities (workspace_id, is_demo, region, updated_at, seq);
CREATE INDEX data_entities_updated_of_type ON data_entities (workspace_id, is_demo, entity_type, updated_at, seq);
CREATE INDEX data_entities_updated_sure ON data_entities (workspace_id, is_demo, confidence_class, updated_at, seq);

-- What a record was like in each version.
CREATE TABLE data_entity_versions (
  entity_id    text NOT NULL REFERENCES data_entities (id) ON DELETE CASCADE,
  version      integer NOT NULL,
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  changed_at   timestamptz NOT NULL,
  attributes   jsonb NOT NULL,
  changed      text[] NOT NULL DEFAULT '{}',
  PRIMARY KEY (entity_id, version)
);

-- One row per attribute that a version changed.
CREATE TABLE data_changes (
  seq          bigint GENERATED ALWAYS AS IDENTITY,
  id           text PRIMARY KEY,
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  feed_id      text NOT NULL REFERENCES data_feeds (id) ON DELETE CASCADE,
  is_demo      boolean NOT NULL,
  entity_id    text NOT NULL REFERENCES data_entities (id) ON DELETE CASCADE,
  entity_type  text NOT NULL,
  attribute    text NOT NULL,
  old_value    jsonb,
  new_value    jsonb,
  version      integer NOT NULL,
  source_id    text,
  changed_at   timestamptz NOT NULL
);
CREATE INDEX data_changes_newest ON data_changes (workspace_id, is_demo, changed_at, seq);
-- What members read of records: the changes and events of one record, and changes by the type of their records, each
-- in the order of an index as the lists of 0009. Those by record take the place of indexes that only deletions used.
CREATE INDEX data_changes_newest_of_entity ON data_changes (entity_id, changed_at, seq);
CREATE INDEX data_changes_newest_of_feed ON data_changes (feed_id, changed_at, seq);
CREATE INDEX data_changes_newest_of_feed_type ON data_changes (feed_id, entity_type, changed_at, seq);
CREATE INDEX data_changes_newest_of_type ON data_changes (workspace_id, is_demo, entity_type, changed_at, seq);

-- Things that happened to a record.
CREATE TABLE data_events (
  seq                 bigint GENERATED ALWAYS AS IDENTITY,
  id                  text PRIMARY KEY,
  workspace_id        text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  feed_id             text NOT NULL REFERENCES data_feeds (id) ON DELETE CASCADE,
  is_demo             boolean NOT NULL,
  external_key        text NOT NULL,
  event_type          text NOT NULL,
  occurred_at         timestamptz NOT NULL,
  detected_at         timestamptz NOT NULL,
  primary_entity_id   text NOT NULL REFERENCES data_entities (id) ON DELETE CASCADE,
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
  CONSTRAINT data_events_feed_id_external_key_key UNIQUE (feed_id, external_key)
);
-- Lists, as those of data_entities; newest first,
CREATE INDEX data_events_newest ON data_events (workspace_id, is_demo, detected_at, seq);
CREATE INDEX data_events_newest_of_entity ON data_events (primary_entity_id, detected_at, seq);
CREATE INDEX data_events_newest_of_feed ON data_events (feed_id, detected_at, seq);
CREATE INDEX data_events_newest_of_feed_type ON data_events (feed_id, event_type, detected_at, seq);
CREATE INDEX data_events_newest_of_type ON data_events (workspace_id, is_demo, event_type, detected_at, seq);
-- of at least a confidence.
CREATE INDEX data_events_sure ON data_events (workspace_id, is_demo, confidence_class, detected_at, seq);
CREATE INDEX data_events_sure_of_feed ON data_events (feed_id, confidence_class, detected_at, seq);
CREATE INDEX data_events_sure_of_type ON data_events (workspace_id, is_demo, event_type, confidence_class, detected_at, seq);

-- ---- The data API: keys and credits ------------------------------------------------------------------------------

-- Keys of the data API, and what is counted for them.
CREATE TABLE data_keys (
  id                        text PRIMARY KEY,
  workspace_id              text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
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
  workspace_id  text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  month         date NOT NULL,
  requests      bigint NOT NULL DEFAULT 0,
  records       bigint NOT NULL DEFAULT 0,
  credits       bigint NOT NULL DEFAULT 0,
  deliveries    bigint NOT NULL DEFAULT 0,
  source_checks bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (workspace_id, month)
);

CREATE TABLE data_key_months (
  key_id       text NOT NULL REFERENCES data_keys (id) ON DELETE CASCADE,
  month        date NOT NULL,
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  requests     bigint NOT NULL DEFAULT 0,
  records      bigint NOT NULL DEFAULT 0,
  credits      bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (key_id, month)
);
CREATE INDEX data_key_months_by_workspace ON data_key_months (workspace_id, month);

-- The ledger: what each answer cost. The counters above are its sums.
CREATE TABLE data_charges (
  seq          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  key_id       text NOT NULL,
  -- In which the request was admitted.
  month        date NOT NULL,
  request_id   text NOT NULL,
  operation    text NOT NULL,
  credits      integer NOT NULL CHECK (credits > 0),
  records      integer NOT NULL CHECK (records >= 0),
  charged_at   timestamptz NOT NULL DEFAULT now(),
  -- Which statement took it: how a process whose connection was lost finds what it has taken.
  batch        uuid
);
CREATE INDEX data_charges_by_workspace ON data_charges (workspace_id, charged_at);

-- Shares of a plan's allowance that were used up, each told of once; a larger plan has shares of its own.
CREATE TABLE data_thresholds (
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  month        date NOT NULL,
  meter        text NOT NULL CHECK (meter IN ('requests', 'credits')),
  allowance    bigint NOT NULL,
  percent      integer NOT NULL,
  reached_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, month, meter, allowance, percent)
);

-- ---- Webhooks out ------------------------------------------------------------------------------------------------

-- Outbound webhooks. Endpoints of test keys hear of demo records only.
CREATE TABLE data_endpoints (
  id                    text PRIMARY KEY,
  workspace_id          text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  is_demo               boolean NOT NULL,
  url                   text NOT NULL,
  events                text[] NOT NULL,
  -- Sealed. The one before stays good for a while after a rotation.
  secret                text NOT NULL,
  previous_secret       text,
  previous_secret_until timestamptz,
  status                text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'failing')),
  -- Attempts, of whichever deliveries.
  consecutive_failures  integer NOT NULL DEFAULT 0,
  -- When a delivery last succeeded.
  last_delivery_at      timestamptz,
  created_by            text,
  created_at            timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX data_endpoints_by_workspace ON data_endpoints (workspace_id, is_demo, created_at DESC, id DESC);

-- An attempt takes one of the places of its endpoint, so that one that hangs holds so many slots of the workers and no
-- more. A place whose time is over is free, whoever held it.
CREATE TABLE data_permits (
  endpoint_id text NOT NULL REFERENCES data_endpoints (id) ON DELETE CASCADE,
  slot        integer NOT NULL,
  delivery_id text,
  until       timestamptz NOT NULL DEFAULT '-infinity'::timestamptz,
  PRIMARY KEY (endpoint_id, slot)
) WITH (fillfactor = 50);

-- What happened, as endpoints are told; only what some endpoint wants to hear.
CREATE TABLE outbound_events (
  id           text PRIMARY KEY,
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  type         text NOT NULL,
  data         json NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX outbound_events_by_age ON outbound_events (workspace_id, created_at);

-- No reference to the endpoint: one that is deleted takes what is pending with it, and leaves what has ended to the
-- sweep, so that deleting it takes no longer after a million deliveries.
CREATE TABLE data_deliveries (
  id              text PRIMARY KEY,
  workspace_id    text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  endpoint_id     text NOT NULL,
  event_id        text NOT NULL REFERENCES outbound_events (id) ON DELETE CASCADE,
  status          text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'dead')),
  -- Why it is dead without an attempt.
  reason          text,
  -- Attempts that the endpoint has had since the delivery was last begun anew.
  attempts        integer NOT NULL DEFAULT 0,
  -- Names its execution. Rises when the delivery is begun anew, and when its execution is lost.
  round           integer NOT NULL DEFAULT 1,
  queued_at       timestamptz NOT NULL DEFAULT now(),
  -- Whoever starts its execution has it to itself until then.
  leased_until    timestamptz,
  started         boolean NOT NULL DEFAULT false,
  next_attempt_at timestamptz,
  -- The attempt under way: what a later one has taken over is not recorded.
  claim           text,
  -- Times in a row that it found no place, or that a fault of our own kept it from being sent.
  waits           integer NOT NULL DEFAULT 0,
  faults          integer NOT NULL DEFAULT 0,
  created_at      timestamptz NOT NULL DEFAULT now(),
  ended_at        timestamptz
);
CREATE INDEX data_deliveries_by_endpoint ON data_deliveries (endpoint_id, status, created_at DESC, id DESC);
CREATE INDEX data_deliveries_by_event ON data_deliveries (event_id);
CREATE INDEX data_deliveries_queue ON data_deliveries (endpoint_id, queued_at, id)
  WHERE status = 'pending' AND NOT started;
CREATE INDEX data_deliveries_started ON data_deliveries (next_attempt_at) WHERE status = 'pending' AND started;
CREATE INDEX data_deliveries_waiting ON data_deliveries (endpoint_id) WHERE status = 'pending' AND waits > 0;

-- The log of a delivery.
CREATE TABLE data_delivery_attempts (
  delivery_id text NOT NULL REFERENCES data_deliveries (id) ON DELETE CASCADE,
  round       integer NOT NULL,
  attempt     integer NOT NULL,
  started_at  timestamptz NOT NULL,
  duration_ms integer NOT NULL,
  status_code integer,
  error       text,
  PRIMARY KEY (delivery_id, round, attempt)
);

-- References to tables further down.
ALTER TABLE runs ADD CONSTRAINT runs_experiment_id_fkey FOREIGN KEY (experiment_id) REFERENCES experiments (id) ON DELETE SET NULL;

-- ---- Functions ---------------------------------------------------------------------------------------------------

-- A statement of ours runs a trigger at depth 1. Deeper is only what the trigger of audit_sweeps deletes.
CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND pg_trigger_depth() > 1 THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'the audit log is append-only' USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE ON audit_log
  FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_log_no_truncate BEFORE TRUNCATE ON audit_log
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_seals_append_only BEFORE UPDATE OR DELETE ON audit_seals
  FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_seals_no_truncate BEFORE TRUNCATE ON audit_seals
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_sweeps_append_only BEFORE UPDATE OR DELETE ON audit_sweeps
  FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_sweeps_no_truncate BEFORE TRUNCATE ON audit_sweeps
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();

-- When the window that `at` falls into began, in UTC; weeks begin on Monday.
CREATE FUNCTION budget_window_start(kind text, at timestamptz) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN kind = 'total' THEN '-infinity'::timestamptz
            ELSE date_trunc(kind, at AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' END;

-- Ends the statement it is called in, with nothing of it left behind. `reason` is for the caller, `facts` for its text.
CREATE FUNCTION refuse(reason text, facts json) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '%', reason USING ERRCODE = 'OW001', DETAIL = facts::text;
END $$;

CREATE FUNCTION queue_audit_entry() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO audit_unsealed (seq, workspace_id) VALUES (NEW.seq, NEW.workspace_id);
  RETURN NULL;
END $$;
CREATE TRIGGER audit_log_queue AFTER INSERT ON audit_log
  FOR EACH ROW EXECUTE FUNCTION queue_audit_entry();

-- Heads only move forward, and only a sweep moves the base.
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
CREATE TRIGGER audit_chains_no_truncate BEFORE TRUNCATE ON audit_chains
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_chain_change();
CREATE TRIGGER audit_chains_only_grow BEFORE UPDATE OR DELETE ON audit_chains
  FOR EACH ROW EXECUTE FUNCTION refuse_chain_change();

-- Removes the oldest entries of NEW.workspace_id with their seals, at most NEW.batch: those from the base on that are
-- all there, follow each other without a gap and were created before NEW.before. An entry that is gone stops it: the
-- chain still has to tell of that. Holding the chain's row keeps the sealer and other sweeps away.
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

-- Removes up to `batch` of the oldest sealed entries created before `before`, and returns how many went.
CREATE FUNCTION sweep_audit(workspace_id text, before timestamptz, batch integer) RETURNS bigint LANGUAGE sql AS $$
  WITH swept AS (
    INSERT INTO audit_sweeps (workspace_id, before, batch)
    VALUES (sweep_audit.workspace_id, sweep_audit.before, sweep_audit.batch)
    RETURNING removed
  )
  SELECT coalesce((SELECT removed FROM swept), 0)
$$;

-- The revision of a workspace's policies at the moment of the call. Volatile, so that each call has a snapshot of its
-- own: a statement that has waited for a row learns what was committed meanwhile.
CREATE FUNCTION policy_revision_now(workspace text) RETURNS integer
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN (SELECT policy_revision FROM workspaces WHERE id = workspace);
END $$;

-- Whatever statement begins an attempt counts it, and that keeps the one before. Volatile: the sum is of what is
-- committed now, and the statement holds the run's row.
CREATE FUNCTION keep_attempt() RETURNS trigger LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  INSERT INTO step_attempts (run_id, step_key, attempt, started_at, ended_at, outcome, error, cost_micros, claim)
  VALUES (OLD.run_id, OLD.step_key, OLD.attempts, coalesce(OLD.attempt_started_at, OLD.started_at),
          coalesce(OLD.attempt_ended_at, OLD.finished_at, NEW.attempt_started_at, clock_timestamp()),
          CASE WHEN OLD.attempt_ended_at IS NOT NULL AND OLD.error IS NOT NULL THEN 'failed'
               WHEN OLD.attempt_ended_at IS NULL AND OLD.status IN ('failed', 'cancelled') THEN OLD.status
               ELSE 'interrupted' END,
          OLD.error,
          OLD.cost_micros - (SELECT coalesce(sum(a.cost_micros), 0) FROM step_attempts a
                             WHERE a.run_id = OLD.run_id AND a.step_key = OLD.step_key),
          OLD.claim)
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER steps_keep_attempt AFTER UPDATE ON steps
  FOR EACH ROW WHEN (NEW.attempts > OLD.attempts AND OLD.attempts > 0) EXECUTE FUNCTION keep_attempt();

-- Shares the workspace's budgets until the transaction ends, and returns their revision. Volatile: what it reads is as
-- new as the lock, also where the statement that calls it has waited here with an older snapshot.
CREATE FUNCTION share_budgets(workspace text) RETURNS integer LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(4201, hashtext(workspace));
  RETURN (SELECT budget_revision FROM workspaces WHERE id = workspace);
END
$$;

-- The rows that an admission relies on, as they are when it is called. Replaces that of 0023_workflow_now.
CREATE FUNCTION workflow_now(workflow text)
RETURNS TABLE (version integer, run_cap_micros bigint, plan text, tool_revision integer, overrun text)
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN QUERY SELECT w.version, w.run_cap_micros, s.plan, s.tool_revision, w.overrun
    FROM workflows w JOIN workspaces s ON s.id = w.workspace_id WHERE w.id = workflow;
END $$;

-- What a key of the data API may do, as it is at the moment of the call; all null when there is no such key. Volatile,
-- so that a statement that has waited for the rows of the accounts learns what was committed meanwhile.
CREATE FUNCTION data_key_now(key text, OUT usable boolean, OUT scopes text[], OUT ip_allowlist text[],
                             OUT request_allowance bigint, OUT credit_allowance bigint, OUT plan text)
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  SELECT k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp()), k.scopes, k.ip_allowlist,
         k.monthly_request_allowance, k.monthly_credit_allowance, s.plan
    INTO usable, scopes, ip_allowlist, request_allowance, credit_allowance, plan
    FROM data_keys k JOIN workspaces s ON s.id = k.workspace_id WHERE k.id = key;
END
$$;

-- The runs below a run, at any depth.
CREATE FUNCTION runs_below(run text) RETURNS TABLE (id text) LANGUAGE plpgsql STABLE ROWS 10 AS $$
BEGIN
  RETURN QUERY WITH RECURSIVE below AS (
    SELECT r.id FROM runs r WHERE r.parent_run_id = run
    UNION ALL
    SELECT r.id FROM below b JOIN runs r ON r.parent_run_id = b.id
  )
  SELECT b.id FROM below b;
END
$$;

-- The run itself and those above it.
CREATE FUNCTION runs_above(run text) RETURNS TABLE (id text, cap_micros bigint, depth integer)
LANGUAGE plpgsql VOLATILE ROWS 1 AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY WITH RECURSIVE above AS (
    SELECT r.id, r.parent_run_id, r.cost_cap_micros, r.depth FROM runs r WHERE r.id = run
    UNION ALL
    SELECT r.id, r.parent_run_id, r.cost_cap_micros, r.depth FROM above a JOIN runs r ON r.id = a.parent_run_id
  )
  SELECT a.id, a.cost_cap_micros, a.depth FROM above a;
END
$$;

-- Each cap above a run and its own, with what counts against it. Replaces that of 0035_sub_workflows.
CREATE FUNCTION capped_spending(run text, except_step text)
RETURNS TABLE (cap_micros bigint, cost_micros bigint, pending_micros bigint, pending_unknown boolean, overrun text)
LANGUAGE plpgsql VOLATILE ROWS 1 AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY WITH RECURSIVE tree AS (
    SELECT a.id AS top, a.cap_micros, a.depth, a.id FROM runs_above(run) a WHERE a.cap_micros IS NOT NULL
    UNION ALL
    SELECT t.top, t.cap_micros, t.depth, r.id FROM tree t JOIN runs r ON r.parent_run_id = t.id
  )
  SELECT t.cap_micros, sum(r.cost_micros)::bigint, sum(f.micros)::bigint, bool_or(f.unknown),
         min(r.overrun) FILTER (WHERE r.id = t.top)
  FROM tree t JOIN runs r ON r.id = t.id
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(s.expected_micros), 0) AS micros, coalesce(bool_or(s.expected_unknown), false) AS unknown
    FROM steps s
    WHERE r.status IN ('pending', 'running', 'paused') AND s.run_id = r.id AND s.status = 'running'
      AND s.claim_until > clock_timestamp() AND NOT (s.run_id = run AND s.step_key = except_step)) AS f
  GROUP BY t.top, t.cap_micros, t.depth ORDER BY t.depth;
END $$;

-- A child that continues is looked at by the step that waits for it, as one that pauses or ends. Several statements let a
-- run continue; few runs have a parent.
CREATE FUNCTION notice_continued_child() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO outbox (run_id, kind, payload)
  VALUES (NEW.parent_run_id, 'child', json_build_object('step_key', NEW.parent_step_key));
  RETURN NULL;
END $$;
CREATE TRIGGER runs_continued_child AFTER UPDATE OF status ON runs FOR EACH ROW
  WHEN (OLD.status = 'paused' AND NEW.status = 'running' AND NEW.parent_run_id IS NOT NULL)
  EXECUTE FUNCTION notice_continued_child();

-- The experiment with a budget to which a run belongs, by itself or through a run above it.
CREATE FUNCTION budgeted_experiment(run text) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN (
    SELECT e.id FROM runs_above(run) a JOIN runs r ON r.id = a.id JOIN experiments e ON e.id = r.experiment_id
    WHERE e.budget_micros IS NOT NULL LIMIT 1);
END
$$;

-- What the rehearsals of an experiment and the runs below them have cost, and what their steps in progress, except one,
-- may still cost. An attempt whose worker died counts only until its claim expires. Reads what is committed now, also
-- after a wait for locks.
CREATE FUNCTION experiment_spending(experiment text, except_run text, except_step text)
RETURNS TABLE (spent_micros bigint, pending_micros bigint, pending_unknown boolean)
LANGUAGE plpgsql VOLATILE ROWS 1 AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY WITH RECURSIVE tree AS (
    SELECT r.id FROM runs r WHERE r.experiment_id = experiment
    UNION ALL
    SELECT r.id FROM tree t JOIN runs r ON r.parent_run_id = t.id
  )
  SELECT coalesce(sum(r.cost_micros), 0)::bigint, coalesce(sum(f.micros), 0)::bigint, coalesce(bool_or(f.unknown), false)
  FROM tree t JOIN runs r ON r.id = t.id
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(s.expected_micros), 0) AS micros, coalesce(bool_or(s.expected_unknown), false) AS unknown
    FROM steps s
    WHERE r.status IN ('pending', 'running', 'paused') AND s.run_id = r.id AND s.status = 'running'
      AND s.claim_until > clock_timestamp() AND NOT (s.run_id = except_run AND s.step_key = except_step)) AS f;
END
$$;

CREATE FUNCTION run_words_key(workspace text, created timestamptz) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
RETURN left(md5(workspace || to_char(created AT TIME ZONE 'UTC', 'YYYYMMDD')), 10);

-- A trigger, so that no statement that starts or ends a run can forget it.
CREATE FUNCTION run_words_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO run_words_due (run_id) VALUES (new.id);
  RETURN NULL;
END $$;
CREATE TRIGGER runs_words_ended AFTER UPDATE OF status ON runs FOR EACH ROW
  WHEN (new.finished_at IS NOT NULL AND old.finished_at IS DISTINCT FROM new.finished_at)
  EXECUTE FUNCTION run_words_changed();
CREATE TRIGGER runs_words_new AFTER INSERT ON runs FOR EACH ROW EXECUTE FUNCTION run_words_changed();
