-- Generated from the migrations by npm run schema:dump; a test compares it.

CREATE TABLE answer_pieces (
  run_id text NOT NULL,
  step_key text NOT NULL,
  turn integer NOT NULL,
  answer text NOT NULL,
  place integer NOT NULL,
  text text NOT NULL,
  created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT answer_pieces_pkey PRIMARY KEY (run_id, step_key, turn, answer, place),
  CONSTRAINT answer_pieces_place_check CHECK ((place >= 0))
);

CREATE INDEX answer_pieces_created ON public.answer_pieces USING btree (created_at);

CREATE TABLE api_keys (
  id text NOT NULL,
  workspace_id text NOT NULL,
  name text NOT NULL,
  prefix text NOT NULL,
  secret_hash bytea NOT NULL,
  role text NOT NULL,
  member_id text,
  created_by text,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  revoked_at timestamp with time zone,
  last_used_at timestamp with time zone,
  decide boolean DEFAULT true NOT NULL,
  CONSTRAINT api_keys_pkey PRIMARY KEY (id),
  CONSTRAINT api_keys_secret_hash_key UNIQUE (secret_hash),
  CONSTRAINT api_keys_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  CONSTRAINT api_keys_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
  CONSTRAINT api_keys_role_check CHECK ((role = ANY (ARRAY['admin'::text, 'editor'::text, 'viewer'::text]))),
  CONSTRAINT api_keys_secret_hash_check CHECK ((length(secret_hash) = 32))
);

CREATE INDEX api_keys_by_member ON public.api_keys USING btree (member_id) WHERE (member_id IS NOT NULL);
CREATE INDEX api_keys_by_workspace ON public.api_keys USING btree (workspace_id, created_at DESC, id DESC);

CREATE TABLE audit_chains (
  workspace_id text NOT NULL,
  head_position bigint DEFAULT 0 NOT NULL,
  head_hash bytea DEFAULT decode(repeat('00'::text, 32), 'hex'::text) NOT NULL,
  base_position bigint DEFAULT 0 NOT NULL,
  base_hash bytea DEFAULT decode(repeat('00'::text, 32), 'hex'::text) NOT NULL,
  CONSTRAINT audit_chains_pkey PRIMARY KEY (workspace_id),
  CONSTRAINT audit_chains_base_hash_check CHECK ((length(base_hash) = 32)),
  CONSTRAINT audit_chains_check CHECK (((base_position >= 0) AND (base_position <= head_position))),
  CONSTRAINT audit_chains_head_hash_check CHECK ((length(head_hash) = 32))
);

CREATE TRIGGER audit_chains_no_truncate BEFORE TRUNCATE ON public.audit_chains FOR EACH STATEMENT EXECUTE FUNCTION refuse_chain_change();
CREATE TRIGGER audit_chains_only_grow BEFORE DELETE OR UPDATE ON public.audit_chains FOR EACH ROW EXECUTE FUNCTION refuse_chain_change();

CREATE TABLE audit_log (
  id text NOT NULL,
  seq bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  workspace_id text NOT NULL,
  action text NOT NULL,
  actor_id text,
  actor_name text,
  target_type text NOT NULL,
  target_id text NOT NULL,
  details jsonb DEFAULT '{}'::jsonb NOT NULL,
  created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT audit_log_pkey PRIMARY KEY (id),
  CONSTRAINT audit_log_seq_key UNIQUE (seq)
);

CREATE INDEX audit_log_by_action ON public.audit_log USING btree (workspace_id, action, seq) INCLUDE (created_at);
CREATE INDEX audit_log_by_actor ON public.audit_log USING btree (workspace_id, actor_id, seq DESC) WHERE (actor_id IS NOT NULL);
CREATE INDEX audit_log_by_target ON public.audit_log USING btree (workspace_id, target_id, seq) INCLUDE (created_at);
CREATE INDEX audit_log_by_target_type ON public.audit_log USING btree (workspace_id, target_type, seq) INCLUDE (created_at);
CREATE INDEX audit_log_by_time ON public.audit_log USING btree (workspace_id, created_at, seq);
CREATE INDEX audit_log_by_workspace ON public.audit_log USING btree (workspace_id, seq DESC);
CREATE INDEX audit_log_counted ON public.audit_log USING btree (workspace_id, target_type, action);
CREATE TRIGGER audit_log_append_only BEFORE DELETE OR UPDATE ON public.audit_log FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_log_no_truncate BEFORE TRUNCATE ON public.audit_log FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_log_queue AFTER INSERT ON public.audit_log FOR EACH ROW EXECUTE FUNCTION queue_audit_entry();

CREATE TABLE audit_seals (
  workspace_id text NOT NULL,
  "position" bigint NOT NULL,
  audit_id text NOT NULL,
  previous_hash bytea NOT NULL,
  hash bytea NOT NULL,
  sealed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  entry_digest bytea,
  CONSTRAINT audit_seals_pkey PRIMARY KEY (workspace_id, "position"),
  CONSTRAINT audit_seals_audit_id_key UNIQUE (audit_id),
  CONSTRAINT audit_seals_entry_digest_check CHECK ((length(entry_digest) = 32)),
  CONSTRAINT audit_seals_hash_check CHECK ((length(hash) = 32)),
  CONSTRAINT audit_seals_position_check CHECK (("position" > 0)),
  CONSTRAINT audit_seals_previous_hash_check CHECK ((length(previous_hash) = 32))
);

CREATE TRIGGER audit_seals_append_only BEFORE DELETE OR UPDATE ON public.audit_seals FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_seals_no_truncate BEFORE TRUNCATE ON public.audit_seals FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();

CREATE TABLE audit_sweeps (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  workspace_id text NOT NULL,
  before timestamp with time zone NOT NULL,
  batch integer NOT NULL,
  removed bigint DEFAULT 0 NOT NULL,
  base_position bigint DEFAULT 0 NOT NULL,
  base_hash bytea DEFAULT '\x'::bytea NOT NULL,
  swept_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT audit_sweeps_pkey PRIMARY KEY (id),
  CONSTRAINT audit_sweeps_batch_check CHECK ((batch > 0))
);

CREATE UNIQUE INDEX audit_sweeps_by_base ON public.audit_sweeps USING btree (workspace_id, base_position);
CREATE TRIGGER audit_sweeps_append_only BEFORE DELETE OR UPDATE ON public.audit_sweeps FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_sweeps_no_truncate BEFORE TRUNCATE ON public.audit_sweeps FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_sweeps_sweep BEFORE INSERT ON public.audit_sweeps FOR EACH ROW EXECUTE FUNCTION remove_swept_entries();

CREATE TABLE audit_unsealed (
  workspace_id text NOT NULL,
  seq bigint NOT NULL,
  CONSTRAINT audit_unsealed_pkey PRIMARY KEY (workspace_id, seq)
);

CREATE TABLE authorization_codes (
  code_hash bytea NOT NULL,
  authorization_id text NOT NULL,
  redirect_uri text NOT NULL,
  code_challenge text NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  used_at timestamp with time zone,
  CONSTRAINT authorization_codes_pkey PRIMARY KEY (code_hash),
  CONSTRAINT authorization_codes_authorization_id_fkey FOREIGN KEY (authorization_id) REFERENCES authorizations(id) ON DELETE CASCADE,
  CONSTRAINT authorization_codes_code_challenge_check CHECK ((length(code_challenge) = 43)),
  CONSTRAINT authorization_codes_code_hash_check CHECK ((length(code_hash) = 32))
);

CREATE INDEX authorization_codes_ended ON public.authorization_codes USING btree (expires_at);
CREATE INDEX authorization_codes_of ON public.authorization_codes USING btree (authorization_id);

CREATE TABLE authorization_tokens (
  token_hash bytea NOT NULL,
  authorization_id text NOT NULL,
  kind text NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  used_at timestamp with time zone,
  salt bytea,
  CONSTRAINT authorization_tokens_pkey PRIMARY KEY (token_hash),
  CONSTRAINT authorization_tokens_authorization_id_fkey FOREIGN KEY (authorization_id) REFERENCES authorizations(id) ON DELETE CASCADE,
  CONSTRAINT authorization_tokens_check CHECK (((kind = 'refresh'::text) OR ((used_at IS NULL) AND (salt IS NULL)))),
  CONSTRAINT authorization_tokens_check1 CHECK (((used_at IS NULL) = (salt IS NULL))),
  CONSTRAINT authorization_tokens_kind_check CHECK ((kind = ANY (ARRAY['access'::text, 'refresh'::text]))),
  CONSTRAINT authorization_tokens_salt_check CHECK ((length(salt) = 32)),
  CONSTRAINT authorization_tokens_token_hash_check CHECK ((length(token_hash) = 32))
);

CREATE INDEX authorization_tokens_ended ON public.authorization_tokens USING btree (expires_at);
CREATE INDEX authorization_tokens_of ON public.authorization_tokens USING btree (authorization_id);

CREATE TABLE authorizations (
  id text NOT NULL,
  workspace_id text NOT NULL,
  member_id text NOT NULL,
  client_id text NOT NULL,
  client_name text NOT NULL,
  client_host text NOT NULL,
  client_verified boolean NOT NULL,
  scopes text[] NOT NULL,
  capabilities text[] NOT NULL,
  resource text NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  last_used_at timestamp with time zone,
  CONSTRAINT authorizations_pkey PRIMARY KEY (id),
  CONSTRAINT authorizations_member_id_fkey FOREIGN KEY (member_id) REFERENCES members(id) ON DELETE CASCADE,
  CONSTRAINT authorizations_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  CONSTRAINT authorizations_capabilities_check CHECK (('view'::text = ANY (capabilities)))
);

CREATE INDEX authorizations_by_client ON public.authorizations USING btree (client_id);
CREATE INDEX authorizations_by_member ON public.authorizations USING btree (member_id, created_at DESC, id DESC);
CREATE INDEX authorizations_by_workspace ON public.authorizations USING btree (workspace_id, created_at DESC, id DESC);

CREATE TABLE awaited_events (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  run_id text,
  step_key text,
  place integer DEFAULT 0 NOT NULL,
  trigger_id text,
  workspace_id text NOT NULL,
  name text NOT NULL,
  path text DEFAULT ''::text NOT NULL,
  value text DEFAULT ''::text NOT NULL,
  match text,
  state json DEFAULT '{}'::json NOT NULL,
  after_seq bigint DEFAULT 0 NOT NULL,
  CONSTRAINT awaited_events_pkey PRIMARY KEY (id),
  CONSTRAINT awaited_events_run_id_step_key_place_key UNIQUE (run_id, step_key, place),
  CONSTRAINT awaited_events_trigger_id_key UNIQUE (trigger_id),
  CONSTRAINT awaited_events_run_id_fkey FOREIGN KEY (run_id) REFERENCES runs(id) ON DELETE CASCADE,
  CONSTRAINT awaited_events_run_id_step_key_fkey FOREIGN KEY (run_id, step_key) REFERENCES run_waits(run_id, step_key) ON DELETE CASCADE,
  CONSTRAINT awaited_events_trigger_id_fkey FOREIGN KEY (trigger_id) REFERENCES event_triggers(id) ON DELETE CASCADE,
  CONSTRAINT awaited_by_one CHECK (((num_nonnulls(run_id, trigger_id) = 1) AND ((step_key IS NULL) OR (run_id IS NOT NULL))))
);

CREATE INDEX awaited_events_value ON public.awaited_events USING btree (workspace_id, name, path, value, id);

CREATE TABLE background_jobs (
  id text NOT NULL,
  workspace_id text NOT NULL,
  kind text NOT NULL,
  status text DEFAULT 'running'::text NOT NULL,
  request json NOT NULL,
  "position" json,
  pages integer DEFAULT 0 NOT NULL,
  done bigint DEFAULT 0 NOT NULL,
  total bigint,
  result json DEFAULT '{}'::json NOT NULL,
  error text,
  round integer DEFAULT 1 NOT NULL,
  created_by text,
  created_by_name text,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  updated_at timestamp with time zone DEFAULT now() NOT NULL,
  finished_at timestamp with time zone,
  CONSTRAINT background_jobs_pkey PRIMARY KEY (id),
  CONSTRAINT background_jobs_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  CONSTRAINT background_jobs_check CHECK (((status = 'running'::text) = (finished_at IS NULL))),
  CONSTRAINT background_jobs_kind_check CHECK ((kind = ANY (ARRAY['backtest'::text, 'experiment'::text, 'event_replay'::text]))),
  CONSTRAINT background_jobs_status_check CHECK ((status = ANY (ARRAY['running'::text, 'done'::text, 'cancelled'::text, 'failed'::text])))
);

CREATE INDEX background_jobs_by_workspace ON public.background_jobs USING btree (workspace_id, kind, created_at DESC, id DESC);
CREATE INDEX background_jobs_running ON public.background_jobs USING btree (updated_at) WHERE (status = 'running'::text);

CREATE TABLE backtest_findings (
  job_id text NOT NULL,
  n integer NOT NULL,
  effect text NOT NULL,
  run_id text NOT NULL,
  step_key text NOT NULL,
  node_id text NOT NULL,
  before text NOT NULL,
  after text NOT NULL,
  reason text NOT NULL,
  CONSTRAINT backtest_findings_pkey PRIMARY KEY (job_id, n),
  CONSTRAINT backtest_findings_job_id_fkey FOREIGN KEY (job_id) REFERENCES background_jobs(id) ON DELETE CASCADE,
  CONSTRAINT backtest_findings_after_check CHECK ((after = ANY (ARRAY['allowed'::text, 'redacted'::text, 'blocked'::text]))),
  CONSTRAINT backtest_findings_before_check CHECK ((before = ANY (ARRAY['allowed'::text, 'redacted'::text, 'blocked'::text]))),
  CONSTRAINT backtest_findings_effect_check CHECK ((effect = ANY (ARRAY['would_block'::text, 'would_redact'::text, 'would_allow'::text])))
);

CREATE TABLE budget_holds (
  budget_id text NOT NULL,
  run_id text NOT NULL,
  n integer NOT NULL,
  window_start timestamp with time zone NOT NULL,
  base_micros bigint DEFAULT 0 NOT NULL,
  estimate_micros bigint,
  held_micros bigint DEFAULT 0 NOT NULL,
  spent_micros bigint DEFAULT 0 NOT NULL,
  status text DEFAULT 'open'::text NOT NULL,
  opened_at timestamp with time zone DEFAULT now() NOT NULL,
  closed_at timestamp with time zone,
  pending_micros bigint DEFAULT 0 NOT NULL,
  pending_unknown boolean DEFAULT false NOT NULL,
  contained boolean DEFAULT false NOT NULL,
  CONSTRAINT budget_holds_pkey PRIMARY KEY (budget_id, run_id, n),
  CONSTRAINT budget_holds_budget_id_fkey FOREIGN KEY (budget_id) REFERENCES budgets(id) ON DELETE CASCADE,
  CONSTRAINT budget_holds_check CHECK (((status = 'open'::text) = (closed_at IS NULL))),
  CONSTRAINT budget_holds_check1 CHECK (((status = 'open'::text) OR (held_micros = 0))),
  CONSTRAINT budget_holds_estimate_micros_check CHECK ((estimate_micros >= 0)),
  CONSTRAINT budget_holds_held_micros_check CHECK ((held_micros >= 0)),
  CONSTRAINT budget_holds_spent_micros_check CHECK ((spent_micros >= 0)),
  CONSTRAINT budget_holds_status_check CHECK ((status = ANY (ARRAY['open'::text, 'settled'::text, 'reaped'::text])))
);

CREATE INDEX budget_holds_by_run ON public.budget_holds USING btree (run_id, n);
CREATE INDEX budget_holds_closed ON public.budget_holds USING btree (budget_id, closed_at) WHERE (closed_at IS NOT NULL);
CREATE INDEX budget_holds_open ON public.budget_holds USING btree (opened_at) WHERE (status = 'open'::text);
CREATE INDEX budget_holds_pending ON public.budget_holds USING btree (budget_id) WHERE ((pending_micros > 0) OR pending_unknown);

CREATE TABLE budgets (
  id text NOT NULL,
  workspace_id text NOT NULL,
  name text NOT NULL,
  scope text NOT NULL,
  workflow_id text,
  "window" text NOT NULL,
  limit_micros bigint NOT NULL,
  estimate_micros bigint,
  window_start timestamp with time zone NOT NULL,
  spent_micros bigint DEFAULT 0 NOT NULL,
  reserved_micros bigint DEFAULT 0 NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  updated_at timestamp with time zone DEFAULT now() NOT NULL,
  overrun text DEFAULT 'none'::text NOT NULL,
  alerts boolean DEFAULT true NOT NULL,
  alerted_window timestamp with time zone,
  alerted_percent smallint DEFAULT 0 NOT NULL,
  CONSTRAINT budgets_pkey PRIMARY KEY (id),
  CONSTRAINT budgets_workflow_id_fkey FOREIGN KEY (workflow_id) REFERENCES workflows(id) ON DELETE CASCADE,
  CONSTRAINT budgets_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  CONSTRAINT budgets_check CHECK (((scope = 'workflow'::text) = (workflow_id IS NOT NULL))),
  CONSTRAINT budgets_estimate_micros_check CHECK ((estimate_micros >= 0)),
  CONSTRAINT budgets_limit_micros_check CHECK ((limit_micros > 0)),
  CONSTRAINT budgets_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
  CONSTRAINT budgets_overrun_check CHECK ((overrun = ANY (ARRAY['none'::text, 'one_step'::text]))),
  CONSTRAINT budgets_reserved_micros_check CHECK ((reserved_micros >= 0)),
  CONSTRAINT budgets_scope_check CHECK ((scope = ANY (ARRAY['workspace'::text, 'workflow'::text]))),
  CONSTRAINT budgets_spent_micros_check CHECK ((spent_micros >= 0)),
  CONSTRAINT budgets_window_check CHECK (("window" = ANY (ARRAY['day'::text, 'week'::text, 'month'::text, 'total'::text])))
);

CREATE INDEX budgets_by_workflow ON public.budgets USING btree (workflow_id) WHERE (workflow_id IS NOT NULL);
CREATE INDEX budgets_by_workspace ON public.budgets USING btree (workspace_id, id);
CREATE TRIGGER budgets_alert AFTER UPDATE OF spent_micros ON public.budgets FOR EACH ROW WHEN ((new.alerts AND (new.spent_micros > 0) AND ((new.spent_micros IS DISTINCT FROM old.spent_micros) OR (new.window_start IS DISTINCT FROM old.window_start)))) EXECUTE FUNCTION alert_spent_budget();

CREATE TABLE call_waits (
  run_id text NOT NULL,
  step_key text NOT NULL,
  workspace_id text NOT NULL,
  node_id text NOT NULL,
  label text NOT NULL,
  seq bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  scope text NOT NULL,
  target text NOT NULL,
  key text,
  concurrency integer,
  per_minute integer,
  since timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  look_at timestamp with time zone NOT NULL,
  woken_at timestamp with time zone,
  CONSTRAINT call_waits_pkey PRIMARY KEY (run_id, step_key),
  CONSTRAINT call_waits_run_id_fkey FOREIGN KEY (run_id) REFERENCES runs(id) ON DELETE CASCADE,
  CONSTRAINT call_waits_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

CREATE INDEX call_waits_of_scope ON public.call_waits USING btree (scope, seq);
CREATE INDEX call_waits_of_workspace ON public.call_waits USING btree (workspace_id);

CREATE TABLE connection_sign_ins (
  id text NOT NULL,
  workspace_id text NOT NULL,
  connection_id text NOT NULL,
  revision integer NOT NULL,
  member_id text NOT NULL,
  state_hash bytea NOT NULL,
  cookie_hash bytea NOT NULL,
  sealed_verifier text NOT NULL,
  nonce text NOT NULL,
  redirect_uri text NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT connection_sign_ins_pkey PRIMARY KEY (id),
  CONSTRAINT connection_sign_ins_connection_id_fkey FOREIGN KEY (connection_id) REFERENCES connections(id) ON DELETE CASCADE,
  CONSTRAINT connection_sign_ins_member_id_fkey FOREIGN KEY (member_id) REFERENCES members(id) ON DELETE CASCADE,
  CONSTRAINT connection_sign_ins_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  CONSTRAINT connection_sign_ins_cookie_hash_check CHECK ((length(cookie_hash) = 32)),
  CONSTRAINT connection_sign_ins_state_hash_check CHECK ((length(state_hash) = 32))
);

CREATE INDEX connection_sign_ins_expired ON public.connection_sign_ins USING btree (expires_at);
CREATE INDEX connection_sign_ins_of_connection ON public.connection_sign_ins USING btree (connection_id);
CREATE INDEX connection_sign_ins_of_member ON public.connection_sign_ins USING btree (member_id, expires_at);

CREATE TABLE connection_tokens (
  connection_id text NOT NULL,
  workspace_id text NOT NULL,
  member_id text,
  revision integer NOT NULL,
  holder text GENERATED ALWAYS AS (COALESCE(member_id, ''::text)) STORED NOT NULL,
  signed_in_by text,
  generation bigint DEFAULT 0 NOT NULL,
  sealed_access text,
  sealed_refresh text,
  expires_at timestamp with time zone,
  refresh_at timestamp with time zone,
  needs_sign_in boolean DEFAULT false NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  team_id text,
  granted_scopes text[],
  CONSTRAINT connection_tokens_pkey PRIMARY KEY (connection_id, holder),
  CONSTRAINT connection_tokens_connection_id_fkey FOREIGN KEY (connection_id) REFERENCES connections(id) ON DELETE CASCADE,
  CONSTRAINT connection_tokens_member_id_fkey FOREIGN KEY (member_id) REFERENCES members(id) ON DELETE CASCADE,
  CONSTRAINT connection_tokens_signed_in_by_fkey FOREIGN KEY (signed_in_by) REFERENCES members(id) ON DELETE SET NULL,
  CONSTRAINT connection_tokens_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

CREATE INDEX connection_tokens_of_member ON public.connection_tokens USING btree (member_id) WHERE (member_id IS NOT NULL);
CREATE INDEX connection_tokens_signed_in ON public.connection_tokens USING btree (signed_in_by) WHERE (signed_in_by IS NOT NULL);

CREATE TABLE connections (
  id text NOT NULL,
  workspace_id text NOT NULL,
  name text NOT NULL,
  preset text,
  grant_type text NOT NULL,
  owner text NOT NULL,
  issuer text,
  names_issuer boolean DEFAULT false NOT NULL,
  authorization_url text,
  token_url text NOT NULL,
  client_id text NOT NULL,
  sealed_client_secret text,
  client_auth text NOT NULL,
  scopes text[] NOT NULL,
  authorization_params json NOT NULL,
  allowed_hosts text[] NOT NULL,
  revision integer DEFAULT 1 NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  updated_at timestamp with time zone DEFAULT now() NOT NULL,
  last_used_at timestamp with time zone,
  resource text,
  CONSTRAINT connections_pkey PRIMARY KEY (id),
  CONSTRAINT connections_name UNIQUE (workspace_id, name),
  CONSTRAINT connections_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  CONSTRAINT connections_allowed_hosts_check CHECK (((cardinality(allowed_hosts) >= 1) AND (cardinality(allowed_hosts) <= 20))),
  CONSTRAINT connections_authorize CHECK (((grant_type = 'authorization_code'::text) = (authorization_url IS NOT NULL))),
  CONSTRAINT connections_client_auth_check CHECK ((client_auth = ANY (ARRAY['basic'::text, 'post'::text, 'none'::text]))),
  CONSTRAINT connections_client_secret CHECK (((sealed_client_secret IS NULL) = (client_auth = 'none'::text))),
  CONSTRAINT connections_grant_type_check CHECK ((grant_type = ANY (ARRAY['authorization_code'::text, 'client_credentials'::text]))),
  CONSTRAINT connections_name_check CHECK ((name ~ '^[A-Z][A-Z0-9_]{0,63}$'::text)),
  CONSTRAINT connections_of_members CHECK (((grant_type = 'authorization_code'::text) OR (owner = 'workspace'::text))),
  CONSTRAINT connections_owner_check CHECK ((owner = ANY (ARRAY['workspace'::text, 'member'::text]))),
  CONSTRAINT connections_resource CHECK (((resource IS NULL) OR (grant_type = 'authorization_code'::text)))
);

CREATE TABLE custom_tools (
  id text NOT NULL,
  workspace_id text NOT NULL,
  name text NOT NULL,
  label text DEFAULT ''::text NOT NULL,
  description text DEFAULT ''::text NOT NULL,
  kind text DEFAULT 'http'::text NOT NULL,
  endpoint_url text NOT NULL,
  method text DEFAULT 'POST'::text NOT NULL,
  headers json DEFAULT '{}'::json NOT NULL,
  mcp_tool text,
  input_schema json,
  timeout_seconds integer DEFAULT 60 NOT NULL,
  retry_count integer DEFAULT 1 NOT NULL,
  created_by text,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  updated_at timestamp with time zone DEFAULT now() NOT NULL,
  pinned_schema text,
  revision integer DEFAULT 1 NOT NULL,
  read_only boolean DEFAULT false NOT NULL,
  source text,
  language text DEFAULT 'javascript'::text NOT NULL,
  request json,
  auth json,
  document_url text,
  document_server text,
  response_schema json,
  offered json,
  CONSTRAINT custom_tools_pkey PRIMARY KEY (id),
  CONSTRAINT custom_tools_workspace_id_name_key UNIQUE (workspace_id, name),
  CONSTRAINT custom_tools_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  CONSTRAINT custom_tools_check CHECK (((kind = 'mcp'::text) = (mcp_tool IS NOT NULL))),
  CONSTRAINT custom_tools_kind_check CHECK ((kind = ANY (ARRAY['http'::text, 'mcp'::text, 'code'::text]))) NOT VALID,
  CONSTRAINT custom_tools_name_check CHECK ((name ~ '^[a-z][a-z0-9_-]{0,63}$'::text)),
  CONSTRAINT custom_tools_pinned_schema_check CHECK ((pinned_schema ~ '^sha256:[0-9a-f]{64}$'::text)),
  CONSTRAINT custom_tools_request_check CHECK ((((request IS NULL) AND ((auth IS NULL) OR (kind = 'mcp'::text)) AND (document_url IS NULL) AND (document_server IS NULL) AND (response_schema IS NULL) AND (offered IS NULL)) OR ((request IS NOT NULL) AND (kind = 'http'::text) AND (pinned_schema IS NOT NULL)))) NOT VALID,
  CONSTRAINT custom_tools_retry_count_check CHECK ((retry_count >= 0)),
  CONSTRAINT custom_tools_source_check CHECK (((kind = 'code'::text) = (source IS NOT NULL))) NOT VALID,
  CONSTRAINT custom_tools_timeout_seconds_check CHECK ((timeout_seconds > 0))
);

CREATE TABLE data_changes (
  seq bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  id text NOT NULL,
  workspace_id text NOT NULL,
  feed_id text NOT NULL,
  is_demo boolean NOT NULL,
  entity_id text NOT NULL,
  entity_type text NOT NULL,
  attribute text NOT NULL,
  old_value jsonb,
  new_value jsonb,
  version integer NOT NULL,
  source_id text,
  changed_at timestamp with time zone NOT NULL,
  CONSTRAINT data_changes_pkey PRIMARY KEY (id),
  CONSTRAINT data_changes_entity_id_fkey FOREIGN KEY (entity_id) REFERENCES data_entities(id) ON DELETE CASCADE,
  CONSTRAINT data_changes_feed_id_fkey FOREIGN KEY (feed_id) REFERENCES data_feeds(id) ON DELETE CASCADE,
  CONSTRAINT data_changes_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

CREATE INDEX data_changes_newest ON public.data_changes USING btree (workspace_id, is_demo, changed_at, seq);
CREATE INDEX data_changes_newest_of_entity ON public.data_changes USING btree (entity_id, changed_at, seq);
CREATE INDEX data_changes_newest_of_feed ON public.data_changes USING btree (feed_id, changed_at, seq);
CREATE INDEX data_changes_newest_of_feed_type ON public.data_changes USING btree (feed_id, entity_type, changed_at, seq);
CREATE INDEX data_changes_newest_of_type ON public.data_changes USING btree (workspace_id, is_demo, entity_type, changed_at, seq);

CREATE TABLE data_charges (
  seq bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  workspace_id text NOT NULL,
  key_id text NOT NULL,
  month date NOT NULL,
  request_id text NOT NULL,
  operation text NOT NULL,
  credits integer NOT NULL,
  records integer NOT NULL,
  charged_at timestamp with time zone DEFAULT now() NOT NULL,
  batch uuid,
  CONSTRAINT data_charges_pkey PRIMARY KEY (seq),
  CONSTRAINT data_charges_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  CONSTRAINT data_charges_credits_check CHECK ((credits > 0)),
  CONSTRAINT data_charges_records_check CHECK ((records >= 0))
);

CREATE INDEX data_charges_by_workspace ON public.data_charges USING btree (workspace_id, charged_at);

CREATE TABLE data_deliveries (
  id text NOT NULL,
  workspace_id text NOT NULL,
  endpoint_id text NOT NULL,
  event_id text NOT NULL,
  status text DEFAULT 'pending'::text NOT NULL,
  reason text,
  attempts integer DEFAULT 0 NOT NULL,
  round integer DEFAULT 1 NOT NULL,
  queued_at timestamp with time zone DEFAULT now() NOT NULL,
  leased_until timestamp with time zone,
  started boolean DEFAULT false NOT NULL,
  next_attempt_at timestamp with time zone,
  claim text,
  waits integer DEFAULT 0 NOT NULL,
  faults integer DEFAULT 0 NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  ended_at timestamp with time zone,
  CONSTRAINT data_deliveries_pkey PRIMARY KEY (id),
  CONSTRAINT data_deliveries_event_id_fkey FOREIGN KEY (event_id) REFERENCES outbound_events(id) ON DELETE CASCADE,
  CONSTRAINT data_deliveries_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  CONSTRAINT data_deliveries_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'delivered'::text, 'dead'::text])))
);

CREATE INDEX data_deliveries_by_endpoint ON public.data_deliveries USING btree (endpoint_id, status, created_at DESC, id DESC);
CREATE INDEX data_deliveries_by_event ON public.data_deliveries USING btree (event_id);
CREATE INDEX data_deliveries_queue ON public.data_deliveries USING btree (endpoint_id, queued_at, id) WHERE ((status = 'pending'::text) AND (NOT started));
CREATE INDEX data_deliveries_started ON public.data_deliveries USING btree (next_attempt_at) WHERE ((status = 'pending'::text) AND started);
CREATE INDEX data_deliveries_waiting ON public.data_deliveries USING btree (endpoint_id) WHERE ((status = 'pending'::text) AND (waits > 0));

CREATE TABLE data_delivery_attempts (
  delivery_id text NOT NULL,
  round integer NOT NULL,
  attempt integer NOT NULL,
  started_at timestamp with time zone NOT NULL,
  duration_ms integer NOT NULL,
  status_code integer,
  error text,
  CONSTRAINT data_delivery_attempts_pkey PRIMARY KEY (delivery_id, round, attempt),
  CONSTRAINT data_delivery_attempts_delivery_id_fkey FOREIGN KEY (delivery_id) REFERENCES data_deliveries(id) ON DELETE CASCADE
);

CREATE TABLE data_endpoints (
  id text NOT NULL,
  workspace_id text NOT NULL,
  is_demo boolean NOT NULL,
  url text NOT NULL,
  events text[] NOT NULL,
  secret text NOT NULL,
  previous_secret text,
  previous_secret_until timestamp with time zone,
  status text DEFAULT 'active'::text NOT NULL,
  consecutive_failures integer DEFAULT 0 NOT NULL,
  last_delivery_at timestamp with time zone,
  created_by text,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT data_endpoints_pkey PRIMARY KEY (id),
  CONSTRAINT data_endpoints_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  CONSTRAINT data_endpoints_status_check CHECK ((status = ANY (ARRAY['active'::text, 'failing'::text])))
);

CREATE INDEX data_endpoints_by_workspace ON public.data_endpoints USING btree (workspace_id, is_demo, created_at DESC, id DESC);

CREATE TABLE data_entities (
  seq bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  id text NOT NULL,
  workspace_id text NOT NULL,
  feed_id text NOT NULL,
  is_demo boolean NOT NULL,
  external_key text NOT NULL,
  entity_type text NOT NULL,
  canonical_name text NOT NULL,
  aliases jsonb DEFAULT '[]'::jsonb NOT NULL,
  attributes jsonb DEFAULT '{}'::jsonb NOT NULL,
  external_ids jsonb DEFAULT '{}'::jsonb NOT NULL,
  geography jsonb DEFAULT '{}'::jsonb NOT NULL,
  city text GENERATED ALWAYS AS (lower((geography ->> 'city'::text))) STORED,
  region text GENERATED ALWAYS AS (lower((geography ->> 'region'::text))) STORED,
  country text GENERATED ALWAYS AS (lower((geography ->> 'country'::text))) STORED,
  status text DEFAULT 'active'::text NOT NULL,
  verification_status text DEFAULT 'unverified'::text NOT NULL,
  confidence double precision DEFAULT 0 NOT NULL,
  version integer DEFAULT 1 NOT NULL,
  source_evidence jsonb DEFAULT '[]'::jsonb NOT NULL,
  content_hash bytea NOT NULL,
  first_observed_at timestamp with time zone NOT NULL,
  last_observed_at timestamp with time zone NOT NULL,
  last_verified_at timestamp with time zone,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  updated_at timestamp with time zone DEFAULT now() NOT NULL,
  confidence_class smallint GENERATED ALWAYS AS (floor(((confidence * (100)::double precision) + (0.000001)::double precision))) STORED NOT NULL,
  age_class smallint GENERATED ALWAYS AS (
CASE
    WHEN (updated_at < first_observed_at) THEN ('-1'::integer)::double precision
    ELSE floor((((4)::double precision * ln((GREATEST(EXTRACT(epoch FROM (updated_at - first_observed_at)), (1)::numeric))::double precision)) / ln((2)::double precision)))
END) STORED NOT NULL,
  CONSTRAINT data_entities_pkey PRIMARY KEY (id),
  CONSTRAINT data_entities_feed_id_external_key_key UNIQUE (feed_id, external_key),
  CONSTRAINT data_entities_feed_id_fkey FOREIGN KEY (feed_id) REFERENCES data_feeds(id) ON DELETE CASCADE,
  CONSTRAINT data_entities_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  CONSTRAINT data_entities_confidence_check CHECK (((confidence >= (0)::double precision) AND (confidence <= (1)::double precision)))
);

CREATE INDEX data_entities_newest ON public.data_entities USING btree (workspace_id, is_demo, first_observed_at, seq);
CREATE INDEX data_entities_newest_of_city ON public.data_entities USING btree (workspace_id, is_demo, city, first_observed_at, seq);
CREATE INDEX data_entities_newest_of_country ON public.data_entities USING btree (workspace_id, is_demo, country, first_observed_at, seq);
CREATE INDEX data_entities_newest_of_feed ON public.data_entities USING btree (feed_id, first_observed_at, seq);
CREATE INDEX data_entities_newest_of_feed_city ON public.data_entities USING btree (feed_id, city, first_observed_at, seq);
CREATE INDEX data_entities_newest_of_feed_country ON public.data_entities USING btree (feed_id, country, first_observed_at, seq);
CREATE INDEX data_entities_newest_of_feed_region ON public.data_entities USING btree (feed_id, region, first_observed_at, seq);
CREATE INDEX data_entities_newest_of_feed_type ON public.data_entities USING btree (feed_id, entity_type, first_observed_at, seq);
CREATE INDEX data_entities_newest_of_region ON public.data_entities USING btree (workspace_id, is_demo, region, first_observed_at, seq);
CREATE INDEX data_entities_newest_of_type ON public.data_entities USING btree (workspace_id, is_demo, entity_type, first_observed_at, seq);
CREATE INDEX data_entities_newest_of_type_city ON public.data_entities USING btree (workspace_id, is_demo, entity_type, city, first_observed_at, seq);
CREATE INDEX data_entities_newest_of_type_country ON public.data_entities USING btree (workspace_id, is_demo, entity_type, country, first_observed_at, seq);
CREATE INDEX data_entities_newest_of_type_region ON public.data_entities USING btree (workspace_id, is_demo, entity_type, region, first_observed_at, seq);
CREATE INDEX data_entities_sure ON public.data_entities USING btree (workspace_id, is_demo, confidence_class, first_observed_at, seq);
CREATE INDEX data_entities_sure_of_city ON public.data_entities USING btree (workspace_id, is_demo, city, confidence_class, first_observed_at, seq);
CREATE INDEX data_entities_sure_of_country ON public.data_entities USING btree (workspace_id, is_demo, country, confidence_class, first_observed_at, seq);
CREATE INDEX data_entities_sure_of_feed ON public.data_entities USING btree (feed_id, confidence_class, first_observed_at, seq);
CREATE INDEX data_entities_sure_of_region ON public.data_entities USING btree (workspace_id, is_demo, region, confidence_class, first_observed_at, seq);
CREATE INDEX data_entities_sure_of_type ON public.data_entities USING btree (workspace_id, is_demo, entity_type, confidence_class, first_observed_at, seq);
CREATE INDEX data_entities_updated ON public.data_entities USING btree (workspace_id, is_demo, updated_at, seq);
CREATE INDEX data_entities_updated_by_age ON public.data_entities USING btree (workspace_id, is_demo, age_class, updated_at, seq);
CREATE INDEX data_entities_updated_of_city ON public.data_entities USING btree (workspace_id, is_demo, city, updated_at, seq);
CREATE INDEX data_entities_updated_of_country ON public.data_entities USING btree (workspace_id, is_demo, country, updated_at, seq);
CREATE INDEX data_entities_updated_of_feed ON public.data_entities USING btree (feed_id, updated_at, seq);
CREATE INDEX data_entities_updated_of_region ON public.data_entities USING btree (workspace_id, is_demo, region, updated_at, seq);
CREATE INDEX data_entities_updated_of_type ON public.data_entities USING btree (workspace_id, is_demo, entity_type, updated_at, seq);
CREATE INDEX data_entities_updated_sure ON public.data_entities USING btree (workspace_id, is_demo, confidence_class, updated_at, seq);

CREATE TABLE data_entity_versions (
  entity_id text NOT NULL,
  version integer NOT NULL,
  workspace_id text NOT NULL,
  changed_at timestamp with time zone NOT NULL,
  attributes jsonb NOT NULL,
  changed text[] DEFAULT '{}'::text[] NOT NULL,
  CONSTRAINT data_entity_versions_pkey PRIMARY KEY (entity_id, version),
  CONSTRAINT data_entity_versions_entity_id_fkey FOREIGN KEY (entity_id) REFERENCES data_entities(id) ON DELETE CASCADE,
  CONSTRAINT data_entity_versions_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

CREATE TABLE data_events (
  seq bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  id text NOT NULL,
  workspace_id text NOT NULL,
  feed_id text NOT NULL,
  is_demo boolean NOT NULL,
  external_key text NOT NULL,
  event_type text NOT NULL,
  occurred_at timestamp with time zone NOT NULL,
  detected_at timestamp with time zone NOT NULL,
  primary_entity_id text NOT NULL,
  summary text NOT NULL,
  relevance_score double precision,
  opportunity_score double precision,
  confidence double precision DEFAULT 0 NOT NULL,
  verification_status text DEFAULT 'unverified'::text NOT NULL,
  match_reason text,
  source_evidence jsonb DEFAULT '[]'::jsonb NOT NULL,
  content_hash bytea NOT NULL,
  delivered_at timestamp with time zone,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  updated_at timestamp with time zone DEFAULT now() NOT NULL,
  confidence_class smallint GENERATED ALWAYS AS (floor(((confidence * (100)::double precision) + (0.000001)::double precision))) STORED NOT NULL,
  CONSTRAINT data_events_pkey PRIMARY KEY (id),
  CONSTRAINT data_events_feed_id_external_key_key UNIQUE (feed_id, external_key),
  CONSTRAINT data_events_feed_id_fkey FOREIGN KEY (feed_id) REFERENCES data_feeds(id) ON DELETE CASCADE,
  CONSTRAINT data_events_primary_entity_id_fkey FOREIGN KEY (primary_entity_id) REFERENCES data_entities(id) ON DELETE CASCADE,
  CONSTRAINT data_events_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  CONSTRAINT data_events_confidence_check CHECK (((confidence >= (0)::double precision) AND (confidence <= (1)::double precision)))
);

CREATE INDEX data_events_newest ON public.data_events USING btree (workspace_id, is_demo, detected_at, seq);
CREATE INDEX data_events_newest_of_entity ON public.data_events USING btree (primary_entity_id, detected_at, seq);
CREATE INDEX data_events_newest_of_feed ON public.data_events USING btree (feed_id, detected_at, seq);
CREATE INDEX data_events_newest_of_feed_type ON public.data_events USING btree (feed_id, event_type, detected_at, seq);
CREATE INDEX data_events_newest_of_type ON public.data_events USING btree (workspace_id, is_demo, event_type, detected_at, seq);
CREATE INDEX data_events_sure ON public.data_events USING btree (workspace_id, is_demo, confidence_class, detected_at, seq);
CREATE INDEX data_events_sure_of_feed ON public.data_events USING btree (feed_id, confidence_class, detected_at, seq);
CREATE INDEX data_events_sure_of_type ON public.data_events USING btree (workspace_id, is_demo, event_type, confidence_class, detected_at, seq);

CREATE TABLE data_feeds (
  id text NOT NULL,
  workspace_id text NOT NULL,
  is_demo boolean DEFAULT false NOT NULL,
  name text NOT NULL,
  description text DEFAULT ''::text NOT NULL,
  status text DEFAULT 'active'::text NOT NULL,
  entity_types text[] DEFAULT '{}'::text[] NOT NULL,
  schema json DEFAULT '{}'::json NOT NULL,
  geography json DEFAULT '{}'::json NOT NULL,
  specification json DEFAULT '{}'::json NOT NULL,
  last_event_at timestamp with time zone,
  last_checked_at timestamp with time zone,
  created_by text,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  updated_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT data_feeds_pkey PRIMARY KEY (id),
  CONSTRAINT data_feeds_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  CONSTRAINT data_feeds_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
  CONSTRAINT data_feeds_status_check CHECK ((status = ANY (ARRAY['active'::text, 'paused'::text, 'degraded'::text, 'archived'::text])))
);

CREATE INDEX data_feeds_by_workspace ON public.data_feeds USING btree (workspace_id, is_demo, created_at DESC, id DESC);

CREATE TABLE data_key_months (
  key_id text NOT NULL,
  month date NOT NULL,
  workspace_id text NOT NULL,
  requests bigint DEFAULT 0 NOT NULL,
  records bigint DEFAULT 0 NOT NULL,
  credits bigint DEFAULT 0 NOT NULL,
  CONSTRAINT data_key_months_pkey PRIMARY KEY (key_id, month),
  CONSTRAINT data_key_months_key_id_fkey FOREIGN KEY (key_id) REFERENCES data_keys(id) ON DELETE CASCADE,
  CONSTRAINT data_key_months_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

CREATE INDEX data_key_months_by_workspace ON public.data_key_months USING btree (workspace_id, month);

CREATE TABLE data_keys (
  id text NOT NULL,
  workspace_id text NOT NULL,
  name text NOT NULL,
  mode text NOT NULL,
  prefix text NOT NULL,
  hash bytea NOT NULL,
  scopes text[] NOT NULL,
  expires_at timestamp with time zone,
  ip_allowlist text[] DEFAULT '{}'::text[] NOT NULL,
  monthly_request_allowance bigint,
  monthly_credit_allowance bigint,
  revoked_at timestamp with time zone,
  created_by text,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  last_used_at timestamp with time zone,
  CONSTRAINT data_keys_pkey PRIMARY KEY (id),
  CONSTRAINT data_keys_hash_key UNIQUE (hash),
  CONSTRAINT data_keys_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  CONSTRAINT data_keys_mode_check CHECK ((mode = ANY (ARRAY['live'::text, 'test'::text]))),
  CONSTRAINT data_keys_monthly_credit_allowance_check CHECK ((monthly_credit_allowance >= 0)),
  CONSTRAINT data_keys_monthly_request_allowance_check CHECK ((monthly_request_allowance >= 0)),
  CONSTRAINT data_keys_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200)))
);

CREATE INDEX data_keys_by_workspace ON public.data_keys USING btree (workspace_id, created_at DESC, id DESC);

CREATE TABLE data_months (
  workspace_id text NOT NULL,
  month date NOT NULL,
  requests bigint DEFAULT 0 NOT NULL,
  records bigint DEFAULT 0 NOT NULL,
  credits bigint DEFAULT 0 NOT NULL,
  deliveries bigint DEFAULT 0 NOT NULL,
  source_checks bigint DEFAULT 0 NOT NULL,
  CONSTRAINT data_months_pkey PRIMARY KEY (workspace_id, month),
  CONSTRAINT data_months_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

CREATE TABLE data_permits (
  endpoint_id text NOT NULL,
  slot integer NOT NULL,
  delivery_id text,
  until timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
  CONSTRAINT data_permits_pkey PRIMARY KEY (endpoint_id, slot),
  CONSTRAINT data_permits_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES data_endpoints(id) ON DELETE CASCADE
);

CREATE TABLE data_sources (
  id text NOT NULL,
  workspace_id text NOT NULL,
  is_demo boolean DEFAULT false NOT NULL,
  name text NOT NULL,
  type text NOT NULL,
  jurisdiction text,
  cadence text,
  permission_status text,
  license_status text,
  reliability_score double precision,
  health text DEFAULT 'unknown'::text NOT NULL,
  last_success_at timestamp with time zone,
  last_failure_at timestamp with time zone,
  last_error text,
  consecutive_failures integer DEFAULT 0 NOT NULL,
  last_report_key text,
  created_by text,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  updated_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT data_sources_pkey PRIMARY KEY (id),
  CONSTRAINT data_sources_workspace_id_is_demo_name_key UNIQUE (workspace_id, is_demo, name),
  CONSTRAINT data_sources_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  CONSTRAINT data_sources_health_check CHECK ((health = ANY (ARRAY['unknown'::text, 'healthy'::text, 'failed'::text]))),
  CONSTRAINT data_sources_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
  CONSTRAINT data_sources_reliability_score_check CHECK (((reliability_score >= (0)::double precision) AND (reliability_score <= (1)::double precision)))
);

CREATE TABLE data_thresholds (
  workspace_id text NOT NULL,
  month date NOT NULL,
  meter text NOT NULL,
  allowance bigint NOT NULL,
  percent integer NOT NULL,
  reached_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT data_thresholds_pkey PRIMARY KEY (workspace_id, month, meter, allowance, percent),
  CONSTRAINT data_thresholds_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  CONSTRAINT data_thresholds_meter_check CHECK ((meter = ANY (ARRAY['requests'::text, 'credits'::text])))
);

CREATE TABLE data_turns (
  workspace_id text NOT NULL,
  stamp timestamp with time zone NOT NULL,
  CONSTRAINT data_turns_pkey PRIMARY KEY (workspace_id),
  CONSTRAINT data_turns_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

CREATE TABLE decide_links (
  id text NOT NULL,
  token_hash bytea NOT NULL,
  workspace_id text NOT NULL,
  alert text NOT NULL,
  member_id text NOT NULL,
  run_id text NOT NULL,
  step_key text NOT NULL,
  round integer NOT NULL,
  opened_at timestamp with time zone NOT NULL,
  digest text,
  generation integer NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  mailed_at timestamp with time zone,
  used_at timestamp with time zone,
  approved boolean,
  CONSTRAINT decide_links_pkey PRIMARY KEY (id),
  CONSTRAINT decide_links_alert_member_id_key UNIQUE (alert, member_id),
  CONSTRAINT decide_links_token_hash_key UNIQUE (token_hash),
  CONSTRAINT decide_links_run_id_step_key_round_fkey FOREIGN KEY (run_id, step_key, round) REFERENCES gates(run_id, step_key, round) ON DELETE CASCADE,
  CONSTRAINT decide_links_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  CONSTRAINT decide_links_token_hash_check CHECK ((length(token_hash) = 32)),
  CONSTRAINT decide_links_used CHECK (((used_at IS NULL) = (approved IS NULL)))
);

CREATE INDEX decide_links_by_gate ON public.decide_links USING btree (run_id, step_key, round);
CREATE INDEX decide_links_by_workspace ON public.decide_links USING btree (workspace_id);

CREATE TABLE event_cancels (
  event_id text NOT NULL,
  run_id text NOT NULL,
  workspace_id text NOT NULL,
  workflow_id text NOT NULL,
  epoch integer NOT NULL,
  refusal text,
  cancelled_at timestamp with time zone,
  leased_until timestamp with time zone,
  created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT event_cancels_pkey PRIMARY KEY (event_id, run_id),
  CONSTRAINT event_cancels_event_id_fkey FOREIGN KEY (event_id) REFERENCES events(id) ON DELETE CASCADE
);

CREATE INDEX event_cancels_due ON public.event_cancels USING btree (created_at) WHERE ((cancelled_at IS NULL) AND (refusal IS NULL));
CREATE INDEX event_cancels_due_of_run ON public.event_cancels USING btree (run_id) WHERE ((cancelled_at IS NULL) AND (refusal IS NULL));
CREATE INDEX event_cancels_refused ON public.event_cancels USING btree (workflow_id, created_at DESC) WHERE (refusal IS NOT NULL);
CREATE UNIQUE INDEX event_cancels_refused_once ON public.event_cancels USING btree (event_id, workflow_id) WHERE (refusal IS NOT NULL);

CREATE TABLE event_names (
  workspace_id text NOT NULL,
  name text NOT NULL,
  seq bigint DEFAULT 0 NOT NULL,
  matched bigint DEFAULT 0 NOT NULL,
  matched_after bigint DEFAULT 0 NOT NULL,
  paths text[] DEFAULT '{}'::text[] NOT NULL,
  CONSTRAINT event_names_pkey PRIMARY KEY (workspace_id, name),
  CONSTRAINT event_names_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

CREATE INDEX event_names_behind ON public.event_names USING btree (workspace_id, name) WHERE (matched < seq);

CREATE TABLE event_starts (
  trigger_id text NOT NULL,
  event_id text NOT NULL,
  workspace_id text NOT NULL,
  run_id text,
  refusal text,
  leased_until timestamp with time zone,
  created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT event_starts_pkey PRIMARY KEY (trigger_id, event_id),
  CONSTRAINT event_starts_event_id_fkey FOREIGN KEY (event_id) REFERENCES events(id) ON DELETE CASCADE,
  CONSTRAINT event_starts_trigger_id_fkey FOREIGN KEY (trigger_id) REFERENCES event_triggers(id) ON DELETE CASCADE
);

CREATE INDEX event_starts_due ON public.event_starts USING btree (created_at) WHERE ((run_id IS NULL) AND (refusal IS NULL));
CREATE INDEX event_starts_newest ON public.event_starts USING btree (trigger_id, created_at DESC);
CREATE INDEX event_starts_of_event ON public.event_starts USING btree (event_id);
CREATE INDEX event_starts_refused ON public.event_starts USING btree (trigger_id, created_at DESC) WHERE (refusal IS NOT NULL);

CREATE TABLE event_triggers (
  id text NOT NULL,
  workspace_id text NOT NULL,
  workflow_id text NOT NULL,
  event text NOT NULL,
  match text,
  input json,
  enabled boolean NOT NULL,
  created_by text,
  editors text[] DEFAULT '{}'::text[] NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT event_triggers_pkey PRIMARY KEY (id),
  CONSTRAINT event_triggers_workflow_id_fkey FOREIGN KEY (workflow_id) REFERENCES workflows(id) ON DELETE CASCADE,
  CONSTRAINT event_triggers_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

CREATE INDEX event_triggers_of_workflow ON public.event_triggers USING btree (workflow_id, created_at);
CREATE INDEX event_triggers_of_workspace ON public.event_triggers USING btree (workspace_id);

CREATE TABLE events (
  id text NOT NULL,
  workspace_id text NOT NULL,
  name text NOT NULL,
  seq bigint NOT NULL,
  given_id text,
  id_scope text DEFAULT ''::text NOT NULL,
  data json NOT NULL,
  source text NOT NULL,
  created_by text,
  created_by_name text,
  run_id text,
  inbound_event_id text,
  depth integer DEFAULT 0 NOT NULL,
  woke integer DEFAULT 0 NOT NULL,
  created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT events_pkey PRIMARY KEY (id),
  CONSTRAINT events_workspace_id_name_seq_key UNIQUE (workspace_id, name, seq),
  CONSTRAINT events_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  CONSTRAINT events_source_check CHECK ((source = ANY (ARRAY['api'::text, 'tool'::text, 'webhook'::text, 'data'::text])))
);

CREATE UNIQUE INDEX events_given_id ON public.events USING btree (workspace_id, id_scope, given_id) WHERE (given_id IS NOT NULL);
CREATE INDEX events_newest ON public.events USING btree (workspace_id, created_at DESC, id DESC);

CREATE TABLE examples_made (
  workspace_id text NOT NULL,
  key text NOT NULL,
  id text NOT NULL,
  made_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT examples_made_pkey PRIMARY KEY (workspace_id, key),
  CONSTRAINT examples_made_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

CREATE TABLE experiment_runs (
  experiment_id text NOT NULL,
  n integer NOT NULL,
  run_id text NOT NULL,
  rehearsal_run_id text,
  outcome text,
  badness integer,
  reason text,
  diff json,
  checks_won json,
  checks_lost json,
  base_micros bigint,
  candidate_micros bigint,
  base_ms bigint,
  candidate_ms bigint,
  CONSTRAINT experiment_runs_pkey PRIMARY KEY (experiment_id, n),
  CONSTRAINT experiment_runs_experiment_id_run_id_key UNIQUE (experiment_id, run_id),
  CONSTRAINT experiment_runs_experiment_id_fkey FOREIGN KEY (experiment_id) REFERENCES experiments(id) ON DELETE CASCADE,
  CONSTRAINT experiment_runs_check CHECK (((outcome IS NULL) = (badness IS NULL))),
  CONSTRAINT experiment_runs_outcome_check CHECK ((outcome = ANY (ARRAY['equal'::text, 'changed'::text, 'failed'::text, 'unrecorded'::text, 'refused'::text])))
);

CREATE INDEX experiment_runs_open ON public.experiment_runs USING btree (experiment_id, n) WHERE (outcome IS NULL);
CREATE INDEX experiment_runs_worst ON public.experiment_runs USING btree (experiment_id, badness DESC, n) WHERE (outcome IS NOT NULL);

CREATE TABLE experiments (
  id text NOT NULL,
  workspace_id text NOT NULL,
  workflow_id text NOT NULL,
  version integer,
  graph json NOT NULL,
  input_schema json,
  content_digest text NOT NULL,
  checks json NOT NULL,
  rules json NOT NULL,
  budget_micros bigint,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT experiments_pkey PRIMARY KEY (id),
  CONSTRAINT experiments_id_fkey FOREIGN KEY (id) REFERENCES background_jobs(id) ON DELETE CASCADE,
  CONSTRAINT experiments_workflow_id_fkey FOREIGN KEY (workflow_id) REFERENCES workflows(id) ON DELETE CASCADE,
  CONSTRAINT experiments_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  CONSTRAINT experiments_budget_micros_check CHECK ((budget_micros > 0))
);

CREATE INDEX experiments_by_content ON public.experiments USING btree (workflow_id, content_digest, created_at DESC);
CREATE INDEX experiments_by_workflow ON public.experiments USING btree (workflow_id, created_at DESC, id DESC);

CREATE TABLE gate_effects (
  run_id text NOT NULL,
  node_id text NOT NULL,
  step_key text NOT NULL,
  gate_key text NOT NULL,
  round integer NOT NULL,
  shown json NOT NULL,
  items bytea,
  decided_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT gate_effects_pkey PRIMARY KEY (run_id, node_id, step_key, gate_key, round),
  CONSTRAINT gate_effects_run_id_fkey FOREIGN KEY (run_id) REFERENCES runs(id) ON DELETE CASCADE
);

CREATE TABLE gates (
  run_id text NOT NULL,
  step_key text NOT NULL,
  round integer NOT NULL,
  node_id text NOT NULL,
  label text NOT NULL,
  prompt text NOT NULL,
  fails_on_reject boolean NOT NULL,
  status text DEFAULT 'open'::text NOT NULL,
  input json,
  opened_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  decided_at timestamp with time zone,
  decided_by text,
  decided_by_name text,
  reason text,
  kind text DEFAULT 'human_gate'::text NOT NULL,
  tool text,
  turn integer,
  arguments json,
  schema_digest text,
  digest text,
  decided_arguments json,
  decided_digest text,
  settings json,
  decisions json,
  expires_at timestamp with time zone,
  remind_at timestamp with time zone,
  reminders integer DEFAULT 0 NOT NULL,
  timed_out text,
  assignee_id text,
  decided_by_kind text,
  reused_from text,
  tool_digest text,
  consequences json,
  situation json,
  targets json,
  items json,
  shown_at timestamp with time zone,
  title text,
  reads json,
  recheck jsonb,
  decided_by_link boolean,
  decided_by_slack boolean,
  CONSTRAINT gates_pkey PRIMARY KEY (run_id, step_key, round),
  CONSTRAINT gates_run_id_fkey FOREIGN KEY (run_id) REFERENCES runs(id) ON DELETE CASCADE,
  CONSTRAINT gates_decided_by_kind_check CHECK ((decided_by_kind = ANY (ARRAY['member'::text, 'deadline'::text, 'request'::text]))),
  CONSTRAINT gates_kind_check CHECK ((kind = ANY (ARRAY['human_gate'::text, 'tool_call'::text]))),
  CONSTRAINT gates_status_check CHECK ((status = ANY (ARRAY['open'::text, 'approved'::text, 'rejected'::text, 'cancelled'::text]))),
  CONSTRAINT gates_timed_out_check CHECK ((timed_out = ANY (ARRAY['reject'::text, 'approve'::text, 'fail'::text]))),
  CONSTRAINT gates_tool_call_check CHECK (((kind <> 'tool_call'::text) OR ((tool IS NOT NULL) AND (arguments IS NOT NULL) AND (schema_digest IS NOT NULL) AND (digest IS NOT NULL)))) NOT VALID
);

CREATE INDEX gates_decided ON public.gates USING btree (run_id, decided_at) WHERE (decided_at IS NOT NULL);
CREATE INDEX gates_decided_at ON public.gates USING btree (decided_at) WHERE ((status = ANY (ARRAY['approved'::text, 'rejected'::text])) AND (reused_from IS NULL));
CREATE INDEX gates_open ON public.gates USING btree (opened_at, run_id) WHERE (status = 'open'::text);
CREATE TRIGGER gates_in_slack AFTER UPDATE ON public.gates FOR EACH ROW WHEN (((old.status <> new.status) OR (old.opened_at <> new.opened_at) OR (old.digest IS DISTINCT FROM new.digest) OR ((old.decisions)::text IS DISTINCT FROM (new.decisions)::text))) EXECUTE FUNCTION update_slack_message();

CREATE TABLE governance_events (
  id text DEFAULT "left"(replace((gen_random_uuid())::text, '-'::text, ''::text), 12) NOT NULL,
  seq bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  workspace_id text NOT NULL,
  type text NOT NULL,
  workflow_id text,
  version integer,
  run_id text,
  node_id text,
  policy text NOT NULL,
  actor_id text,
  decision text NOT NULL,
  reason text NOT NULL,
  evidence json DEFAULT '{}'::json NOT NULL,
  created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  revision integer,
  CONSTRAINT governance_events_pkey PRIMARY KEY (id),
  CONSTRAINT governance_events_seq_key UNIQUE (seq),
  CONSTRAINT governance_events_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  CONSTRAINT governance_events_decision_check CHECK ((decision = ANY (ARRAY['blocked'::text, 'denied'::text, 'redacted'::text, 'granted'::text]))),
  CONSTRAINT governance_events_id_check CHECK ((id ~ '^[0-9a-f]{12}$'::text)),
  CONSTRAINT governance_events_policy_check CHECK ((policy = ANY (ARRAY['tool_permission'::text, 'tool_argument'::text, 'dlp'::text, 'model_allowlist'::text, 'budget'::text, 'fallback'::text, 'approval'::text]))) NOT VALID,
  CONSTRAINT governance_events_type_check CHECK ((type = ANY (ARRAY['policy_denied'::text, 'tool_argument_blocked'::text, 'data_redacted'::text, 'budget_blocked'::text, 'model_fallback_blocked'::text, 'approval_override_granted'::text, 'approval_mismatch'::text]))) NOT VALID
);

CREATE INDEX governance_events_by_decision ON public.governance_events USING btree (workspace_id, decision, seq DESC);
CREATE INDEX governance_events_by_run ON public.governance_events USING btree (run_id, seq DESC) WHERE (run_id IS NOT NULL);
CREATE INDEX governance_events_by_type ON public.governance_events USING btree (workspace_id, type, seq DESC);
CREATE INDEX governance_events_by_workflow ON public.governance_events USING btree (workflow_id, seq DESC) WHERE (workflow_id IS NOT NULL);
CREATE INDEX governance_events_by_workspace ON public.governance_events USING btree (workspace_id, seq DESC);
CREATE TRIGGER governance_events_revision BEFORE INSERT ON public.governance_events FOR EACH ROW EXECUTE FUNCTION note_policy_revision();

CREATE TABLE graph_events (
  workspace_id text NOT NULL,
  name text NOT NULL,
  workflow_id text,
  version integer,
  run_id text,
  CONSTRAINT graph_events_run_id_fkey FOREIGN KEY (run_id) REFERENCES runs(id) ON DELETE CASCADE,
  CONSTRAINT graph_events_workflow_id_version_fkey FOREIGN KEY (workflow_id, version) REFERENCES workflow_versions(workflow_id, version) ON DELETE CASCADE,
  CONSTRAINT graph_events_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  CONSTRAINT graph_of_one CHECK ((((run_id IS NULL) = (version IS NOT NULL)) AND ((version IS NULL) = (workflow_id IS NULL))))
);

CREATE INDEX graph_events_of_name ON public.graph_events USING btree (workspace_id, name);
CREATE UNIQUE INDEX graph_events_of_run ON public.graph_events USING btree (run_id, name) WHERE (run_id IS NOT NULL);
CREATE UNIQUE INDEX graph_events_of_version ON public.graph_events USING btree (workflow_id, version, name) WHERE (run_id IS NULL);

CREATE TABLE idempotency_keys (
  workspace_id text NOT NULL,
  workflow_id text NOT NULL,
  key text NOT NULL,
  fingerprint bytea NOT NULL,
  run_id text NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT idempotency_keys_pkey PRIMARY KEY (workspace_id, workflow_id, key),
  CONSTRAINT idempotency_keys_run_id_fkey FOREIGN KEY (run_id) REFERENCES runs(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED
);

CREATE INDEX idempotency_keys_by_run ON public.idempotency_keys USING btree (run_id);

CREATE TABLE idempotent_answers (
  workspace_id text NOT NULL,
  id bytea NOT NULL,
  request bytea NOT NULL,
  answer text NOT NULL,
  sealed boolean NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT idempotent_answers_pkey PRIMARY KEY (workspace_id, id),
  CONSTRAINT idempotent_answers_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

CREATE INDEX idempotent_answers_by_age ON public.idempotent_answers USING btree (workspace_id, created_at);
CREATE INDEX idempotent_answers_sealed ON public.idempotent_answers USING btree (id) WHERE sealed;

CREATE TABLE inbound_event_replays (
  run_id text,
  event_id text NOT NULL,
  job_id text,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  sent_event_id text,
  CONSTRAINT inbound_event_replays_event_id_fkey FOREIGN KEY (event_id) REFERENCES inbound_events(id) ON DELETE CASCADE,
  CONSTRAINT inbound_event_replays_one CHECK ((num_nonnulls(run_id, sent_event_id) = 1)) NOT VALID
);

CREATE INDEX inbound_event_replays_by_event ON public.inbound_event_replays USING btree (event_id);
CREATE UNIQUE INDEX inbound_event_replays_once ON public.inbound_event_replays USING btree (event_id, job_id) WHERE (job_id IS NOT NULL);
CREATE UNIQUE INDEX inbound_event_replays_run ON public.inbound_event_replays USING btree (run_id) WHERE (run_id IS NOT NULL);

CREATE TABLE inbound_events (
  id text NOT NULL,
  workflow_id text NOT NULL,
  received_at timestamp with time zone DEFAULT now() NOT NULL,
  outcome text NOT NULL,
  status smallint NOT NULL,
  reason text,
  detail text,
  run_id text,
  event_id text,
  source text NOT NULL,
  headers json NOT NULL,
  size integer,
  body bytea,
  times integer DEFAULT 1 NOT NULL,
  sent_event_id text,
  CONSTRAINT inbound_events_pkey PRIMARY KEY (id),
  CONSTRAINT inbound_events_workflow_id_fkey FOREIGN KEY (workflow_id) REFERENCES workflows(id) ON DELETE CASCADE,
  CONSTRAINT inbound_events_check CHECK (((outcome = 'refused'::text) = (reason IS NOT NULL))),
  CONSTRAINT inbound_events_outcome_check CHECK ((outcome = ANY (ARRAY['run'::text, 'event'::text, 'duplicate'::text, 'refused'::text]))) NOT VALID
);

CREATE INDEX inbound_events_by_outcome ON public.inbound_events USING btree (workflow_id, outcome, received_at DESC, id DESC);

CREATE TABLE joined_ticks (
  schedule_id text NOT NULL,
  due_at timestamp with time zone NOT NULL,
  run_id text NOT NULL,
  CONSTRAINT joined_ticks_pkey PRIMARY KEY (schedule_id, due_at),
  CONSTRAINT joined_ticks_run_id_fkey FOREIGN KEY (run_id) REFERENCES runs(id) ON DELETE CASCADE,
  CONSTRAINT joined_ticks_schedule_id_fkey FOREIGN KEY (schedule_id) REFERENCES schedules(id) ON DELETE CASCADE
);

CREATE INDEX joined_ticks_of_run ON public.joined_ticks USING btree (run_id);

CREATE TABLE limited_calls (
  scope text NOT NULL,
  run_id text NOT NULL,
  step_key text NOT NULL,
  claim text NOT NULL,
  workspace_id text NOT NULL,
  rated boolean NOT NULL,
  ended boolean DEFAULT false NOT NULL,
  taken_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT limited_calls_pkey PRIMARY KEY (run_id, step_key, claim, scope),
  CONSTRAINT limited_calls_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

CREATE INDEX limited_calls_of_scope ON public.limited_calls USING btree (scope, taken_at);
CREATE INDEX limited_calls_of_workspace ON public.limited_calls USING btree (workspace_id);

CREATE TABLE member_days (
  workspace_id text NOT NULL,
  member_id text NOT NULL,
  day date NOT NULL,
  actions integer DEFAULT 0 NOT NULL,
  runs integer DEFAULT 0 NOT NULL,
  approvals integer DEFAULT 0 NOT NULL,
  rejections integer DEFAULT 0 NOT NULL,
  workflows_created integer DEFAULT 0 NOT NULL,
  cost_micros bigint DEFAULT 0 NOT NULL,
  CONSTRAINT member_days_pkey PRIMARY KEY (workspace_id, member_id, day),
  CONSTRAINT member_days_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

CREATE TABLE members (
  id text NOT NULL,
  workspace_id text NOT NULL,
  name text NOT NULL,
  email text NOT NULL,
  role text NOT NULL,
  status text NOT NULL,
  overrides jsonb DEFAULT '{}'::jsonb NOT NULL,
  is_owner boolean DEFAULT false NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  password_hash text,
  session_epoch integer DEFAULT 1 NOT NULL,
  invite_code text,
  invite_mail_due_at timestamp with time zone,
  invite_mail_attempts integer DEFAULT 0 NOT NULL,
  signup_network text,
  invite_code_hash bytea,
  invite_code_sealed text,
  invite_expires_at timestamp with time zone,
  CONSTRAINT members_pkey PRIMARY KEY (id),
  CONSTRAINT members_invite_code_key UNIQUE (invite_code),
  CONSTRAINT members_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  CONSTRAINT members_email_length CHECK (((length(email) >= 3) AND (length(email) <= 320))),
  CONSTRAINT members_invite CHECK (((status <> 'invited'::text) OR (invite_code IS NOT NULL) OR (invite_code_hash IS NOT NULL))),
  CONSTRAINT members_invite_code_has_use CHECK (((invite_code_hash IS NULL) OR (status = ANY (ARRAY['invited'::text, 'active'::text])))),
  CONSTRAINT members_invite_code_hash_length CHECK ((length(invite_code_hash) = 32)),
  CONSTRAINT members_invite_expires CHECK (((invite_code_hash IS NULL) = (invite_expires_at IS NULL))),
  CONSTRAINT members_invited_has_no_password CHECK (((status <> 'invited'::text) OR (password_hash IS NULL))),
  CONSTRAINT members_name_length CHECK (((length(name) >= 1) AND (length(name) <= 200))),
  CONSTRAINT members_role_check CHECK ((role = ANY (ARRAY['admin'::text, 'editor'::text, 'viewer'::text]))),
  CONSTRAINT members_status_check CHECK ((status = ANY (ARRAY['active'::text, 'invited'::text, 'pending'::text])))
);

CREATE INDEX members_by_workspace ON public.members USING btree (workspace_id, created_at, id);
CREATE UNIQUE INDEX members_email ON public.members USING btree (lower(email));
CREATE UNIQUE INDEX members_invite_code_hash ON public.members USING btree (invite_code_hash) WHERE (invite_code_hash IS NOT NULL);
CREATE UNIQUE INDEX members_owner ON public.members USING btree (workspace_id) WHERE is_owner;
CREATE INDEX members_pending_by_network ON public.members USING btree (signup_network) WHERE (status = 'pending'::text);
CREATE INDEX members_to_mail ON public.members USING btree (invite_mail_due_at) WHERE (invite_mail_due_at IS NOT NULL);

CREATE TABLE migrations (
  name text NOT NULL,
  digest text NOT NULL,
  applied_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT migrations_pkey PRIMARY KEY (name)
);

CREATE TABLE oauth_clients (
  id text NOT NULL,
  name text NOT NULL,
  redirect_uris text[] NOT NULL,
  registered_from text NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  used_at timestamp with time zone,
  CONSTRAINT oauth_clients_pkey PRIMARY KEY (id),
  CONSTRAINT oauth_clients_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
  CONSTRAINT oauth_clients_redirect_uris_check CHECK (((cardinality(redirect_uris) >= 1) AND (cardinality(redirect_uris) <= 10)))
);

CREATE INDEX oauth_clients_unused ON public.oauth_clients USING btree (registered_from, created_at) WHERE (used_at IS NULL);
CREATE INDEX oauth_clients_used ON public.oauth_clients USING btree (used_at) WHERE (used_at IS NOT NULL);

CREATE TABLE outbound_events (
  id text NOT NULL,
  workspace_id text NOT NULL,
  type text NOT NULL,
  data json NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT outbound_events_pkey PRIMARY KEY (id),
  CONSTRAINT outbound_events_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

CREATE INDEX outbound_events_by_age ON public.outbound_events USING btree (workspace_id, created_at);

CREATE TABLE outbox (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  run_id text NOT NULL,
  kind text NOT NULL,
  payload json DEFAULT '{}'::json NOT NULL,
  attempts integer DEFAULT 0 NOT NULL,
  due_at timestamp with time zone DEFAULT now() NOT NULL,
  leased_until timestamp with time zone,
  last_error text,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT outbox_pkey PRIMARY KEY (id),
  CONSTRAINT outbox_kind_check CHECK ((kind = ANY (ARRAY['start'::text, 'decision'::text, 'cancel'::text, 'resume'::text, 'continue'::text, 'alert'::text, 'child'::text, 'job'::text, 'waited'::text]))) NOT VALID
);

CREATE INDEX outbox_by_run ON public.outbox USING btree (run_id, id);
CREATE INDEX outbox_due ON public.outbox USING btree (due_at);

CREATE TABLE payloads (
  digest text NOT NULL,
  bytes bytea NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  stored_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT payloads_pkey PRIMARY KEY (digest)
);

CREATE INDEX payloads_by_age ON public.payloads USING btree (stored_at);

CREATE TABLE rate_queues (
  workflow_id text NOT NULL,
  workspace_id text NOT NULL,
  key text NOT NULL,
  due_at timestamp with time zone NOT NULL,
  CONSTRAINT rate_queues_pkey PRIMARY KEY (workflow_id, key),
  CONSTRAINT rate_queues_workflow_id_fkey FOREIGN KEY (workflow_id) REFERENCES workflows(id) ON DELETE CASCADE
);

CREATE INDEX rate_queues_due ON public.rate_queues USING btree (due_at);

CREATE TABLE rate_tokens (
  workflow_id text NOT NULL,
  key text NOT NULL,
  taken_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT rate_tokens_workflow_id_fkey FOREIGN KEY (workflow_id) REFERENCES workflows(id) ON DELETE CASCADE
);

CREATE INDEX rate_tokens_newest ON public.rate_tokens USING btree (workflow_id, key, taken_at DESC);
CREATE INDEX rate_tokens_oldest ON public.rate_tokens USING btree (taken_at);

CREATE TABLE recorded_steps (
  run_id text NOT NULL,
  step_key text NOT NULL,
  digest text NOT NULL,
  CONSTRAINT recorded_steps_pkey PRIMARY KEY (run_id, step_key),
  CONSTRAINT recorded_steps_run_id_fkey FOREIGN KEY (run_id) REFERENCES runs(id) ON DELETE CASCADE
);

CREATE TABLE retention_removals (
  workspace_id text NOT NULL,
  runs integer DEFAULT 0 NOT NULL,
  audit integer DEFAULT 0 NOT NULL,
  CONSTRAINT retention_removals_pkey PRIMARY KEY (workspace_id),
  CONSTRAINT retention_removals_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  CONSTRAINT retention_removals_audit_check CHECK ((audit >= 0)),
  CONSTRAINT retention_removals_runs_check CHECK ((runs >= 0))
);

CREATE TABLE run_callbacks (
  run_id text NOT NULL,
  step_key text NOT NULL,
  body json NOT NULL,
  received_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT run_callbacks_pkey PRIMARY KEY (run_id, step_key),
  CONSTRAINT run_callbacks_run_id_fkey FOREIGN KEY (run_id) REFERENCES runs(id) ON DELETE CASCADE
);

CREATE TABLE run_counters (
  workspace_id text NOT NULL,
  month date NOT NULL,
  shard smallint NOT NULL,
  runs bigint NOT NULL,
  CONSTRAINT run_counters_pkey PRIMARY KEY (workspace_id, month, shard),
  CONSTRAINT run_counters_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  CONSTRAINT run_counters_runs_check CHECK ((runs >= 0))
);

CREATE TABLE run_frames (
  run_id text NOT NULL,
  seq bigint NOT NULL,
  frame json NOT NULL,
  created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT run_frames_pkey PRIMARY KEY (run_id, seq),
  CONSTRAINT run_frames_run_id_fkey FOREIGN KEY (run_id) REFERENCES runs(id) ON DELETE CASCADE
);

CREATE TABLE run_places (
  run_id text NOT NULL,
  workspace_id text NOT NULL,
  workflow_id text NOT NULL,
  key text,
  rate_key text,
  priority smallint DEFAULT 0 NOT NULL,
  seq bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  state text NOT NULL,
  kind text NOT NULL,
  payload json DEFAULT '{}'::json NOT NULL,
  queued_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  taken_at timestamp with time zone,
  due_at timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
  debounce_key text,
  latest_at timestamp with time zone,
  CONSTRAINT run_places_pkey PRIMARY KEY (run_id),
  CONSTRAINT run_places_run_id_fkey FOREIGN KEY (run_id) REFERENCES runs(id) ON DELETE CASCADE,
  CONSTRAINT run_places_kind_check CHECK ((kind = ANY (ARRAY['start'::text, 'resume'::text, 'continue'::text]))),
  CONSTRAINT run_places_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'holding'::text, 'leaving'::text, 'pausing'::text, 'away'::text, 'debounced'::text]))) NOT VALID
);

CREATE UNIQUE INDEX run_places_debounced ON public.run_places USING btree (workflow_id, debounce_key) WHERE (state = 'debounced'::text);
CREATE INDEX run_places_debounced_due ON public.run_places USING btree (due_at) WHERE (state = 'debounced'::text);
CREATE INDEX run_places_leaving ON public.run_places USING btree (due_at) WHERE (state = ANY (ARRAY['leaving'::text, 'pausing'::text]));
CREATE INDEX run_places_of_key ON public.run_places USING btree (workflow_id, key, state, priority DESC, seq);
CREATE INDEX run_places_of_rate ON public.run_places USING btree (workflow_id, rate_key, priority DESC, seq) WHERE (state = 'waiting'::text);
CREATE INDEX run_places_of_workspace ON public.run_places USING btree (workspace_id, workflow_id, key);
CREATE INDEX run_places_waiting ON public.run_places USING btree (workspace_id, workflow_id, key) WHERE (state = 'waiting'::text);
CREATE TRIGGER run_places_joined AFTER UPDATE OF due_at ON public.run_places FOR EACH ROW WHEN (((old.state = 'debounced'::text) AND (new.state = 'debounced'::text))) EXECUTE FUNCTION note_joined_run();

CREATE TABLE run_views (
  workspace_id text NOT NULL,
  member_id text,
  name text NOT NULL,
  filter text NOT NULL,
  saved_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT run_views_one_per_name UNIQUE NULLS NOT DISTINCT (workspace_id, member_id, name),
  CONSTRAINT run_views_member_id_fkey FOREIGN KEY (member_id) REFERENCES members(id) ON DELETE CASCADE,
  CONSTRAINT run_views_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

CREATE INDEX run_views_by_member ON public.run_views USING btree (member_id);

CREATE TABLE run_waits (
  run_id text NOT NULL,
  step_key text NOT NULL,
  workspace_id text NOT NULL,
  node_id text NOT NULL,
  label text NOT NULL,
  kind text NOT NULL,
  waits_for json NOT NULL,
  status text DEFAULT 'open'::text NOT NULL,
  epoch integer DEFAULT 0 NOT NULL,
  opened_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  due_at timestamp with time zone,
  remind_at timestamp with time zone,
  ended_at timestamp with time zone,
  output json,
  series text NOT NULL,
  event_id text,
  wake_at timestamp with time zone,
  connection_id text,
  member_id text,
  CONSTRAINT run_waits_pkey PRIMARY KEY (run_id, step_key),
  CONSTRAINT run_waits_run_id_fkey FOREIGN KEY (run_id) REFERENCES runs(id) ON DELETE CASCADE,
  CONSTRAINT run_waits_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  CONSTRAINT run_waits_account CHECK (((kind = 'connection'::text) = ((connection_id IS NOT NULL) AND (member_id IS NOT NULL)))) NOT VALID,
  CONSTRAINT run_waits_kind_check CHECK ((kind = ANY (ARRAY['time'::text, 'event'::text, 'callback'::text, 'connection'::text]))) NOT VALID,
  CONSTRAINT run_waits_status_check CHECK ((status = ANY (ARRAY['open'::text, 'came'::text, 'late'::text, 'cancelled'::text, 'rejected'::text]))) NOT VALID
);

CREATE INDEX run_waits_of_account ON public.run_waits USING btree (connection_id, member_id) WHERE ((connection_id IS NOT NULL) AND (status = 'open'::text));
CREATE INDEX run_waits_of_member ON public.run_waits USING btree (member_id) WHERE ((member_id IS NOT NULL) AND (status = 'open'::text));
CREATE INDEX run_waits_open ON public.run_waits USING btree (workspace_id, opened_at) WHERE (status = 'open'::text);
CREATE INDEX run_waits_taken ON public.run_waits USING btree (run_id, series, event_id) WHERE (event_id IS NOT NULL);
CREATE INDEX run_waits_wake ON public.run_waits USING btree (wake_at, workspace_id) WHERE ((status <> 'cancelled'::text) AND (wake_at IS NOT NULL));
CREATE TRIGGER run_waits_ended AFTER UPDATE OF status ON public.run_waits FOR EACH ROW WHEN (((old.status = 'open'::text) AND (new.status <> 'open'::text) AND (new.kind = 'event'::text))) EXECUTE FUNCTION forget_awaited_events();

CREATE TABLE run_words (
  run_id text NOT NULL,
  words tsvector NOT NULL,
  CONSTRAINT run_words_pkey PRIMARY KEY (run_id),
  CONSTRAINT run_words_run_id_fkey FOREIGN KEY (run_id) REFERENCES runs(id) ON DELETE CASCADE
);

CREATE INDEX run_words_of ON public.run_words USING gin (words);

CREATE TABLE run_words_due (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  run_id text NOT NULL,
  CONSTRAINT run_words_due_pkey PRIMARY KEY (id)
);

CREATE TABLE runs (
  id text NOT NULL,
  workspace_id text NOT NULL,
  workflow_id text NOT NULL,
  workflow_version integer NOT NULL,
  status text DEFAULT 'pending'::text NOT NULL,
  trigger text NOT NULL,
  input json NOT NULL,
  state json,
  output json,
  error text,
  failure json,
  evals json,
  cost_micros bigint DEFAULT 0 NOT NULL,
  cost_cap_micros bigint,
  created_by text,
  created_by_name text,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  started_at timestamp with time zone,
  finished_at timestamp with time zone,
  updated_at timestamp with time zone DEFAULT now() NOT NULL,
  active_ms bigint DEFAULT 0 NOT NULL,
  waiting_ms bigint DEFAULT 0 NOT NULL,
  phase_since timestamp with time zone,
  failures_reported integer DEFAULT 0 NOT NULL,
  failures_granted integer DEFAULT 0 NOT NULL,
  resumed_count integer DEFAULT 0 NOT NULL,
  temporal_run_id text,
  superseded text[] DEFAULT '{}'::text[] NOT NULL,
  frame_seq bigint DEFAULT 0 NOT NULL,
  from_ledger boolean DEFAULT false NOT NULL,
  lost_since timestamp with time zone,
  checked_at timestamp with time zone,
  budget_exempt boolean DEFAULT false NOT NULL,
  resuming boolean DEFAULT false NOT NULL,
  schedule_id text,
  due_at timestamp with time zone,
  parent_run_id text,
  parent_step_key text,
  parent_attempt integer DEFAULT 0 NOT NULL,
  depth integer DEFAULT 1 NOT NULL,
  starter_id text,
  forked_from text,
  forked_from_step text,
  laid json,
  graph json,
  rehearsal json,
  experiment_id text,
  inbound_event_id text,
  overrun text DEFAULT 'none'::text NOT NULL,
  starters text[],
  at_rest boolean DEFAULT false NOT NULL,
  trigger_id text,
  event_id text,
  event_depth integer,
  limits json,
  cancel_on json,
  joined boolean,
  CONSTRAINT runs_pkey PRIMARY KEY (id),
  CONSTRAINT runs_experiment_id_fkey FOREIGN KEY (experiment_id) REFERENCES experiments(id) ON DELETE SET NULL,
  CONSTRAINT runs_forked_from_fkey FOREIGN KEY (forked_from) REFERENCES runs(id) ON DELETE SET NULL,
  CONSTRAINT runs_parent_run_id_fkey FOREIGN KEY (parent_run_id) REFERENCES runs(id) ON DELETE SET NULL,
  CONSTRAINT runs_workflow_id_fkey FOREIGN KEY (workflow_id) REFERENCES workflows(id) ON DELETE CASCADE,
  CONSTRAINT runs_workflow_id_workflow_version_fkey FOREIGN KEY (workflow_id, workflow_version) REFERENCES workflow_versions(workflow_id, version),
  CONSTRAINT runs_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  CONSTRAINT runs_check CHECK ((failures_granted <= failures_reported)),
  CONSTRAINT runs_check1 CHECK (((status = ANY (ARRAY['success'::text, 'failed'::text])) = (finished_at IS NOT NULL))),
  CONSTRAINT runs_cost_cap_micros_check CHECK ((cost_cap_micros >= 0)),
  CONSTRAINT runs_cost_micros_check CHECK ((cost_micros >= 0)),
  CONSTRAINT runs_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'running'::text, 'paused'::text, 'success'::text, 'failed'::text]))),
  CONSTRAINT runs_trigger_check CHECK ((trigger = ANY (ARRAY['manual'::text, 'webhook'::text, 'mcp'::text, 'schedule'::text, 'workflow'::text, 'event'::text]))) NOT VALID
);

CREATE INDEX runs_by_failure ON public.runs USING btree (workspace_id, ((failure ->> 'kind'::text)), created_at DESC, id DESC) WHERE (failure IS NOT NULL);
CREATE INDEX runs_by_source ON public.runs USING btree (forked_from, created_at DESC, id DESC) WHERE (forked_from IS NOT NULL);
CREATE INDEX runs_by_status ON public.runs USING btree (workspace_id, status, created_at DESC, id DESC);
CREATE INDEX runs_by_version ON public.runs USING btree (workflow_id, workflow_version, created_at DESC, id DESC) WHERE (graph IS NULL);
CREATE INDEX runs_by_workflow ON public.runs USING btree (workflow_id, created_at DESC, id DESC);
CREATE INDEX runs_by_workspace ON public.runs USING btree (workspace_id, created_at DESC, id DESC);
CREATE INDEX runs_live_by_schedule ON public.runs USING btree (schedule_id) WHERE ((schedule_id IS NOT NULL) AND (status = ANY (ARRAY['pending'::text, 'running'::text, 'paused'::text])));
CREATE INDEX runs_long_lived ON public.runs USING btree (created_at) WHERE ((finished_at - created_at) > '1 day'::interval);
CREATE INDEX runs_lost ON public.runs USING btree (lost_since) WHERE (lost_since IS NOT NULL);
CREATE INDEX runs_of_drafts ON public.runs USING btree (workflow_id) WHERE (graph IS NOT NULL);
CREATE UNIQUE INDEX runs_one_per_experiment ON public.runs USING btree (experiment_id, forked_from) WHERE (experiment_id IS NOT NULL);
CREATE UNIQUE INDEX runs_one_per_step ON public.runs USING btree (parent_run_id, parent_step_key) WHERE (parent_run_id IS NOT NULL);
CREATE UNIQUE INDEX runs_one_per_tick ON public.runs USING btree (schedule_id, due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX runs_open ON public.runs USING btree (COALESCE(checked_at, created_at)) WHERE (status = ANY (ARRAY['pending'::text, 'running'::text, 'paused'::text]));
CREATE INDEX runs_pending_children ON public.runs USING btree (workspace_id, depth DESC, id) WHERE ((status = 'pending'::text) AND (parent_run_id IS NOT NULL));
CREATE INDEX runs_ranges ON public.runs USING brin (cost_micros, active_ms, workflow_version, trigger text_bloom_ops, workspace_id text_bloom_ops) WITH (pages_per_range='32', autosummarize='on');
CREATE INDEX runs_rehearsed ON public.runs USING btree (workspace_id, created_at DESC, id DESC) WHERE (rehearsal IS NOT NULL);
CREATE TRIGGER runs_cancel_events AFTER INSERT ON public.runs FOR EACH ROW WHEN ((new.cancel_on IS NOT NULL)) EXECUTE FUNCTION note_cancel_events();
CREATE TRIGGER runs_cancel_events_again AFTER UPDATE OF status ON public.runs FOR EACH ROW WHEN (((new.cancel_on IS NOT NULL) AND ((old.status = ANY (ARRAY['success'::text, 'failed'::text])) <> (new.status = ANY (ARRAY['success'::text, 'failed'::text]))))) EXECUTE FUNCTION note_cancel_events();
CREATE TRIGGER runs_continued_child AFTER UPDATE OF status ON public.runs FOR EACH ROW WHEN (((old.status = 'paused'::text) AND (new.status = 'running'::text) AND (new.parent_run_id IS NOT NULL))) EXECUTE FUNCTION notice_continued_child();
CREATE TRIGGER runs_copy_step_code AFTER INSERT ON public.runs FOR EACH ROW WHEN ((new.forked_from IS NOT NULL)) EXECUTE FUNCTION copy_step_code();
CREATE TRIGGER runs_events AFTER INSERT ON public.runs FOR EACH ROW WHEN ((new.graph IS NOT NULL)) EXECUTE FUNCTION note_graph_events();
CREATE TRIGGER runs_leave_place AFTER UPDATE OF status ON public.runs FOR EACH ROW WHEN (((new.limits IS NOT NULL) AND (new.status = ANY (ARRAY['success'::text, 'failed'::text])))) EXECUTE FUNCTION leave_place();
CREATE TRIGGER runs_pause_place AFTER UPDATE OF status ON public.runs FOR EACH ROW WHEN (((new.limits IS NOT NULL) AND (new.status = 'paused'::text) AND (old.status <> 'paused'::text))) EXECUTE FUNCTION pause_place();
CREATE TRIGGER runs_words_ended AFTER UPDATE OF status ON public.runs FOR EACH ROW WHEN (((new.finished_at IS NOT NULL) AND (old.finished_at IS DISTINCT FROM new.finished_at))) EXECUTE FUNCTION run_words_changed();
CREATE TRIGGER runs_words_new AFTER INSERT ON public.runs FOR EACH ROW EXECUTE FUNCTION run_words_changed();

CREATE TABLE schedules (
  id text NOT NULL,
  workspace_id text NOT NULL,
  workflow_id text NOT NULL,
  name text,
  cron text NOT NULL,
  timezone text DEFAULT 'UTC'::text NOT NULL,
  input json DEFAULT '{}'::json NOT NULL,
  enabled boolean DEFAULT true NOT NULL,
  overlap text DEFAULT 'skip'::text NOT NULL,
  effective_from timestamp with time zone DEFAULT date_trunc('second'::text, now()) NOT NULL,
  revision integer DEFAULT 1 NOT NULL,
  told_revision integer DEFAULT 0 NOT NULL,
  told_at timestamp with time zone,
  leased_until timestamp with time zone,
  last_run_at timestamp with time zone,
  last_run_id text,
  last_skip_at timestamp with time zone,
  last_skip_reason text,
  created_by text,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  sync_error text,
  told_rules text,
  editors text[] DEFAULT '{}'::text[] NOT NULL,
  CONSTRAINT schedules_pkey PRIMARY KEY (id),
  CONSTRAINT schedules_workflow_id_fkey FOREIGN KEY (workflow_id) REFERENCES workflows(id) ON DELETE CASCADE,
  CONSTRAINT schedules_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  CONSTRAINT schedules_check CHECK (((last_skip_at IS NULL) = (last_skip_reason IS NULL))),
  CONSTRAINT schedules_overlap_check CHECK ((overlap = ANY (ARRAY['skip'::text, 'allow'::text])))
);

CREATE INDEX schedules_by_workflow ON public.schedules USING btree (workflow_id);
CREATE INDEX schedules_by_workspace ON public.schedules USING btree (workspace_id, created_at DESC, id DESC);
CREATE INDEX schedules_to_tell ON public.schedules USING btree (id) WHERE (told_revision < revision);

CREATE TABLE secrets (
  workspace_id text NOT NULL,
  name text NOT NULL,
  sealed_value text NOT NULL,
  allowed_hosts text[] NOT NULL,
  description text NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  updated_at timestamp with time zone DEFAULT now() NOT NULL,
  last_used_at timestamp with time zone,
  CONSTRAINT secrets_pkey PRIMARY KEY (workspace_id, name),
  CONSTRAINT secrets_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  CONSTRAINT secrets_allowed_hosts_check CHECK (((cardinality(allowed_hosts) >= 1) AND (cardinality(allowed_hosts) <= 20))),
  CONSTRAINT secrets_name_check CHECK ((name ~ '^[A-Z][A-Z0-9_]{0,63}$'::text))
);

CREATE TABLE sign_in_failures (
  subject text NOT NULL,
  failures integer NOT NULL,
  window_ends_at timestamp with time zone NOT NULL,
  CONSTRAINT sign_in_failures_pkey PRIMARY KEY (subject),
  CONSTRAINT sign_in_failures_failures_check CHECK ((failures >= 0))
);

CREATE INDEX sign_in_failures_ended ON public.sign_in_failures USING btree (window_ends_at);

CREATE TABLE slack_messages (
  id text NOT NULL,
  workspace_id text NOT NULL,
  run_id text NOT NULL,
  step_key text NOT NULL,
  round integer NOT NULL,
  opened_at timestamp with time zone NOT NULL,
  team_id text NOT NULL,
  channel text,
  ts text,
  posting_at timestamp with time zone,
  shown bytea,
  is_final boolean DEFAULT false NOT NULL,
  leased_until timestamp with time zone,
  CONSTRAINT slack_messages_pkey PRIMARY KEY (id),
  CONSTRAINT slack_messages_run_id_step_key_round_opened_at_key UNIQUE (run_id, step_key, round, opened_at),
  CONSTRAINT slack_messages_run_id_step_key_round_fkey FOREIGN KEY (run_id, step_key, round) REFERENCES gates(run_id, step_key, round) ON DELETE CASCADE,
  CONSTRAINT slack_messages_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  CONSTRAINT slack_messages_place CHECK (((ts IS NULL) OR (channel IS NOT NULL))),
  CONSTRAINT slack_messages_shown_check CHECK ((length(shown) = 32))
);

CREATE INDEX slack_messages_by_workspace ON public.slack_messages USING btree (workspace_id, channel, ts);

CREATE TABLE slack_people (
  member_id text NOT NULL,
  workspace_id text NOT NULL,
  team_id text,
  user_id text,
  name text,
  confirmed_at timestamp with time zone,
  asked_team_id text,
  asked_user_id text,
  asked_name text,
  asked_at timestamp with time zone,
  CONSTRAINT slack_people_pkey PRIMARY KEY (member_id),
  CONSTRAINT slack_people_member_id_fkey FOREIGN KEY (member_id) REFERENCES members(id) ON DELETE CASCADE,
  CONSTRAINT slack_people_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  CONSTRAINT slack_people_asked CHECK ((num_nulls(asked_team_id, asked_user_id, asked_name, asked_at) = ANY (ARRAY[0, 4]))),
  CONSTRAINT slack_people_confirmed CHECK ((num_nulls(team_id, user_id, name, confirmed_at) = ANY (ARRAY[0, 4])))
);

CREATE INDEX slack_people_by_workspace ON public.slack_people USING btree (workspace_id);

CREATE TABLE slack_requests (
  signature bytea NOT NULL,
  workspace_id text NOT NULL,
  received_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT slack_requests_pkey PRIMARY KEY (signature),
  CONSTRAINT slack_requests_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  CONSTRAINT slack_requests_signature_check CHECK ((length(signature) = 32))
);

CREATE INDEX slack_requests_by_age ON public.slack_requests USING btree (received_at);
CREATE INDEX slack_requests_by_workspace ON public.slack_requests USING btree (workspace_id);

CREATE TABLE step_attempts (
  run_id text NOT NULL,
  step_key text NOT NULL,
  attempt integer NOT NULL,
  started_at timestamp with time zone NOT NULL,
  ended_at timestamp with time zone NOT NULL,
  outcome text NOT NULL,
  error text,
  cost_micros bigint NOT NULL,
  claim text,
  CONSTRAINT step_attempts_pkey PRIMARY KEY (run_id, step_key, attempt),
  CONSTRAINT step_attempts_run_id_fkey FOREIGN KEY (run_id) REFERENCES runs(id) ON DELETE CASCADE,
  CONSTRAINT step_attempts_outcome_check CHECK ((outcome = ANY (ARRAY['failed'::text, 'cancelled'::text, 'interrupted'::text])))
);

CREATE TABLE step_code (
  run_id text NOT NULL,
  step_key text NOT NULL,
  clock timestamp with time zone DEFAULT date_trunc('milliseconds'::text, clock_timestamp()) NOT NULL,
  seed text NOT NULL,
  log text,
  CONSTRAINT step_code_pkey PRIMARY KEY (run_id, step_key),
  CONSTRAINT step_code_run_id_fkey FOREIGN KEY (run_id) REFERENCES runs(id) ON DELETE CASCADE
);

CREATE TABLE steps (
  run_id text NOT NULL,
  step_key text NOT NULL,
  node_id text NOT NULL,
  label text NOT NULL,
  kind text NOT NULL,
  iteration integer[] DEFAULT '{}'::integer[] NOT NULL,
  output_key text,
  status text NOT NULL,
  errors integer DEFAULT 0 NOT NULL,
  forgiven integer DEFAULT 0 NOT NULL,
  attempts integer DEFAULT 1 NOT NULL,
  epoch integer DEFAULT 0 NOT NULL,
  generation integer DEFAULT 0 NOT NULL,
  claim text,
  claim_until timestamp with time zone,
  ordinal bigint DEFAULT 0 NOT NULL,
  event_id bigint,
  queued_at timestamp with time zone,
  started_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  finished_at timestamp with time zone,
  cost_micros bigint DEFAULT 0 NOT NULL,
  model text,
  usage json,
  unpriced boolean DEFAULT false NOT NULL,
  input json,
  output json,
  error text,
  policy json DEFAULT '[]'::json NOT NULL,
  attempt_started_at timestamp with time zone,
  expected_micros bigint,
  expected_unknown boolean DEFAULT false NOT NULL,
  attempt_ended_at timestamp with time zone,
  parent_step_key text,
  turn integer,
  call_index integer,
  call_tool text,
  error_kind text,
  caught boolean DEFAULT false NOT NULL,
  child_paused boolean DEFAULT false NOT NULL,
  reused_from text,
  cost_estimated boolean DEFAULT false NOT NULL,
  handled integer,
  CONSTRAINT steps_pkey PRIMARY KEY (run_id, step_key),
  CONSTRAINT steps_run_id_fkey FOREIGN KEY (run_id) REFERENCES runs(id) ON DELETE CASCADE,
  CONSTRAINT steps_cost_micros_check CHECK ((cost_micros >= 0)),
  CONSTRAINT steps_error_kind_check CHECK ((error_kind = ANY (ARRAY['node'::text, 'timeout'::text, 'policy'::text, 'rejected'::text, 'child'::text, 'connection'::text]))) NOT VALID,
  CONSTRAINT steps_kind_check CHECK ((kind = ANY (ARRAY['agent'::text, 'tool'::text, 'condition'::text, 'loop'::text, 'human_gate'::text, 'merge'::text, 'map'::text, 'workflow'::text, 'wait'::text, 'code'::text]))) NOT VALID,
  CONSTRAINT steps_status_check CHECK ((status = ANY (ARRAY['running'::text, 'success'::text, 'failed'::text, 'paused'::text, 'skipped'::text, 'cancelled'::text, 'unrecorded'::text])))
);

CREATE INDEX steps_unpriced ON public.steps USING btree (run_id) WHERE unpriced;
CREATE TRIGGER steps_keep_attempt AFTER UPDATE ON public.steps FOR EACH ROW WHEN (((new.attempts > old.attempts) AND (old.attempts > 0))) EXECUTE FUNCTION keep_attempt();

CREATE TABLE templates (
  id text NOT NULL,
  workspace_id text NOT NULL,
  name text NOT NULL,
  description text DEFAULT ''::text NOT NULL,
  graph json NOT NULL,
  checks json DEFAULT '[]'::json NOT NULL,
  sample_input json DEFAULT '{}'::json NOT NULL,
  created_by text,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  updated_at timestamp with time zone DEFAULT now() NOT NULL,
  input_schema json,
  limits json,
  CONSTRAINT templates_pkey PRIMARY KEY (id),
  CONSTRAINT templates_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  CONSTRAINT templates_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200)))
);

CREATE INDEX templates_by_workspace ON public.templates USING btree (workspace_id, created_at DESC, id DESC);

CREATE TABLE usage_days (
  workspace_id text NOT NULL,
  day date NOT NULL,
  runs bigint DEFAULT 0 NOT NULL,
  succeeded bigint DEFAULT 0 NOT NULL,
  failed bigint DEFAULT 0 NOT NULL,
  cost_micros bigint DEFAULT 0 NOT NULL,
  evaluated bigint DEFAULT 0 NOT NULL,
  checks_passed bigint DEFAULT 0 NOT NULL,
  checks_total bigint DEFAULT 0 NOT NULL,
  CONSTRAINT usage_days_pkey PRIMARY KEY (workspace_id, day),
  CONSTRAINT usage_days_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

CREATE TABLE usage_deltas (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  workspace_id text NOT NULL,
  day date NOT NULL,
  runs integer DEFAULT 0 NOT NULL,
  succeeded integer DEFAULT 0 NOT NULL,
  failed integer DEFAULT 0 NOT NULL,
  cost_micros bigint DEFAULT 0 NOT NULL,
  evaluated integer DEFAULT 0 NOT NULL,
  checks_passed integer DEFAULT 0 NOT NULL,
  checks_total integer DEFAULT 0 NOT NULL,
  member_id text,
  CONSTRAINT usage_deltas_pkey PRIMARY KEY (id)
);

CREATE INDEX usage_deltas_by_workspace ON public.usage_deltas USING btree (workspace_id);

CREATE TABLE webhook_events (
  workflow_id text NOT NULL,
  event_id text NOT NULL,
  run_id text NOT NULL,
  received_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT webhook_events_pkey PRIMARY KEY (workflow_id, event_id),
  CONSTRAINT webhook_events_workflow_id_fkey FOREIGN KEY (workflow_id) REFERENCES workflows(id) ON DELETE CASCADE
);

CREATE INDEX webhook_events_by_age ON public.webhook_events USING btree (workflow_id, received_at);

CREATE TABLE webhook_signatures (
  workflow_id text NOT NULL,
  signature bytea NOT NULL,
  run_id text,
  signed_at timestamp with time zone NOT NULL,
  sent_event_id text,
  CONSTRAINT webhook_signatures_pkey PRIMARY KEY (workflow_id, signature),
  CONSTRAINT webhook_signatures_workflow_id_fkey FOREIGN KEY (workflow_id) REFERENCES workflows(id) ON DELETE CASCADE
);

CREATE INDEX webhook_signatures_by_age ON public.webhook_signatures USING btree (workflow_id, signed_at);

CREATE TABLE workflow_alerts (
  workflow_id text NOT NULL,
  workspace_id text NOT NULL,
  chat_webhook_sealed text,
  chat_webhook_origin text,
  email text[],
  events text[],
  slack_channel text,
  CONSTRAINT workflow_alerts_pkey PRIMARY KEY (workflow_id),
  CONSTRAINT workflow_alerts_workflow_id_fkey FOREIGN KEY (workflow_id) REFERENCES workflows(id) ON DELETE CASCADE,
  CONSTRAINT workflow_alerts_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace_alerts(workspace_id) ON DELETE CASCADE,
  CONSTRAINT workflow_alerts_chat CHECK (((chat_webhook_sealed IS NULL) = (chat_webhook_origin IS NULL)))
);

CREATE INDEX workflow_alerts_by_workspace ON public.workflow_alerts USING btree (workspace_id);

CREATE TABLE workflow_drafts (
  workflow_id text NOT NULL,
  workspace_id text NOT NULL,
  base_version integer NOT NULL,
  graph json NOT NULL,
  input_schema json,
  revision integer DEFAULT 1 NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  saved_by text,
  saved_by_name text,
  saved_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT workflow_drafts_pkey PRIMARY KEY (workflow_id),
  CONSTRAINT workflow_drafts_workflow_id_fkey FOREIGN KEY (workflow_id) REFERENCES workflows(id) ON DELETE CASCADE,
  CONSTRAINT workflow_drafts_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  CONSTRAINT workflow_drafts_base_version_check CHECK ((base_version >= 1)),
  CONSTRAINT workflow_drafts_revision_check CHECK ((revision >= 1))
);

CREATE TABLE workflow_limits (
  workflow_id text NOT NULL,
  workspace_id text NOT NULL,
  revision integer NOT NULL,
  settings json NOT NULL,
  CONSTRAINT workflow_limits_pkey PRIMARY KEY (workflow_id),
  CONSTRAINT workflow_limits_workflow_id_fkey FOREIGN KEY (workflow_id) REFERENCES workflows(id) ON DELETE CASCADE,
  CONSTRAINT workflow_limits_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

CREATE TABLE workflow_pins (
  workspace_id text NOT NULL,
  workflow_id text NOT NULL,
  member_id text,
  node_id text NOT NULL,
  run_id text NOT NULL,
  step_key text NOT NULL,
  output json NOT NULL,
  pinned_at timestamp with time zone DEFAULT now() NOT NULL,
  edited boolean DEFAULT false NOT NULL,
  CONSTRAINT workflow_pins_one_per_node UNIQUE NULLS NOT DISTINCT (workflow_id, member_id, node_id),
  CONSTRAINT workflow_pins_member_id_fkey FOREIGN KEY (member_id) REFERENCES members(id) ON DELETE CASCADE,
  CONSTRAINT workflow_pins_workflow_id_fkey FOREIGN KEY (workflow_id) REFERENCES workflows(id) ON DELETE CASCADE,
  CONSTRAINT workflow_pins_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

CREATE INDEX workflow_pins_by_member ON public.workflow_pins USING btree (member_id);

CREATE TABLE workflow_tools (
  workflow_id text NOT NULL,
  workspace_id text NOT NULL,
  slug text NOT NULL,
  name text NOT NULL,
  CONSTRAINT workflow_tools_pkey PRIMARY KEY (workflow_id),
  CONSTRAINT workflow_tools_one_per_name UNIQUE (workspace_id, name),
  CONSTRAINT workflow_tools_workflow_id_fkey FOREIGN KEY (workflow_id) REFERENCES workflows(id) ON DELETE CASCADE,
  CONSTRAINT workflow_tools_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

CREATE TABLE workflow_versions (
  workflow_id text NOT NULL,
  version integer NOT NULL,
  graph json NOT NULL,
  created_by text,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  input_schema json,
  created_by_name text,
  note text,
  may_set_secrets boolean DEFAULT false NOT NULL,
  CONSTRAINT workflow_versions_pkey PRIMARY KEY (workflow_id, version),
  CONSTRAINT workflow_versions_workflow_id_fkey FOREIGN KEY (workflow_id) REFERENCES workflows(id) ON DELETE CASCADE
);

CREATE INDEX workflow_versions_by_called ON public.workflow_versions USING gin (called_by_graph(graph));
CREATE TRIGGER workflow_versions_events AFTER INSERT ON public.workflow_versions FOR EACH ROW EXECUTE FUNCTION note_graph_events();

CREATE TABLE workflow_webhooks (
  workflow_id text NOT NULL,
  workspace_id text NOT NULL,
  secret text,
  require_signature boolean DEFAULT false NOT NULL,
  timestamp_tolerance_seconds integer DEFAULT 300 NOT NULL,
  dedup_window_seconds integer DEFAULT 0 NOT NULL,
  event_id_field text DEFAULT 'event_id'::text NOT NULL,
  accept_forms boolean DEFAULT false NOT NULL,
  answer_challenges boolean DEFAULT false NOT NULL,
  event_id_header text,
  event text,
  CONSTRAINT workflow_webhooks_pkey PRIMARY KEY (workflow_id),
  CONSTRAINT workflow_webhooks_workflow_id_fkey FOREIGN KEY (workflow_id) REFERENCES workflows(id) ON DELETE CASCADE,
  CONSTRAINT workflow_webhooks_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  CONSTRAINT workflow_webhooks_dedup_window_seconds_check CHECK ((dedup_window_seconds >= 0)),
  CONSTRAINT workflow_webhooks_secret_check CHECK ((secret ~ '^[0-9a-f]{32}$'::text)),
  CONSTRAINT workflow_webhooks_timestamp_tolerance_seconds_check CHECK ((timestamp_tolerance_seconds > 0))
);

CREATE TABLE workflows (
  id text NOT NULL,
  workspace_id text NOT NULL,
  name text NOT NULL,
  description text DEFAULT ''::text NOT NULL,
  status text DEFAULT 'draft'::text NOT NULL,
  version integer DEFAULT 1 NOT NULL,
  checks json DEFAULT '[]'::json NOT NULL,
  run_cap_micros bigint,
  created_by text,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  updated_at timestamp with time zone DEFAULT now() NOT NULL,
  requires_experiment boolean DEFAULT false NOT NULL,
  overrun text DEFAULT 'none'::text NOT NULL,
  limits_revision integer,
  CONSTRAINT workflows_pkey PRIMARY KEY (id),
  CONSTRAINT workflows_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  CONSTRAINT workflows_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
  CONSTRAINT workflows_overrun_check CHECK ((overrun = ANY (ARRAY['none'::text, 'one_step'::text]))),
  CONSTRAINT workflows_run_cap_micros_check CHECK ((run_cap_micros > 0)),
  CONSTRAINT workflows_status_check CHECK ((status = ANY (ARRAY['draft'::text, 'published'::text]))),
  CONSTRAINT workflows_version_check CHECK ((version > 0))
);

CREATE INDEX workflows_by_workspace ON public.workflows USING btree (workspace_id, created_at DESC, id DESC);

CREATE TABLE workspace_alerts (
  workspace_id text NOT NULL,
  chat_webhook_sealed text,
  chat_webhook_origin text,
  email text[] DEFAULT '{}'::text[] NOT NULL,
  events text[] NOT NULL,
  decide_by_link boolean DEFAULT false NOT NULL,
  link_generation integer DEFAULT 0 NOT NULL,
  updated_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT workspace_alerts_pkey PRIMARY KEY (workspace_id),
  CONSTRAINT workspace_alerts_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  CONSTRAINT workspace_alerts_chat CHECK (((chat_webhook_sealed IS NULL) = (chat_webhook_origin IS NULL)))
);

CREATE TABLE workspace_policies (
  workspace_id text NOT NULL,
  policies json NOT NULL,
  updated_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT workspace_policies_pkey PRIMARY KEY (workspace_id),
  CONSTRAINT workspace_policies_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

CREATE TABLE workspace_prices (
  workspace_id text NOT NULL,
  model text NOT NULL,
  input_usd_per_million numeric(14,6) NOT NULL,
  output_usd_per_million numeric(14,6) NOT NULL,
  cached_input_usd_per_million numeric(14,6),
  CONSTRAINT workspace_prices_pkey PRIMARY KEY (workspace_id, model),
  CONSTRAINT workspace_prices_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  CONSTRAINT workspace_prices_cached_input_usd_per_million_check CHECK ((cached_input_usd_per_million >= (0)::numeric)),
  CONSTRAINT workspace_prices_input_usd_per_million_check CHECK ((input_usd_per_million >= (0)::numeric)),
  CONSTRAINT workspace_prices_output_usd_per_million_check CHECK ((output_usd_per_million >= (0)::numeric))
);

CREATE TABLE workspace_slack (
  workspace_id text NOT NULL,
  connection_id text NOT NULL,
  holder text DEFAULT ''::text NOT NULL,
  team_id text NOT NULL,
  channel text NOT NULL,
  sealed_signing_secret text NOT NULL,
  problem text,
  updated_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT workspace_slack_pkey PRIMARY KEY (workspace_id),
  CONSTRAINT workspace_slack_team UNIQUE (team_id),
  CONSTRAINT workspace_slack_connection_id_holder_fkey FOREIGN KEY (connection_id, holder) REFERENCES connection_tokens(connection_id, holder) ON DELETE CASCADE,
  CONSTRAINT workspace_slack_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  CONSTRAINT workspace_slack_holder_check CHECK ((holder = ''::text))
);

CREATE INDEX workspace_slack_by_connection ON public.workspace_slack USING btree (connection_id, holder);

CREATE TABLE workspaces (
  id text NOT NULL,
  name text NOT NULL,
  plan text DEFAULT 'free'::text NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  policy_revision integer DEFAULT 0 NOT NULL,
  tool_revision integer DEFAULT 0 NOT NULL,
  budget_revision integer DEFAULT 0 NOT NULL,
  CONSTRAINT workspaces_pkey PRIMARY KEY (id),
  CONSTRAINT workspaces_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
  CONSTRAINT workspaces_plan_check CHECK ((plan = ANY (ARRAY['free'::text, 'starter'::text, 'pro'::text, 'enterprise'::text])))
);

CREATE OR REPLACE FUNCTION public.admit_run_1(run text, workspace text, workflow text, trigger text, input json, actor text, actor_name text, version integer, chosen boolean, compared_with integer, tools integer, refusal text, budgeted boolean, least_micros bigint, parent text, parent_step text, parent_execution text, parent_attempt integer, experiment text, schedule text, due timestamp with time zone, job text, replayed_event text, signature bytea, signed_at bigint, event text, event_window_seconds integer, key text, fingerprint text, source text, source_step text, laid json, graph json, rehearsal json, copies json, digests json, audit text, audit_action text, audit_details jsonb, inbound text, inbound_event text, inbound_source text, inbound_headers json, inbound_size integer, inbound_body bytea, run_limits json, max_depth integer, most_pending integer, lease_ms integer, OUT admitted runs, OUT workflow_name text, OUT outbox_id bigint)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
DECLARE
  seen record;
  latest record;
  depth integer := 1;
  skips boolean;
  cap json;
  source_id text;
  waits boolean := false;
BEGIN
  -- A duplicate of an event ends here: it locks nothing, so its commit does not wait for the disk.
  IF event IS NOT NULL AND EXISTS (
    SELECT FROM webhook_events e
    WHERE e.workflow_id = workflow AND e.event_id = event
      AND e.received_at >= now() - event_window_seconds * interval '1 second') THEN
    RETURN;
  END IF;

  -- Until the commit no budget is created and the workflow is not deleted. It must be as the caller has read it.
  PERFORM share_budgets(workspace);
  SELECT w.name INTO workflow_name FROM workflows w WHERE w.id = workflow AND w.workspace_id = workspace FOR KEY SHARE;
  SELECT * INTO seen FROM workflow_now(workflow);
  IF workflow_name IS NULL OR (NOT chosen AND seen.version <> version) OR seen.version <> compared_with
     OR seen.tool_revision <> tools THEN
    RETURN;
  END IF;

  -- The claim. Of two requests with the same claim, the second waits here for the first. If the first commits, the second
  -- gets nothing; if the first is refused, the second gets the claim.
  IF parent IS NOT NULL THEN
    -- The step of a run starts one run. The lock keeps the run above open until the commit: a cancel waits, and then
    -- cancels this run, too. A run that can cost something needs room under the caps of the runs above it.
    SELECT r.depth + 1 INTO depth FROM runs r
    WHERE r.id = parent AND r.workspace_id = workspace AND r.status IN ('pending', 'running', 'paused')
      AND NOT (parent_execution = ANY (r.superseded)) AND NOT r.resuming
    FOR SHARE;
    IF NOT FOUND OR EXISTS (
      SELECT FROM runs r WHERE r.parent_run_id = parent AND r.parent_step_key = parent_step) THEN
      RETURN;
    END IF;
    IF depth > max_depth THEN
      PERFORM refuse('depth', '{}');
    END IF;
    SELECT json_build_object('committed_micros', c.cost_micros, 'limit_micros', c.cap_micros) INTO cap
    FROM capped_spending(parent, '') c
    WHERE least_micros IS NOT NULL AND CASE c.overrun
      WHEN 'one_step' THEN c.cost_micros >= c.cap_micros ELSE c.cost_micros + least_micros > c.cap_micros END
    LIMIT 1;
    IF FOUND THEN
      PERFORM refuse('cap', cap);
    END IF;
  ELSIF experiment IS NOT NULL THEN
    -- An experiment rehearses each of its runs once. The lock keeps it running until the commit, as above.
    PERFORM FROM background_jobs j
    WHERE j.id = experiment AND j.workspace_id = workspace AND j.status = 'running' FOR SHARE;
    IF NOT FOUND OR EXISTS (SELECT FROM runs r WHERE r.experiment_id = experiment AND r.forked_from = source) THEN
      RETURN;
    END IF;
  ELSIF schedule IS NOT NULL THEN
    -- Runs of a schedule are admitted one at a time.
    UPDATE schedules s SET last_run_id = run, last_run_at = now()
    WHERE s.id = schedule AND s.workspace_id = workspace AND s.workflow_id = workflow
    RETURNING s.overlap = 'skip' INTO skips;
    IF NOT FOUND THEN
      RETURN;
    END IF;
    IF skips AND EXISTS (
      SELECT FROM runs r WHERE r.schedule_id = schedule AND r.status IN ('pending', 'running', 'paused')) THEN
      PERFORM refuse('overlap', '{}');
    END IF;
  ELSIF job IS NOT NULL THEN
    -- A job replays each of its events once. The lock keeps it running until the commit: no run starts after a cancel.
    PERFORM FROM background_jobs j
    WHERE j.id = job AND j.workspace_id = workspace AND j.status = 'running' FOR SHARE;
    IF NOT FOUND OR EXISTS (
      SELECT FROM inbound_event_replays p WHERE p.job_id = job AND p.event_id = replayed_event) THEN
      RETURN;
    END IF;
    IF event IS NOT NULL AND NOT claim_event_1(workflow, event, event_window_seconds, run) THEN
      RETURN;
    END IF;
  ELSIF signature IS NOT NULL THEN
    -- Always the signature before the event, to avoid deadlocks.
    INSERT INTO webhook_signatures (workflow_id, signature, run_id, signed_at)
    VALUES (workflow, signature, run, to_timestamp(signed_at)) ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
      RETURN;
    END IF;
    IF event IS NOT NULL AND NOT claim_event_1(workflow, event, event_window_seconds, run) THEN
      PERFORM refuse('event', '{}');
    END IF;
  ELSIF event IS NOT NULL THEN
    IF NOT claim_event_1(workflow, event, event_window_seconds, run) THEN
      RETURN;
    END IF;
  ELSIF key IS NOT NULL THEN
    INSERT INTO idempotency_keys (workspace_id, workflow_id, key, fingerprint, run_id)
    VALUES (workspace, workflow, key, decode(fingerprint, 'hex'), run) ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
      RETURN;
    END IF;
  END IF;

  -- The monthly quota, which a rehearsal does not use, and the budgets.
  IF rehearsal IS NULL THEN
    PERFORM count_run_1(workspace, seen.plan, (run_limits ->> seen.plan)::bigint);
  END IF;
  IF budgeted THEN
    PERFORM place_holds_1(run, 0, 0, workspace, workflow, parent, false);
  END IF;

  -- Nothing waits from here on, except for deletions. What was read before the waits must still be so.
  SELECT * INTO latest FROM workflow_now(workflow);
  IF latest IS DISTINCT FROM seen THEN
    PERFORM refuse('changed', '{}');
  END IF;
  IF refusal IS NOT NULL THEN
    PERFORM refuse(refusal, '{}');
  END IF;

  -- The run.
  IF source IS NOT NULL THEN
    SELECT r.id INTO source_id FROM runs r WHERE r.id = source FOR KEY SHARE;
    IF source_id IS NULL AND copies IS NOT NULL THEN
      PERFORM refuse('source', '{}');
    END IF;
  END IF;
  INSERT INTO runs (id, workspace_id, workflow_id, workflow_version, trigger, input, cost_cap_micros, overrun, created_by,
                    created_by_name, schedule_id, due_at, parent_run_id, parent_step_key, parent_attempt, depth,
                    starter_id, starters, forked_from, forked_from_step, laid, graph, rehearsal, experiment_id,
                    inbound_event_id)
  VALUES (run, workspace, workflow, version, trigger, input, seen.run_cap_micros, seen.overrun, actor,
          actor_name, schedule, due, parent, parent_step, coalesce(parent_attempt, 0), depth,
          coalesce(actor, (SELECT s.created_by FROM schedules s WHERE s.id = schedule),
                   (SELECT r.starter_id FROM runs r WHERE r.id = parent)),
          starters_of_1(actor, schedule, parent, source), source_id, source_step, laid, graph, rehearsal, experiment,
          coalesce(inbound, replayed_event))
  RETURNING * INTO admitted;
  admitted.input := NULL; -- It is large, and the caller has it.

  -- What it takes over from the run that it starts from.
  IF copies IS NOT NULL THEN
    PERFORM copy_steps_1(run, source, copies);
  END IF;
  IF digests IS NOT NULL THEN
    INSERT INTO recorded_steps (run_id, step_key, digest) SELECT run, d.key, d.value FROM json_each_text(digests) d;
  END IF;

  -- Its count in the usage, and its entry in the audit log; an experiment has an entry of its own.
  IF rehearsal IS NULL THEN
    INSERT INTO usage_deltas (workspace_id, day, runs) VALUES (workspace, admitted.created_at::date, 1);
  END IF;
  IF experiment IS NULL THEN
    INSERT INTO audit_log (id, workspace_id, action, actor_id, actor_name, target_type, target_id, details)
    VALUES (audit, workspace, audit_action, actor, actor_name, 'workflow', workflow, audit_details);
  END IF;

  -- The outbox entry to start it, leased to the caller. A child waits while enough others before it have not begun.
  IF parent IS NOT NULL THEN
    waits := EXISTS (
      SELECT FROM runs r
      WHERE r.workspace_id = workspace AND r.status = 'pending' AND r.parent_run_id IS NOT NULL
        AND (r.depth > admitted.depth OR r.depth = admitted.depth AND r.id < run)
      OFFSET most_pending - 1 LIMIT 1);
  END IF;
  IF waits THEN
    INSERT INTO outbox (run_id, kind, due_at) VALUES (run, 'start', 'infinity');
  ELSE
    INSERT INTO outbox (run_id, kind, leased_until) VALUES (run, 'start', now() + lease_ms * interval '1 ms')
    RETURNING id INTO outbox_id;
  END IF;

  -- The log of inbound events.
  IF inbound IS NOT NULL THEN
    INSERT INTO inbound_events (id, workflow_id, outcome, status, run_id, event_id, source, headers, size, body)
    VALUES (inbound, workflow, 'run', 201, run, inbound_event, inbound_source, inbound_headers, inbound_size,
            inbound_body);
  ELSIF replayed_event IS NOT NULL THEN
    -- The event may be deleted concurrently.
    INSERT INTO inbound_event_replays (run_id, event_id, job_id)
    SELECT run, e.id, job FROM inbound_events e WHERE e.id = replayed_event FOR KEY SHARE;
  END IF;
END
$function$;

CREATE OR REPLACE FUNCTION public.admit_run_2(run text, workspace text, workflow text, trigger text, input json, actor text, actor_name text, version integer, chosen boolean, compared_with integer, tools integer, limits_revision integer, place json, cancel_on json, refusal text, budgeted boolean, least_micros bigint, parent text, parent_step text, parent_execution text, parent_attempt integer, experiment text, schedule text, due timestamp with time zone, job text, replayed_event text, signature bytea, signed_at bigint, event text, event_window_seconds integer, key text, fingerprint text, source text, source_step text, laid json, graph json, rehearsal json, copies json, digests json, audit text, audit_action text, audit_details jsonb, inbound text, inbound_event text, inbound_source text, inbound_headers json, inbound_size integer, inbound_body bytea, run_limits json, max_depth integer, most_pending integer, lease_ms integer, OUT admitted runs, OUT workflow_name text, OUT outbox_id bigint, OUT joined boolean)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
DECLARE
  seen record;
  latest record;
  depth integer := 1;
  skips boolean;
  cap json;
  source_id text;
  limits_now integer;
  limits json;
  queued boolean := false;
  slots json;
  created timestamptz := now();
  debounce json := place -> 'debounce';
  waits_for_more text;
BEGIN
  joined := false;
  -- A duplicate of an event ends here: it locks nothing, so its commit does not wait for the disk.
  IF event IS NOT NULL AND EXISTS (
    SELECT FROM webhook_events e
    WHERE e.workflow_id = workflow AND e.event_id = event
      AND e.received_at >= now() - event_window_seconds * interval '1 second') THEN
    RETURN;
  END IF;

  -- Until the commit no budget is created and the workflow is not deleted. It must be as the caller has read it.
  PERFORM share_budgets(workspace);
  SELECT w.name, w.limits_revision INTO workflow_name, limits_now
  FROM workflows w WHERE w.id = workflow AND w.workspace_id = workspace FOR KEY SHARE;
  SELECT * INTO seen FROM workflow_now(workflow);
  IF workflow_name IS NULL OR (NOT chosen AND seen.version <> version) OR seen.version <> compared_with
     OR seen.tool_revision <> tools OR (rehearsal IS NULL AND limits_now IS DISTINCT FROM limits_revision) THEN
    RETURN;
  END IF;

  -- The run that waits for further triggers. The claim is for it.
  IF debounce IS NOT NULL THEN
    waits_for_more := debounced_run_1(workflow, debounce ->> 'key');
    joined := waits_for_more IS NOT NULL;
    run := coalesce(waits_for_more, run);
  END IF;

  -- The claim. Of two requests with the same claim, the second waits here for the first. If the first commits, the second
  -- gets nothing; if the first is refused, the second gets the claim.
  IF parent IS NOT NULL THEN
    -- The step of a run starts one run. The lock keeps the run above open until the commit: a cancel waits, and then
    -- cancels this run, too. A run that can cost something needs room under the caps of the runs above it.
    SELECT r.depth + 1 INTO depth FROM runs r
    WHERE r.id = parent AND r.workspace_id = workspace AND r.status IN ('pending', 'running', 'paused')
      AND NOT (parent_execution = ANY (r.superseded)) AND NOT r.resuming
    FOR SHARE;
    IF NOT FOUND OR EXISTS (
      SELECT FROM runs r WHERE r.parent_run_id = parent AND r.parent_step_key = parent_step) THEN
      RETURN;
    END IF;
    IF depth > max_depth THEN
      PERFORM refuse('depth', '{}');
    END IF;
    SELECT json_build_object('committed_micros', c.cost_micros, 'limit_micros', c.cap_micros) INTO cap
    FROM capped_spending(parent, '') c
    WHERE least_micros IS NOT NULL AND CASE c.overrun
      WHEN 'one_step' THEN c.cost_micros >= c.cap_micros ELSE c.cost_micros + least_micros > c.cap_micros END
    LIMIT 1;
    IF FOUND THEN
      PERFORM refuse('cap', cap);
    END IF;
  ELSIF experiment IS NOT NULL THEN
    -- An experiment rehearses each of its runs once. The lock keeps it running until the commit, as above.
    PERFORM FROM background_jobs j
    WHERE j.id = experiment AND j.workspace_id = workspace AND j.status = 'running' FOR SHARE;
    IF NOT FOUND OR EXISTS (SELECT FROM runs r WHERE r.experiment_id = experiment AND r.forked_from = source) THEN
      RETURN;
    END IF;
  ELSIF schedule IS NOT NULL THEN
    -- Runs of a schedule are admitted one at a time.
    UPDATE schedules s SET last_run_id = run, last_run_at = now()
    WHERE s.id = schedule AND s.workspace_id = workspace AND s.workflow_id = workflow
    RETURNING s.overlap = 'skip' INTO skips;
    IF NOT FOUND THEN
      RETURN;
    END IF;
    IF skips AND EXISTS (
      SELECT FROM runs r
      WHERE r.schedule_id = schedule AND r.id <> run AND r.status IN ('pending', 'running', 'paused')) THEN
      PERFORM refuse('overlap', '{}');
    END IF;
  ELSIF job IS NOT NULL THEN
    -- A job replays each of its events once. The lock keeps it running until the commit: no run starts after a cancel.
    PERFORM FROM background_jobs j
    WHERE j.id = job AND j.workspace_id = workspace AND j.status = 'running' FOR SHARE;
    IF NOT FOUND OR EXISTS (
      SELECT FROM inbound_event_replays p WHERE p.job_id = job AND p.event_id = replayed_event) THEN
      RETURN;
    END IF;
    IF event IS NOT NULL AND NOT claim_event_1(workflow, event, event_window_seconds, run) THEN
      RETURN;
    END IF;
  ELSIF signature IS NOT NULL THEN
    -- Always the signature before the event, to avoid deadlocks.
    INSERT INTO webhook_signatures (workflow_id, signature, run_id, signed_at)
    VALUES (workflow, signature, run, to_timestamp(signed_at)) ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
      RETURN;
    END IF;
    IF event IS NOT NULL AND NOT claim_event_1(workflow, event, event_window_seconds, run) THEN
      PERFORM refuse('event', '{}');
    END IF;
  ELSIF event IS NOT NULL THEN
    IF NOT claim_event_1(workflow, event, event_window_seconds, run) THEN
      RETURN;
    END IF;
  ELSIF key IS NOT NULL THEN
    INSERT INTO idempotency_keys (workspace_id, workflow_id, key, fingerprint, run_id)
    VALUES (workspace, workflow, key, decode(fingerprint, 'hex'), run) ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
      RETURN;
    END IF;
  END IF;

  -- The monthly quota, which a rehearsal does not use, and the budgets.
  IF rehearsal IS NULL AND NOT joined THEN
    PERFORM count_run_1(workspace, seen.plan, (run_limits ->> seen.plan)::bigint);
  END IF;
  IF budgeted AND NOT joined THEN
    PERFORM place_holds_1(run, 0, 0, workspace, workflow, parent, false);
  END IF;

  -- The slots of its key.
  IF place IS NOT NULL AND debounce IS NULL THEN
    SELECT l.settings INTO limits FROM workflow_limits l WHERE l.workflow_id = workflow FOR UPDATE;
    slots := limits -> 'concurrency';
    IF place ->> 'key' IS NOT NULL AND NOT slot_free_1(workflow, place ->> 'key', (slots ->> 'limit')::integer) THEN
      IF parent IS NOT NULL AND EXISTS (
        SELECT FROM run_places p
        WHERE p.workflow_id = workflow AND p.key = place ->> 'key' AND p.state = 'holding'
          AND p.run_id IN (SELECT a.id FROM runs_above(parent) AS a)) THEN
        PERFORM refuse('ancestor', json_build_object('limit', slots -> 'limit', 'key', place -> 'key'));
      END IF;
      IF slots ->> 'on_limit' IN ('reject', 'skip') THEN
        PERFORM refuse('full', json_build_object(
          'limit', slots -> 'limit', 'key', place -> 'key', 'on_limit', slots -> 'on_limit'));
      END IF;
    END IF;
  END IF;

  -- The events that cancel it: those that are stored from here on. The run is created after all others.
  IF cancel_on IS NOT NULL THEN
    PERFORM share_event_names(workspace, cancel_on);
    created := clock_timestamp();
  END IF;

  -- Nothing waits from here on, except for deletions. What was read before the waits must still be so.
  SELECT * INTO latest FROM workflow_now(workflow);
  IF latest IS DISTINCT FROM seen THEN
    PERFORM refuse('changed', '{}');
  END IF;
  IF refusal IS NOT NULL THEN
    PERFORM refuse(refusal, '{}');
  END IF;

  -- The run.
  IF joined THEN
    admitted := join_run_1(run, version, input, place, cancel_on, actor, schedule, due, inbound);
  ELSE
    IF source IS NOT NULL THEN
      SELECT r.id INTO source_id FROM runs r WHERE r.id = source FOR KEY SHARE;
      IF source_id IS NULL AND copies IS NOT NULL THEN
        PERFORM refuse('source', '{}');
      END IF;
    END IF;
    INSERT INTO runs (id, workspace_id, workflow_id, workflow_version, trigger, input, cost_cap_micros, overrun, created_by,
                      created_by_name, schedule_id, due_at, parent_run_id, parent_step_key, parent_attempt, depth,
                      starter_id, starters, forked_from, forked_from_step, laid, graph, rehearsal, experiment_id,
                      inbound_event_id, limits, cancel_on, created_at)
    VALUES (run, workspace, workflow, version, trigger, input, seen.run_cap_micros, seen.overrun, actor,
            actor_name, schedule, due, parent, parent_step, coalesce(parent_attempt, 0), depth,
            coalesce(actor, (SELECT s.created_by FROM schedules s WHERE s.id = schedule),
                     (SELECT r.starter_id FROM runs r WHERE r.id = parent)),
            starters_of_1(actor, schedule, parent, source), source_id, source_step, laid, graph, rehearsal, experiment,
            coalesce(inbound, replayed_event), place, cancel_on, created)
    RETURNING * INTO admitted;
  END IF;
  admitted.input := NULL; -- It is large, and the caller has it.

  -- What it takes over from the run that it starts from.
  IF copies IS NOT NULL THEN
    PERFORM copy_steps_1(run, source, copies);
  END IF;
  IF digests IS NOT NULL THEN
    INSERT INTO recorded_steps (run_id, step_key, digest) SELECT run, d.key, d.value FROM json_each_text(digests) d;
  END IF;

  -- Its count in the usage, and its entry in the audit log; an experiment has an entry of its own.
  IF rehearsal IS NULL AND NOT joined THEN
    INSERT INTO usage_deltas (workspace_id, day, runs) VALUES (workspace, admitted.created_at::date, 1);
  END IF;
  IF experiment IS NULL THEN
    INSERT INTO audit_log (id, workspace_id, action, actor_id, actor_name, target_type, target_id, details)
    VALUES (audit, workspace, audit_action, actor, actor_name, 'workflow', workflow,
            audit_details || CASE WHEN joined THEN jsonb_build_object('run_id', run, 'joined', true) ELSE '{}' END);
  END IF;

  -- The outbox entry to start it, leased to the caller. A run without a slot or a token waits in its queue instead. A child waits while
  -- enough others before it have not begun. Under a debounce, it waits for further triggers first.
  IF debounce IS NOT NULL THEN
    queued := true;
    IF NOT joined THEN
      INSERT INTO run_places (run_id, workspace_id, workflow_id, priority, state, kind, debounce_key, due_at, latest_at)
      SELECT run, workspace, workflow, (place ->> 'priority')::integer, 'debounced', 'start', debounce ->> 'key',
             first.at + (debounce ->> 'seconds')::float8 * interval '1 s',
             first.at + (debounce ->> 'max_seconds')::float8 * interval '1 s'
      FROM clock_timestamp() AS first (at);
    END IF;
  ELSIF place IS NOT NULL THEN
    queued := take_place_1(run, limits, 'start', '{}');
  END IF;
  IF NOT queued AND parent IS NOT NULL AND EXISTS (
    SELECT FROM runs r
    WHERE r.workspace_id = workspace AND r.status = 'pending' AND r.parent_run_id IS NOT NULL
      AND (r.depth > admitted.depth OR r.depth = admitted.depth AND r.id < run)
      AND NOT EXISTS (SELECT FROM run_places p WHERE p.run_id = r.id AND p.state = 'waiting')
    OFFSET most_pending - 1 LIMIT 1) THEN
    INSERT INTO outbox (run_id, kind, due_at) VALUES (run, 'start', 'infinity');
  ELSIF NOT queued THEN
    INSERT INTO outbox (run_id, kind, leased_until) VALUES (run, 'start', now() + lease_ms * interval '1 ms')
    RETURNING id INTO outbox_id;
  END IF;

  -- The log of inbound events.
  IF inbound IS NOT NULL THEN
    INSERT INTO inbound_events (id, workflow_id, outcome, status, run_id, event_id, source, headers, size, body)
    VALUES (inbound, workflow, 'run', 201, run, inbound_event, inbound_source, inbound_headers, inbound_size,
            inbound_body);
  ELSIF replayed_event IS NOT NULL THEN
    -- The event may be deleted concurrently.
    INSERT INTO inbound_event_replays (run_id, event_id, job_id)
    SELECT run, e.id, job FROM inbound_events e WHERE e.id = replayed_event FOR KEY SHARE;
  END IF;
END
$function$;

CREATE OR REPLACE FUNCTION public.advance_queue_1(workflow text, slot_key text, token_key text, lease_ms integer, look_ms integer)
 RETURNS SETOF outbox
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_column
DECLARE
  limits json;
  next run_places;
  blocked record;
  message outbox;
  full_keys text[] := '{}';
  late_keys text[] := '{}';
  again timestamptz;
BEGIN
  SELECT l.settings INTO limits FROM workflow_limits l WHERE l.workflow_id = workflow FOR UPDATE;
  IF slot_key IS NOT NULL THEN
    DELETE FROM run_places p
    WHERE p.workflow_id = workflow AND p.key = slot_key AND p.state = 'leaving' AND NOT EXISTS (
      SELECT FROM steps s WHERE s.run_id = p.run_id AND s.claim_until > clock_timestamp());
    UPDATE run_places p SET state = 'away'
    WHERE p.workflow_id = workflow AND p.key = slot_key AND p.state = 'pausing' AND NOT EXISTS (
      SELECT FROM steps s WHERE s.run_id = p.run_id AND s.claim_until > clock_timestamp());
    UPDATE run_places p SET due_at = clock_timestamp() + look_ms * interval '1 ms'
    WHERE p.workflow_id = workflow AND p.key = slot_key AND p.state IN ('leaving', 'pausing');
  END IF;
  LOOP
    IF slot_key IS NOT NULL THEN
      SELECT * INTO next FROM run_places p
      WHERE p.workflow_id = workflow AND p.key = slot_key AND p.state = 'waiting'
        AND NOT (p.rate_key IS NOT NULL AND p.rate_key = ANY (late_keys))
      ORDER BY p.priority DESC, p.seq LIMIT 1;
    ELSE
      SELECT * INTO next FROM run_places p
      WHERE p.workflow_id = workflow AND p.rate_key = token_key AND p.state = 'waiting'
        AND NOT (p.key IS NOT NULL AND p.key = ANY (full_keys))
      ORDER BY p.priority DESC, p.seq LIMIT 1;
    END IF;
    EXIT WHEN NOT FOUND;
    SELECT * INTO blocked FROM place_blocked_1(workflow, limits, next.key, next.rate_key);
    IF blocked.blocked_by = 'concurrency' THEN
      EXIT WHEN slot_key IS NOT NULL;
      full_keys := full_keys || next.key;
      CONTINUE;
    ELSIF blocked.blocked_by = 'rate' THEN
      again := least(again, blocked.due_at);
      UPDATE rate_queues q SET due_at = least(q.due_at, blocked.due_at) WHERE q.workflow_id = workflow AND q.key = next.rate_key;
      EXIT WHEN slot_key IS NULL OR next.rate_key = ANY (late_keys);
      late_keys := late_keys || next.rate_key;
      CONTINUE;
    END IF;
    -- Its end may be about to commit. Then it waits no more.
    PERFORM FROM runs r WHERE r.id = next.run_id FOR NO KEY UPDATE;
    UPDATE run_places p SET state = 'holding', taken_at = clock_timestamp()
    WHERE p.run_id = next.run_id AND p.state = 'waiting';
    CONTINUE WHEN NOT FOUND;
    IF next.key IS NULL THEN
      DELETE FROM run_places p WHERE p.run_id = next.run_id;
    END IF;
    IF next.rate_key IS NOT NULL THEN
      INSERT INTO rate_tokens (workflow_id, key) VALUES (workflow, next.rate_key);
    END IF;
    UPDATE runs r SET
      waiting_ms = r.waiting_ms + (extract(epoch FROM clock_timestamp() - next.queued_at) * 1000)::bigint,
      phase_since = CASE WHEN r.phase_since IS NOT NULL THEN clock_timestamp() END, at_rest = false, updated_at = now()
    WHERE r.id = next.run_id;
    INSERT INTO outbox (run_id, kind, payload, leased_until)
    VALUES (next.run_id, next.kind, next.payload, now() + lease_ms * interval '1 ms') RETURNING * INTO message;
    RETURN NEXT message;
  END LOOP;
  -- The next token. Without one to wait for, a slot of those that wait wakes them.
  IF token_key IS NOT NULL THEN
    DELETE FROM rate_tokens t
    WHERE t.workflow_id = workflow AND t.key = token_key
      AND t.taken_at < clock_timestamp() - (limits -> 'rate' ->> 'per_seconds')::integer * interval '1 second';
    UPDATE rate_queues q SET due_at = coalesce(again, 'infinity') WHERE q.workflow_id = workflow AND q.key = token_key;
    DELETE FROM rate_queues q
    WHERE q.workflow_id = workflow AND q.key = token_key AND NOT EXISTS (
      SELECT FROM run_places p WHERE p.workflow_id = workflow AND p.rate_key = token_key AND p.state = 'waiting');
  END IF;
END
$function$;

CREATE OR REPLACE FUNCTION public.alert_budget_1(budget text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
BEGIN
  WITH passed AS (
    UPDATE budgets b SET alerted_window = b.window_start, alerted_percent = mark.percent
    FROM (VALUES (80), (100)) AS mark (percent)
    WHERE b.id = budget AND b.alerts AND b.window_start >= budget_window_start(b."window", now())
      AND mark.percent = CASE WHEN b.spent_micros >= b.limit_micros THEN 100
                              WHEN b.spent_micros * 100 >= b.limit_micros * 80 THEN 80 END
      AND mark.percent > CASE WHEN b.alerted_window = b.window_start THEN b.alerted_percent ELSE 0 END
    RETURNING b.*
  )
  INSERT INTO outbox (run_id, kind, payload)
  SELECT p.id, 'alert', json_build_object(
           'event', 'budget', 'workspace_id', p.workspace_id, 'budget_id', p.id, 'budget_name', p.name,
           'percent', p.alerted_percent, 'spent_micros', p.spent_micros, 'limit_micros', p.limit_micros, 'window', p."window",
           'window_start', CASE WHEN p."window" <> 'total' THEN to_char(p.window_start AT TIME ZONE 'UTC', 'YYYY-MM-DD') END)
  FROM passed p;
END
$function$;

CREATE OR REPLACE FUNCTION public.alert_spent_budget()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM alert_budget_1(new.id);
  RETURN NULL;
END
$function$;

CREATE OR REPLACE FUNCTION public.announce_end_1(run text, event text, event_type text, most_pending integer, tells_parent boolean)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
DECLARE
  workspace text;
BEGIN
  SELECT r.workspace_id INTO workspace FROM runs r
  WHERE r.id = run AND r.rehearsal IS NULL AND EXISTS (
    SELECT FROM data_endpoints p WHERE p.workspace_id = r.workspace_id AND p.events && ARRAY[event_type]);
  IF FOUND THEN
    PERFORM queue_events_1(workspace, json_build_array(json_build_object(
      'id', event, 'type', event_type, 'data', json_build_object('run', run_of_event_1(run)))), NULL, most_pending);
  END IF;
  IF tells_parent THEN
    INSERT INTO outbox (run_id, kind, payload)
    SELECT r.parent_run_id, 'child', json_build_object('step_key', r.parent_step_key)
    FROM runs r WHERE r.id = run AND r.parent_run_id IS NOT NULL;
  END IF;
END
$function$;

CREATE OR REPLACE FUNCTION public.begin_step_1(run text, workspace text, execution text, control json, observed json, frames json, step text, node text, label text, kind text, iteration integer[], output_key text, queued_at timestamp with time zone, input json, agent_step text, turn integer, call_index integer, call_tool text, verdicts json, revision integer, claim text, claim_ms integer, attempt integer, free boolean, counted boolean, most_micros bigint, done text, output json, error text, error_kind text, errors integer, model text, reused_from text, started json, ended json, OUT outcome text, OUT facts json)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_variable
DECLARE
  held record;
  kept record;
  limits record;
  budgeted boolean := false;
  accepted boolean;
  opened boolean;
  begun record;
  -- The numbers of the last frame before this call, and before the step.
  base bigint;
  own bigint;
  this_moment timestamptz;
BEGIN
  -- The run accepts the work while it is open and no resume has replaced this execution.
  SELECT r.status, r.superseded, r.resuming, r.frame_seq, r.resumed_count INTO held FROM runs r
  WHERE r.id = run AND r.workspace_id = workspace FOR NO KEY UPDATE;
  accepted := held.status IN ('pending', 'running', 'paused') AND NOT (execution = ANY (held.superseded))
              AND NOT held.resuming;
  IF accepted THEN
    -- The policies are those of the verdicts, also after the wait.
    IF revision <> (SELECT w.policy_revision FROM workspaces w WHERE w.id = workspace) THEN
      outcome := 'stale';
      RETURN;
    END IF;

    -- The run runs. Its control steps come first.
    base := held.frame_seq;
    own := base + json_array_length(frames);
    UPDATE runs r SET
      frame_seq = own + num_nonnulls(started, ended),
      waiting_ms = r.waiting_ms + CASE WHEN r.status = 'paused' THEN
        (extract(epoch FROM clock_timestamp() - coalesce(r.phase_since, r.created_at)) * 1000)::bigint ELSE 0 END,
      phase_since = CASE WHEN r.status = 'running' AND r.phase_since IS NOT NULL
                         THEN r.phase_since ELSE clock_timestamp() END,
      started_at = coalesce(r.started_at, clock_timestamp()),
      status = 'running', updated_at = now(), lost_since = NULL, temporal_run_id = execution
    WHERE r.id = run;
    PERFORM write_control_1(run, held.resumed_count, base, control, observed, frames);
  END IF;

  -- The step, as earlier attempts have left it. One that has failed begins again after a resume.
  SELECT s.step_key, s.status, s.epoch, s.attempts, s.errors, s.forgiven, s.error, s.error_kind, s.caught, s.policy INTO kept
  FROM steps s WHERE s.run_id = run AND s.step_key = step;
  IF kept.status = 'success' THEN
    outcome := 'finished';
    facts := json_build_object('output', (SELECT s.output FROM steps s WHERE s.run_id = run AND s.step_key = step));
    RETURN;
  END IF;
  IF accepted AND kept.status = 'failed' AND (kept.caught OR kept.epoch = held.resumed_count) THEN
    outcome := 'failed';
    facts := json_build_object('error', coalesce(kept.error, 'failed'), 'kind', coalesce(kept.error_kind, 'node'),
                               'attempts', greatest(1, kept.errors - kept.forgiven));
    RETURN;
  END IF;
  IF accepted IS NOT TRUE OR kept.status = 'skipped' OR kept.attempts >= attempt
     OR (kept.status = 'cancelled' AND kept.epoch = held.resumed_count) THEN
    outcome := 'refused';
    RETURN;
  END IF;

  -- The caps and the budgets.
  IF revision IS NOT NULL THEN
    limits := run_limits_1(run);
    budgeted := limits.applies;
    IF NOT counted AND limits.stop IS NOT NULL THEN
      outcome := 'blocked';
      facts := limits.stop;
      RETURN;
    END IF;
    IF NOT counted AND NOT free AND limits.reserves THEN
      outcome := 'limited';
      RETURN;
    END IF;
  END IF;

  -- The claim: a new step, or another attempt at it. One that begins and ends at once took no time.
  this_moment := clock_timestamp();
  opened := kept.step_key IS NULL OR kept.epoch < held.resumed_count;
  INSERT INTO steps AS s (
    run_id, step_key, node_id, label, kind, iteration, output_key, ordinal, status, epoch,
    claim, claim_until, queued_at, input, output,
    started_at, finished_at, policy, expected_micros,
    expected_unknown, attempts, parent_step_key, turn, call_index, call_tool,
    error, error_kind, errors, model, reused_from)
  VALUES (
    run, step, node, label, kind, iteration, output_key, own + 1, coalesce(done, 'running'), held.resumed_count,
    claim, this_moment + claim_ms * interval '1 ms', queued_at, input, output,
    this_moment, CASE WHEN done IS NOT NULL THEN this_moment END, verdicts, most_micros,
    counted AND most_micros IS NULL, coalesce(attempt, 1), agent_step, turn, call_index, call_tool,
    error, error_kind, coalesce(errors, 0), model, reused_from)
  ON CONFLICT (run_id, step_key) DO UPDATE SET
    status = excluded.status, epoch = excluded.epoch, claim = excluded.claim, claim_until = excluded.claim_until,
    queued_at = CASE WHEN opened THEN excluded.queued_at ELSE s.queued_at END,
    input = excluded.input, output = excluded.output,
    -- A call that waited for approval has no attempt yet.
    started_at = CASE WHEN opened OR s.attempts = 0 THEN excluded.started_at ELSE s.started_at END,
    attempt_started_at = excluded.started_at, attempt_ended_at = NULL, finished_at = excluded.finished_at,
    -- The verdicts of earlier attempts since the last resume, and the new ones.
    policy = CASE WHEN opened OR s.policy::text = '[]' THEN excluded.policy ELSE (s.policy::jsonb || (
      SELECT coalesce(jsonb_agg(v), '[]') FROM jsonb_array_elements(excluded.policy::jsonb) AS v
      WHERE NOT s.policy::jsonb @> jsonb_build_array(v)))::json END,
    expected_micros = excluded.expected_micros, expected_unknown = excluded.expected_unknown,
    attempts = coalesce(attempt, s.attempts + 1),
    error = excluded.error, error_kind = excluded.error_kind, model = coalesce(excluded.model, s.model),
    -- A resume forgives the errors before it.
    errors = CASE WHEN errors IS NULL THEN s.errors ELSE errors + CASE WHEN opened THEN s.errors ELSE s.forgiven END END,
    forgiven = CASE WHEN opened THEN s.errors ELSE s.forgiven END,
    reused_from = excluded.reused_from
  RETURNING s.errors, s.attempts, s.generation INTO begun;
  outcome := 'begun';
  facts := json_build_object('errors', begun.errors, 'attempts', begun.attempts, 'generation', begun.generation,
                             'epoch', held.resumed_count, 'budgeted', budgeted);

  -- The verdicts that earlier attempts had not.
  IF json_array_length(verdicts) > 0 THEN
    PERFORM record_verdicts_1(run, node, verdicts, CASE WHEN opened THEN '[]' ELSE kept.policy::jsonb END);
  END IF;

  -- The frames.
  INSERT INTO run_frames (run_id, seq, frame)
  SELECT run, own + f.place, f.frame
  FROM (VALUES (1, started, opened), (2, ended, done IS NOT NULL)) AS f (place, frame, moved)
  WHERE f.frame IS NOT NULL AND f.moved ORDER BY f.place;
END
$function$;

CREATE OR REPLACE FUNCTION public.begin_step_2(run text, workspace text, execution text, control json, observed json, frames json, step text, node text, label text, kind text, iteration integer[], output_key text, queued_at timestamp with time zone, input json, agent_step text, turn integer, call_index integer, call_tool text, verdicts json, revision integer, calls json, lease_ms integer, claim text, claim_ms integer, attempt integer, free boolean, counted boolean, most_micros bigint, done text, output json, error text, error_kind text, errors integer, model text, reused_from text, started json, ended json, OUT outcome text, OUT facts json)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_variable
DECLARE
  held record;
  kept record;
  limits record;
  budgeted boolean := false;
  accepted boolean;
  opened boolean;
  begun record;
  slot record;
  -- The numbers of the last frame before this call, and before the step.
  base bigint;
  own bigint;
  this_moment timestamptz;
BEGIN
  -- The run accepts the work while it is open and no resume has replaced this execution.
  SELECT r.status, r.superseded, r.resuming, r.frame_seq, r.resumed_count, r.at_rest, r.limits ->> 'key' AS slot_key
  INTO held FROM runs r
  WHERE r.id = run AND r.workspace_id = workspace FOR NO KEY UPDATE;
  this_moment := clock_timestamp();
  accepted := held.status IN ('pending', 'running', 'paused') AND NOT (execution = ANY (held.superseded))
              AND NOT held.resuming;
  IF accepted THEN
    -- The policies are those of the verdicts, also after the wait.
    IF revision <> (SELECT w.policy_revision FROM workspaces w WHERE w.id = workspace) THEN
      outcome := 'stale';
      RETURN;
    END IF;
    IF held.slot_key IS NOT NULL AND continue_place_1(run) THEN
      outcome := 'no_slot';
      facts := json_build_object('wait_ms', 3600000, 'target', label, 'woken', '[]'::json);
      RETURN;
    END IF;

    -- The run runs. Its control steps come first.
    base := held.frame_seq;
    own := base + json_array_length(frames);
    UPDATE runs r SET
      frame_seq = own + num_nonnulls(started, ended),
      waiting_ms = r.waiting_ms + CASE WHEN r.status = 'paused' OR r.at_rest THEN
        (extract(epoch FROM clock_timestamp() - coalesce(r.phase_since, r.created_at)) * 1000)::bigint ELSE 0 END,
      phase_since = CASE WHEN r.status = 'running' AND NOT r.at_rest AND r.phase_since IS NOT NULL
                         THEN r.phase_since ELSE clock_timestamp() END,
      started_at = coalesce(r.started_at, clock_timestamp()),
      status = 'running', at_rest = false, updated_at = now(), lost_since = NULL, temporal_run_id = execution
    WHERE r.id = run;
    PERFORM write_control_2(run, held.resumed_count, base, control, observed, frames, this_moment);
  END IF;

  -- The step, as earlier attempts have left it. One that has failed begins again after a resume.
  SELECT s.step_key, s.status, s.epoch, s.attempts, s.errors, s.forgiven, s.error, s.error_kind, s.caught, s.policy INTO kept
  FROM steps s WHERE s.run_id = run AND s.step_key = step;
  IF kept.status = 'success' THEN
    outcome := 'finished';
    facts := json_build_object('output', (SELECT s.output FROM steps s WHERE s.run_id = run AND s.step_key = step));
    RETURN;
  END IF;
  IF accepted AND kept.status = 'failed' AND (kept.caught OR kept.epoch = held.resumed_count) THEN
    outcome := 'failed';
    facts := json_build_object('error', coalesce(kept.error, 'failed'), 'kind', coalesce(kept.error_kind, 'node'),
                               'attempts', greatest(1, kept.errors - kept.forgiven));
    RETURN;
  END IF;
  IF accepted IS NOT TRUE OR kept.status = 'skipped' OR kept.attempts >= attempt
     OR (kept.status = 'cancelled' AND kept.epoch = held.resumed_count) THEN
    outcome := 'refused';
    RETURN;
  END IF;

  -- The caps and the budgets.
  IF revision IS NOT NULL THEN
    limits := run_limits_1(run);
    budgeted := limits.applies;
    IF NOT counted AND limits.stop IS NOT NULL THEN
      outcome := 'blocked';
      facts := limits.stop;
      RETURN;
    END IF;
    IF NOT counted AND NOT free AND limits.reserves THEN
      outcome := 'limited';
      RETURN;
    END IF;
  END IF;

  -- The limits of tools and models. A step that waits is not begun, and a paused run stays so.
  IF calls IS NOT NULL THEN
    slot := take_calls_1(run, workspace, step, claim, node, label, calls, true, lease_ms);
    IF NOT slot.taken THEN
      IF held.status = 'paused' OR held.at_rest THEN
        UPDATE runs r SET status = held.status, at_rest = held.at_rest, phase_since = clock_timestamp() WHERE r.id = run;
      END IF;
      outcome := 'no_slot';
      facts := json_build_object('wait_ms', slot.wait_ms, 'target', slot.target, 'woken', slot.woken);
      RETURN;
    END IF;
    queued_at := least(queued_at, slot.since);
    -- It may have waited for the lock of another call.
    this_moment := clock_timestamp();
  END IF;

  -- The claim: a new step, or another attempt at it. One that begins and ends at once took no time.
  opened := kept.step_key IS NULL OR kept.epoch < held.resumed_count;
  INSERT INTO steps AS s (
    run_id, step_key, node_id, label, kind, iteration, output_key, ordinal, status, epoch,
    claim, claim_until, queued_at, input, output,
    started_at, finished_at, policy, expected_micros,
    expected_unknown, attempts, parent_step_key, turn, call_index, call_tool,
    error, error_kind, errors, model, reused_from)
  VALUES (
    run, step, node, label, kind, iteration, output_key, own + 1, coalesce(done, 'running'), held.resumed_count,
    claim, this_moment + claim_ms * interval '1 ms', queued_at, input, output,
    this_moment, CASE WHEN done IS NOT NULL THEN this_moment END, verdicts, most_micros,
    counted AND most_micros IS NULL, coalesce(attempt, 1), agent_step, turn, call_index, call_tool,
    error, error_kind, coalesce(errors, 0), model, reused_from)
  ON CONFLICT (run_id, step_key) DO UPDATE SET
    status = excluded.status, epoch = excluded.epoch, claim = excluded.claim, claim_until = excluded.claim_until,
    queued_at = CASE WHEN opened THEN excluded.queued_at ELSE s.queued_at END,
    input = excluded.input, output = excluded.output,
    -- A call that waited for approval has no attempt yet.
    started_at = CASE WHEN opened OR s.attempts = 0 THEN excluded.started_at ELSE s.started_at END,
    attempt_started_at = excluded.started_at, attempt_ended_at = NULL, finished_at = excluded.finished_at,
    -- The verdicts of earlier attempts since the last resume, and the new ones.
    policy = CASE WHEN opened OR s.policy::text = '[]' THEN excluded.policy ELSE (s.policy::jsonb || (
      SELECT coalesce(jsonb_agg(v), '[]') FROM jsonb_array_elements(excluded.policy::jsonb) AS v
      WHERE NOT s.policy::jsonb @> jsonb_build_array(v)))::json END,
    expected_micros = excluded.expected_micros, expected_unknown = excluded.expected_unknown,
    attempts = coalesce(attempt, s.attempts + 1),
    error = excluded.error, error_kind = excluded.error_kind, model = coalesce(excluded.model, s.model),
    -- A resume forgives the errors before it.
    errors = CASE WHEN errors IS NULL THEN s.errors ELSE errors + CASE WHEN opened THEN s.errors ELSE s.forgiven END END,
    forgiven = CASE WHEN opened THEN s.errors ELSE s.forgiven END,
    reused_from = excluded.reused_from
  RETURNING s.errors, s.attempts, s.generation INTO begun;
  outcome := 'begun';
  facts := json_build_object('errors', begun.errors, 'attempts', begun.attempts, 'generation', begun.generation,
                             'epoch', held.resumed_count, 'budgeted', budgeted);
  IF calls IS NOT NULL THEN
    IF slot.since IS NOT NULL THEN
      facts := (facts::jsonb || jsonb_build_object(
        'waited_ms', (extract(epoch FROM this_moment - slot.since) * 1000)::integer,
        'woken', wake_calls_1(ARRAY[slot.left_scope], lease_ms)))::json;
    END IF;
  END IF;

  -- The verdicts that earlier attempts had not.
  IF json_array_length(verdicts) > 0 THEN
    PERFORM record_verdicts_1(run, node, verdicts, CASE WHEN opened THEN '[]' ELSE kept.policy::jsonb END);
  END IF;

  -- The frames.
  INSERT INTO run_frames (run_id, seq, frame)
  SELECT run, own + f.place, f.frame
  FROM (VALUES (1, started, opened), (2, ended, done IS NOT NULL)) AS f (place, frame, moved)
  WHERE f.frame IS NOT NULL AND f.moved ORDER BY f.place;
END
$function$;

CREATE OR REPLACE FUNCTION public.book_cost_1(run text, cost bigint, OUT status text, OUT frame_seq bigint, OUT resumed_count integer)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
DECLARE
  booked record;
BEGIN
  UPDATE runs r SET cost_micros = r.cost_micros + cost, frame_seq = r.frame_seq + 1, updated_at = now()
  WHERE r.id = run
  RETURNING r.workspace_id, r.created_at, r.created_by, r.cost_micros, r.status, r.frame_seq, r.resumed_count INTO booked;
  status := booked.status;
  frame_seq := booked.frame_seq;
  resumed_count := booked.resumed_count;
  IF status IS NOT NULL AND cost > 0 THEN
    INSERT INTO usage_deltas (workspace_id, day, cost_micros, member_id)
    VALUES (booked.workspace_id, booked.created_at::date, cost, booked.created_by);
    PERFORM charge_holds_1(run, booked.resumed_count, booked.cost_micros, cost);
  END IF;
END
$function$;

CREATE OR REPLACE FUNCTION public.budget_window_start(kind text, at timestamp with time zone)
 RETURNS timestamp with time zone
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN (kind = 'total'::text) THEN '-infinity'::timestamp with time zone ELSE (date_trunc(kind, (at AT TIME ZONE 'UTC'::text)) AT TIME ZONE 'UTC'::text) END;

CREATE OR REPLACE FUNCTION public.budgeted_experiment(run text)
 RETURNS text
 LANGUAGE plpgsql
AS $function$
BEGIN
  RETURN (
    SELECT e.id FROM runs_above(run) a JOIN runs r ON r.id = a.id JOIN experiments e ON e.id = r.experiment_id
    WHERE e.budget_micros IS NOT NULL LIMIT 1);
END
$function$;

CREATE OR REPLACE FUNCTION public.call_room_1(scope text, concurrency integer, per_minute integer, run text, step text, OUT slots integer, OUT tokens integer)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_variable
BEGIN
  IF concurrency IS NOT NULL THEN
    slots := concurrency - (
      SELECT count(*) FROM limited_calls c JOIN steps s ON s.run_id = c.run_id AND s.step_key = c.step_key
      WHERE c.scope = scope AND NOT c.ended AND s.claim = c.claim AND s.claim_until > clock_timestamp()
        AND (c.run_id, c.step_key) <> (run, step));
  END IF;
  IF per_minute IS NOT NULL THEN
    tokens := per_minute - (
      SELECT count(*) FROM limited_calls c
      WHERE c.scope = scope AND c.taken_at > clock_timestamp() - interval '1 minute');
  END IF;
END
$function$;

CREATE OR REPLACE FUNCTION public.called_by_graph(graph json)
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION public.capped_spending(run text, except_step text)
 RETURNS TABLE(cap_micros bigint, cost_micros bigint, pending_micros bigint, pending_unknown boolean, overrun text)
 LANGUAGE plpgsql
 ROWS 1
AS $function$
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
END $function$;

CREATE OR REPLACE FUNCTION public.charge_holds_1(run text, n integer, total bigint, cost bigint)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
DECLARE
  hold budget_holds;
  moved record;
BEGIN
  FOR hold IN
    SELECT * FROM budget_holds h WHERE h.run_id = run AND h.n = charge_holds_1.n ORDER BY h.budget_id
  LOOP
    -- Nobody takes from it while the run is locked, so the budget is not locked while the hold suffices.
    CONTINUE WHEN hold.status = 'open'
      AND (hold.estimate_micros IS NULL OR hold.held_micros >= total - hold.base_micros);
    PERFORM FROM budgets b WHERE b.id = hold.budget_id FOR NO KEY UPDATE;
    UPDATE budget_holds h SET
      held_micros = CASE WHEN h.status = 'open' THEN greatest(h.held_micros, total - h.base_micros) ELSE 0 END,
      spent_micros = CASE WHEN h.status = 'open' THEN h.spent_micros ELSE h.spent_micros + cost END
    WHERE h.budget_id = hold.budget_id AND h.run_id = run AND h.n = hold.n
    RETURNING new.spent_micros - old.spent_micros AS spent, new.held_micros - old.held_micros AS reserved INTO moved;
    PERFORM move_budget_1(hold.budget_id, hold.window_start, moved.spent, moved.reserved);
  END LOOP;
END
$function$;

CREATE OR REPLACE FUNCTION public.claim_event_1(workflow text, event text, window_seconds integer, run text)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
BEGIN
  UPDATE webhook_events e SET run_id = run, received_at = now()
  WHERE e.workflow_id = workflow AND e.event_id = event
    AND e.received_at < now() - window_seconds * interval '1 second';
  IF NOT FOUND THEN
    INSERT INTO webhook_events (workflow_id, event_id, run_id) VALUES (workflow, event, run) ON CONFLICT DO NOTHING;
  END IF;
  RETURN FOUND;
END
$function$;

CREATE OR REPLACE FUNCTION public.close_holds_1(ended text[], new_status text)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
DECLARE
  hold budget_holds;
  cost bigint;
  spent bigint;
  closed integer := 0;
BEGIN
  FOR hold IN
    SELECT * FROM budget_holds h WHERE h.run_id = ANY (ended) AND h.status = 'open' ORDER BY h.budget_id, h.run_id
  LOOP
    PERFORM FROM budgets b WHERE b.id = hold.budget_id FOR NO KEY UPDATE;
    -- A run below, which is closed before, may have given something back.
    SELECT * INTO hold FROM budget_holds h WHERE h.budget_id = hold.budget_id AND h.run_id = hold.run_id AND h.n = hold.n;
    CONTINUE WHEN hold.status IS DISTINCT FROM 'open';
    spent := greatest(0, coalesce((SELECT r.cost_micros FROM runs r WHERE r.id = hold.run_id), 0) - hold.base_micros);
    UPDATE budget_holds h SET status = new_status, closed_at = now(), held_micros = 0, pending_micros = 0,
                              pending_unknown = false, spent_micros = spent
    WHERE h.budget_id = hold.budget_id AND h.run_id = hold.run_id AND h.n = hold.n;
    PERFORM move_budget_1(hold.budget_id, hold.window_start, spent,
                          return_unused_1(hold, hold.estimate_micros - spent) - hold.held_micros);
    closed := closed + 1;
  END LOOP;
  RETURN closed;
END
$function$;

CREATE OR REPLACE FUNCTION public.close_steps_1(run text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
BEGIN
  UPDATE steps s SET status = 'cancelled', finished_at = clock_timestamp()
  WHERE s.run_id = run AND s.status IN ('running', 'paused');
  UPDATE gates g SET status = 'cancelled' WHERE g.run_id = run AND g.status = 'open';
END
$function$;

CREATE OR REPLACE FUNCTION public.close_steps_2(run text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
DECLARE
  scopes text[];
BEGIN
  UPDATE steps s SET status = 'cancelled', finished_at = clock_timestamp()
  WHERE s.run_id = run AND s.status IN ('running', 'paused');
  -- In order, since what comes from outside also locks several.
  UPDATE run_waits w SET status = 'cancelled' FROM (
    SELECT o.step_key FROM run_waits o WHERE o.run_id = run AND o.status = 'open' ORDER BY o.step_key FOR UPDATE) AS open
  WHERE w.run_id = run AND w.step_key = open.step_key;
  UPDATE gates g SET status = 'cancelled' WHERE g.run_id = run AND g.status = 'open';
  -- A free call may have been kept for one of its steps.
  WITH gone AS (
    DELETE FROM call_waits w WHERE w.run_id = run RETURNING w.scope
  )
  SELECT array_agg(DISTINCT g.scope) INTO scopes FROM gone g;
  IF scopes IS NOT NULL THEN
    PERFORM wake_calls_1(scopes, NULL);
  END IF;
END
$function$;

CREATE OR REPLACE FUNCTION public.committed_1(budget budgets, hold budget_holds, OUT committed bigint, OUT pending bigint, OUT unknown boolean)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
DECLARE
  all_pending bigint;
BEGIN
  SELECT coalesce(sum(h.pending_micros), 0),
         coalesce(sum(h.pending_micros) FILTER (WHERE h.run_id <> hold.run_id), 0),
         coalesce(bool_or(h.pending_unknown) FILTER (WHERE h.run_id <> hold.run_id), false)
  INTO all_pending, pending, unknown
  FROM budget_holds h
  WHERE h.budget_id = budget.id AND (h.pending_micros > 0 OR h.pending_unknown) AND h.status = 'open'
    AND h.window_start = hold.window_start;
  IF budget.window_start <> hold.window_start THEN
    -- The window has passed; only its ledger rows are left.
    SELECT coalesce(sum(h.spent_micros + h.held_micros - h.pending_micros), 0) INTO committed
    FROM budget_holds h WHERE h.budget_id = budget.id AND h.window_start = hold.window_start;
  ELSIF hold.estimate_micros IS NULL THEN
    committed := budget.spent_micros;
  ELSE
    committed := budget.spent_micros + budget.reserved_micros - all_pending;
  END IF;
END
$function$;

CREATE OR REPLACE FUNCTION public.continue_place_1(run text)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
DECLARE
  place run_places;
  limits json;
  waits boolean := true;
BEGIN
  SELECT * INTO place FROM run_places p WHERE p.run_id = run;
  IF place.state = 'waiting' THEN
    RETURN true;
  ELSIF NOT FOUND OR place.state NOT IN ('pausing', 'away') THEN
    RETURN false;
  END IF;
  SELECT l.settings INTO limits FROM workflow_limits l WHERE l.workflow_id = place.workflow_id FOR UPDATE;
  -- Without a claim, its slot is free, and another run may have it.
  UPDATE run_places p SET state = 'holding' WHERE p.run_id = run AND p.state = 'pausing' AND EXISTS (
    SELECT FROM steps s WHERE s.run_id = run AND s.claim_until > clock_timestamp());
  IF FOUND THEN
    waits := false;
  ELSE
    -- Out of the count of its own key.
    UPDATE run_places p SET state = 'away' WHERE p.run_id = run;
    waits := (place_blocked_1(place.workflow_id, limits, place.key, NULL)).blocked_by IS NOT NULL OR EXISTS (
      SELECT FROM (
        SELECT DISTINCT p.rate_key FROM run_places p
        WHERE p.workflow_id = place.workflow_id AND p.key = place.key AND p.state = 'waiting'
          AND (p.priority > place.priority OR p.priority = place.priority AND p.seq < place.seq)) AS before
      WHERE before.rate_key IS NULL
         OR (place_blocked_1(place.workflow_id, limits, NULL, before.rate_key)).blocked_by IS NULL);
    UPDATE run_places p SET
      state = CASE WHEN waits THEN 'waiting' ELSE 'holding' END, kind = 'continue', payload = '{}', rate_key = NULL,
      queued_at = clock_timestamp(), taken_at = clock_timestamp()
    WHERE p.run_id = run;
  END IF;
  UPDATE runs r SET
    waiting_ms = r.waiting_ms + (extract(epoch FROM clock_timestamp() - coalesce(r.phase_since, r.created_at)) * 1000)::bigint,
    phase_since = clock_timestamp(), status = 'running', at_rest = waits, updated_at = now(), lost_since = NULL
  WHERE r.id = run AND r.status = 'paused';
  RETURN waits;
END
$function$;

CREATE OR REPLACE FUNCTION public.copy_step_code()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO step_code (run_id, step_key, clock, seed)
  SELECT NEW.id, c.step_key, c.clock, c.seed FROM step_code c WHERE c.run_id = NEW.forked_from;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.copy_steps_1(run text, source text, copies json)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
DECLARE
  kept text[] := ARRAY(SELECT json_array_elements_text(copies -> 'kept'));
  arrived integer;
BEGIN
  -- One statement, since the source may continue: steps and gates belong together.
  WITH source_steps AS (
    SELECT s.*, row_number() OVER (ORDER BY s.ordinal, s.started_at, s.step_key) AS n, count(*) OVER () AS copies,
           row_number() OVER (ORDER BY s.finished_at, s.ordinal, s.step_key) * interval '1 microsecond' AS later
    FROM steps s LEFT JOIN json_to_recordset(copies -> 'agents') AS p (agent text, before int, whole boolean)
      ON p.agent = s.parent_step_key
    WHERE s.run_id = source AND (
      (s.parent_step_key IS NULL AND s.step_key = ANY (kept) AND (s.status = 'success' OR s.caught))
      OR (p.agent IS NOT NULL AND (p.before IS NULL OR s.turn < p.before)
          AND (s.status = 'success' OR (p.whole AND s.status = 'failed' AND s.call_index IS NOT NULL))))
  ), copied AS (
    INSERT INTO steps (run_id, step_key, node_id, label, kind, iteration, output_key, status, errors, forgiven, model,
                       input, output, error, policy, parent_step_key, turn, call_index, call_tool, error_kind, caught,
                       reused_from, ordinal, attempts, started_at, finished_at)
    SELECT run, s.step_key, s.node_id, s.label, s.kind, s.iteration, s.output_key, s.status, s.errors, s.forgiven, s.model,
           s.input, s.output, s.error, s.policy, s.parent_step_key, s.turn, s.call_index, s.call_tool, s.error_kind, s.caught,
           coalesce(s.reused_from, source), s.n - s.copies, least(s.attempts, 1), now() + s.later, now() + s.later
    FROM source_steps s
    RETURNING steps.step_key, steps.parent_step_key
  ), copied_gates AS (
    INSERT INTO gates (run_id, reused_from, step_key, round, node_id, label, prompt, fails_on_reject, status, input,
                       opened_at, decided_at, decided_by, decided_by_name, decided_by_kind, reason, kind, tool, turn,
                       arguments, schema_digest, tool_digest, digest, decided_arguments, decided_digest, settings,
                       decisions, timed_out)
    SELECT run, coalesce(g.reused_from, source), g.step_key, g.round, g.node_id, g.label, g.prompt, g.fails_on_reject,
           g.status, g.input, g.opened_at, g.decided_at, g.decided_by, g.decided_by_name, g.decided_by_kind, g.reason,
           g.kind, g.tool, g.turn, g.arguments, g.schema_digest, g.tool_digest, g.digest, g.decided_arguments,
           g.decided_digest, g.settings, g.decisions, g.timed_out
    FROM gates g
    WHERE g.run_id = source AND g.status IN ('approved', 'rejected') AND g.step_key IN (SELECT c.step_key FROM copied c)
  )
  SELECT count(*) INTO arrived FROM copied c WHERE c.parent_step_key IS NULL;
  IF arrived <> cardinality(kept) THEN
    PERFORM refuse('source', '{}');
  END IF;
END
$function$;

CREATE OR REPLACE FUNCTION public.count_run_1(workspace text, plan text, run_limit bigint)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
DECLARE
  this_month date := date_trunc('month', now() AT TIME ZONE 'UTC')::date;
  -- Counted while the plan was unlimited, and all that is visible without a lock.
  unlimited bigint;
  seen bigint;
BEGIN
  IF run_limit IS NULL THEN
    INSERT INTO run_counters AS c (workspace_id, month, shard, runs)
    VALUES (workspace, this_month, 1 + floor(random() * 16)::int, 1)
    ON CONFLICT ON CONSTRAINT run_counters_pkey DO UPDATE SET runs = c.runs + 1;
    RETURN;
  END IF;
  SELECT coalesce(sum(c.runs) FILTER (WHERE c.shard > 0), 0), coalesce(sum(c.runs), 0) INTO unlimited, seen
  FROM run_counters c WHERE c.workspace_id = workspace AND c.month = this_month;
  -- First without the lock: a flood of refused triggers must not queue for the row.
  IF seen < run_limit THEN
    INSERT INTO run_counters AS c (workspace_id, month, shard, runs) VALUES (workspace, this_month, 0, 1)
    ON CONFLICT ON CONSTRAINT run_counters_pkey DO UPDATE SET runs = c.runs + 1 WHERE c.runs + unlimited < run_limit;
    IF FOUND THEN
      RETURN;
    END IF;
  END IF;
  PERFORM refuse('quota', json_build_object('limit', run_limit, 'plan', plan, 'used', greatest(run_limit, seen)));
END
$function$;

CREATE OR REPLACE FUNCTION public.data_events_of(graph json)
 RETURNS SETOF text
 LANGUAGE sql
 IMMUTABLE
AS $function$
  SELECT DISTINCT e ->> 'name'
  FROM json_array_elements(CASE WHEN json_typeof(graph -> 'nodes') = 'array' THEN graph -> 'nodes' ELSE '[]' END) AS n
  CROSS JOIN LATERAL (
    SELECT n -> 'event' AS e
    UNION ALL
    SELECT json_array_elements(CASE WHEN json_typeof(n -> 'any') = 'array' THEN n -> 'any' ELSE '[]' END)
  ) AS events
  WHERE n ->> 'kind' = 'wait' AND json_typeof(e) = 'object'
    AND e ->> 'name' ~ '^(entity|intelligence_event|feed|source)[.]'
$function$;

CREATE OR REPLACE FUNCTION public.data_key_now(key text, OUT usable boolean, OUT scopes text[], OUT ip_allowlist text[], OUT request_allowance bigint, OUT credit_allowance bigint, OUT plan text)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
BEGIN
  SELECT k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp()), k.scopes, k.ip_allowlist,
         k.monthly_request_allowance, k.monthly_credit_allowance, s.plan
    INTO usable, scopes, ip_allowlist, request_allowance, credit_allowance, plan
    FROM data_keys k JOIN workspaces s ON s.id = k.workspace_id WHERE k.id = key;
END
$function$;

CREATE OR REPLACE FUNCTION public.debounced_run_1(workflow text, debounce_key text)
 RETURNS text
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_variable
DECLARE
  found_run text;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('debounce/' || workflow || '/' || debounce_key, 0));
  SELECT p.run_id INTO found_run FROM run_places p
  WHERE p.workflow_id = workflow AND p.debounce_key = debounced_run_1.debounce_key AND p.state = 'debounced';
  -- Its start, or its end, may be about to commit.
  PERFORM FROM runs r WHERE r.id = found_run FOR NO KEY UPDATE;
  RETURN (SELECT p.run_id FROM run_places p WHERE p.run_id = found_run AND p.state = 'debounced');
END
$function$;

CREATE OR REPLACE FUNCTION public.end_step_1(run text, step text, claim text, attempt integer, counted boolean, result text, output json, frame json, error text, error_kind text, retryable boolean, max_attempts integer, definite boolean, cost_micros bigint, model text, usage json, unpriced boolean, cost_estimated boolean, OUT known boolean, OUT status text, OUT tries integer)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_variable
DECLARE
  held record;
  kept record;
  open boolean;
BEGIN
  -- The attempt, in the locked run.
  PERFORM FROM runs r WHERE r.id = run FOR NO KEY UPDATE;
  SELECT s.status, s.claim, s.attempts, s.errors, s.forgiven INTO kept FROM steps s WHERE s.run_id = run AND s.step_key = step;
  known := attempt IS NULL OR coalesce(kept.attempts >= attempt, false);
  IF NOT known THEN
    RETURN;
  END IF;

  -- Its cost, however late it comes.
  held := book_cost_1(run, cost_micros);
  IF held.status IS NULL THEN
    known := false;
    RETURN;
  END IF;
  IF kept.claim IS DISTINCT FROM claim OR kept.status NOT IN ('running', 'cancelled') THEN
    -- Another attempt decides. The cost is added to the step, and to the attempt if a later one has replaced it.
    UPDATE steps s SET cost_micros = s.cost_micros + cost_micros, unpriced = s.unpriced OR unpriced,
                       cost_estimated = s.cost_estimated OR cost_estimated
    WHERE s.run_id = run AND s.step_key = step;
    UPDATE step_attempts a SET cost_micros = a.cost_micros + cost_micros
    WHERE a.run_id = run AND a.step_key = step AND a.claim = claim AND cost_micros > 0;
  ELSE
    -- The end of the run cancels the step and leaves the claim, so that the attempt can still store its result.
    open := held.status IN ('pending', 'running', 'paused');
    tries := kept.errors - kept.forgiven + (result = 'failed')::integer;
    status := CASE
      WHEN result = 'failed' AND (NOT retryable OR tries >= max_attempts) THEN 'failed'
      WHEN result NOT IN ('failed', 'released') THEN result
      WHEN open THEN 'running'
      ELSE 'cancelled' END;
    UPDATE steps s SET
      status = status, claim = NULL, claim_until = NULL, output = output,
      cost_micros = s.cost_micros + cost_micros, model = coalesce(model, s.model), usage = coalesce(usage, s.usage),
      unpriced = s.unpriced OR unpriced, cost_estimated = s.cost_estimated OR cost_estimated,
      error = coalesce(error, s.error), error_kind = coalesce(error_kind, s.error_kind),
      errors = s.errors + (result = 'failed')::integer, generation = s.generation + definite::integer,
      finished_at = CASE WHEN status <> 'running' THEN clock_timestamp() END,
      attempt_ended_at = CASE WHEN status = 'running' OR result = 'failed' THEN clock_timestamp() END
    WHERE s.run_id = run AND s.step_key = step;
    IF open AND frame IS NOT NULL AND status IN ('success', 'failed') THEN
      INSERT INTO run_frames (run_id, seq, frame) VALUES (run, held.frame_seq, frame);
    END IF;
  END IF;

  -- Its actual cost instead of the reserved one.
  IF counted THEN
    PERFORM recount_holds_1(run);
  END IF;
END
$function$;

CREATE OR REPLACE FUNCTION public.end_step_2(run text, step text, claim text, attempt integer, counted boolean, limited boolean, lease_ms integer, result text, output json, frame json, error text, error_kind text, retryable boolean, max_attempts integer, definite boolean, cost_micros bigint, model text, usage json, unpriced boolean, cost_estimated boolean, OUT known boolean, OUT status text, OUT tries integer, OUT woken json)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_variable
DECLARE
  held record;
  kept record;
  open boolean;
BEGIN
  -- The attempt, in the locked run.
  PERFORM FROM runs r WHERE r.id = run FOR NO KEY UPDATE;
  SELECT s.status, s.claim, s.attempts, s.errors, s.forgiven INTO kept FROM steps s WHERE s.run_id = run AND s.step_key = step;
  known := attempt IS NULL OR coalesce(kept.attempts >= attempt, false);
  IF NOT known THEN
    RETURN;
  END IF;

  -- Its cost, however late it comes.
  held := book_cost_1(run, cost_micros);
  IF held.status IS NULL THEN
    known := false;
    RETURN;
  END IF;
  IF kept.claim IS DISTINCT FROM claim OR kept.status NOT IN ('running', 'cancelled') THEN
    -- Another attempt decides. The cost is added to the step, and to the attempt if a later one has replaced it.
    UPDATE steps s SET cost_micros = s.cost_micros + cost_micros, unpriced = s.unpriced OR unpriced,
                       cost_estimated = s.cost_estimated OR cost_estimated
    WHERE s.run_id = run AND s.step_key = step;
    UPDATE step_attempts a SET cost_micros = a.cost_micros + cost_micros
    WHERE a.run_id = run AND a.step_key = step AND a.claim = claim AND cost_micros > 0;
  ELSE
    -- The end of the run cancels the step and leaves the claim, so that the attempt can still store its result.
    open := held.status IN ('pending', 'running', 'paused');
    tries := kept.errors - kept.forgiven + (result = 'failed')::integer;
    status := CASE
      WHEN result = 'failed' AND (NOT retryable OR tries >= max_attempts) THEN 'failed'
      WHEN result NOT IN ('failed', 'released') THEN result
      WHEN open THEN 'running'
      ELSE 'cancelled' END;
    UPDATE steps s SET
      status = status, claim = NULL, claim_until = NULL, output = output,
      cost_micros = s.cost_micros + cost_micros, model = coalesce(model, s.model), usage = coalesce(usage, s.usage),
      unpriced = s.unpriced OR unpriced, cost_estimated = s.cost_estimated OR cost_estimated,
      error = coalesce(error, s.error), error_kind = coalesce(error_kind, s.error_kind),
      errors = s.errors + (result = 'failed')::integer, generation = s.generation + definite::integer,
      finished_at = CASE WHEN status <> 'running' THEN clock_timestamp() END,
      attempt_ended_at = CASE WHEN status = 'running' OR result = 'failed' THEN clock_timestamp() END
    WHERE s.run_id = run AND s.step_key = step;
    IF open AND frame IS NOT NULL AND status IN ('success', 'failed') THEN
      INSERT INTO run_frames (run_id, seq, frame) VALUES (run, held.frame_seq, frame);
    END IF;
  END IF;

  -- Its actual cost instead of the reserved one.
  IF counted THEN
    PERFORM recount_holds_1(run);
  END IF;

  -- Its calls. Last, because what waits for them is locked.
  IF limited THEN
    woken := free_calls_1(run, step, claim, lease_ms);
  END IF;
END
$function$;

CREATE OR REPLACE FUNCTION public.experiment_spending(experiment text, except_run text, except_step text)
 RETURNS TABLE(spent_micros bigint, pending_micros bigint, pending_unknown boolean)
 LANGUAGE plpgsql
 ROWS 1
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION public.forget_awaited_events()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  DELETE FROM awaited_events a WHERE a.run_id = NEW.run_id AND a.step_key = NEW.step_key;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.free_calls_1(run text, step text, claim text, lease_ms integer)
 RETURNS json
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_variable
DECLARE
  scopes text[] := ARRAY(
    SELECT c.scope FROM limited_calls c WHERE c.run_id = run AND c.step_key = step AND c.claim = claim AND NOT c.ended
    ORDER BY c.scope COLLATE "C");
  scope text;
BEGIN
  FOREACH scope IN ARRAY scopes LOOP
    PERFORM pg_advisory_xact_lock(hashtextextended(scope, 0));
  END LOOP;
  DELETE FROM limited_calls c WHERE c.run_id = run AND c.step_key = step AND c.claim = claim AND NOT c.rated;
  UPDATE limited_calls c SET ended = true WHERE c.run_id = run AND c.step_key = step AND c.claim = claim;
  RETURN wake_calls_1(scopes, lease_ms);
END
$function$;

CREATE OR REPLACE FUNCTION public.gives_up_slot(run runs)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
AS $function$
BEGIN
  RETURN EXISTS (
      SELECT FROM workflow_limits l
      WHERE l.workflow_id = run.workflow_id AND l.settings -> 'concurrency' ->> 'hold_while_paused' = 'false')
    AND NOT EXISTS (SELECT FROM call_waits w WHERE w.run_id = run.id)
    AND (run.parent_run_id IS NULL OR NOT EXISTS (
      SELECT FROM runs_above(run.parent_run_id) AS a JOIN runs r ON r.id = a.id
      WHERE r.workflow_id = run.workflow_id AND r.limits ->> 'key' = run.limits ->> 'key'));
END $function$;

CREATE OR REPLACE FUNCTION public.grow_hold_1(hold budget_holds, amount bigint)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
DECLARE
  growth bigint;
BEGIN
  UPDATE budget_holds h SET
    estimate_micros = h.estimate_micros + amount,
    held_micros = greatest(h.held_micros, h.estimate_micros + amount),
    pending_micros = greatest(h.held_micros, h.estimate_micros + amount)
                     - greatest(h.held_micros - h.pending_micros, h.estimate_micros + amount)
  WHERE h.budget_id = hold.budget_id AND h.run_id = hold.run_id AND h.n = hold.n AND h.status = 'open'
  RETURNING new.held_micros - old.held_micros INTO growth;
  RETURN coalesce(growth, 0);
END
$function$;

CREATE OR REPLACE FUNCTION public.in_flight_1(run text, except_step text, OUT micros bigint, OUT unknown boolean)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
BEGIN
  SELECT coalesce(sum(s.expected_micros), 0), coalesce(bool_or(s.expected_unknown), false) INTO micros, unknown
  FROM steps s
  WHERE s.run_id = run AND s.step_key <> except_step AND s.status = 'running' AND s.claim_until > clock_timestamp();
END
$function$;

CREATE OR REPLACE FUNCTION public.join_run_1(run text, version integer, input json, place json, cancel_on json, actor text, schedule text, due timestamp with time zone, inbound text, OUT joined runs)
 RETURNS runs
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_variable
BEGIN
  UPDATE runs r SET
    workflow_version = version, input = input, limits = place, cancel_on = cancel_on, updated_at = now(),
    schedule_id = coalesce(r.schedule_id, schedule), inbound_event_id = coalesce(inbound, r.inbound_event_id),
    starters = ARRAY(
      SELECT DISTINCT s FROM unnest(r.starters || starters_of_1(actor, schedule, NULL, NULL)) AS s WHERE s IS NOT NULL ORDER BY 1)
  WHERE r.id = run RETURNING r.* INTO joined;
  UPDATE run_places p SET
    due_at = least(clock_timestamp() + (place -> 'debounce' ->> 'seconds')::float8 * interval '1 s', p.latest_at)
  WHERE p.run_id = run;
  -- See note_cancel_events.
  DELETE FROM awaited_events a WHERE a.run_id = run AND a.step_key IS NULL;
  INSERT INTO awaited_events (run_id, place, workspace_id, name, path, value, match, after_seq)
  SELECT run, e.place, joined.workspace_id, e.entry ->> 'name', e.entry ->> 'path', e.entry ->> 'value', e.entry ->> 'match', n.seq
  FROM json_array_elements(cancel_on -> 'entries') WITH ORDINALITY AS e (entry, place)
  JOIN event_names n ON n.workspace_id = joined.workspace_id AND n.name = e.entry ->> 'name';
  -- The first time of a schedule is on the run that it has triggered. This one starts no second run either.
  IF due IS NOT NULL THEN
    INSERT INTO joined_ticks (schedule_id, due_at, run_id) VALUES (schedule, due, run);
  END IF;
END
$function$;

CREATE OR REPLACE FUNCTION public.keep_attempt()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
END $function$;

CREATE OR REPLACE FUNCTION public.leave_place()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  -- A place that is pausing may be about to become away.
  PERFORM FROM run_places p WHERE p.run_id = NEW.id FOR UPDATE;
  DELETE FROM run_places p WHERE p.run_id = NEW.id AND p.state NOT IN ('holding', 'pausing', 'leaving');
  UPDATE run_places p SET state = 'leaving' WHERE p.run_id = NEW.id AND p.state IN ('holding', 'pausing');
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.lender_of_1(hold budget_holds)
 RETURNS budget_holds
 LANGUAGE plpgsql
AS $function$
DECLARE
  lender budget_holds;
BEGIN
  SELECT h.* INTO lender
  FROM runs_above((SELECT r.parent_run_id FROM runs r WHERE r.id = hold.run_id)) AS a
  JOIN budget_holds h ON h.run_id = a.id
  WHERE h.budget_id = hold.budget_id AND h.window_start = hold.window_start AND h.status = 'open'
    AND h.estimate_micros IS NOT NULL AND NOT h.contained
  ORDER BY a.depth DESC LIMIT 1;
  RETURN lender;
END
$function$;

CREATE OR REPLACE FUNCTION public.lock_budgets_1(run text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM FROM budgets b
  WHERE b.id IN (
    SELECT h.budget_id FROM budget_holds h WHERE h.run_id = run AND h.status = 'open' AND h.estimate_micros IS NOT NULL)
  ORDER BY b.id FOR NO KEY UPDATE;
END
$function$;

CREATE OR REPLACE FUNCTION public.lock_limits_1(run text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM FROM experiments e WHERE e.id = budgeted_experiment(run) FOR NO KEY UPDATE;
  PERFORM FROM runs r
  WHERE r.id = ANY (ARRAY(
    SELECT a.id FROM runs_above(run) AS a
    WHERE a.cap_micros IS NOT NULL OR a.id = run OR EXISTS (
      SELECT FROM budget_holds h WHERE h.run_id = a.id AND h.status = 'open' AND h.estimate_micros IS NOT NULL)))
  ORDER BY r.depth FOR NO KEY UPDATE;
END
$function$;

CREATE OR REPLACE FUNCTION public.move_budget_1(budget text, in_window timestamp with time zone, spent bigint, reserved bigint)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF spent = 0 AND reserved = 0 THEN
    RETURN;
  END IF;
  UPDATE budgets b SET window_start = in_window, spent_micros = spent, reserved_micros = greatest(0, reserved)
  WHERE b.id = budget AND b.window_start < in_window;
  IF NOT FOUND THEN
    UPDATE budgets b SET spent_micros = b.spent_micros + spent, reserved_micros = greatest(0, b.reserved_micros + reserved)
    WHERE b.id = budget AND b.window_start = in_window;
  END IF;
END
$function$;

CREATE OR REPLACE FUNCTION public.note_cancel_events()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF NEW.status IN ('success', 'failed') THEN
    DELETE FROM awaited_events a WHERE a.run_id = NEW.id AND a.step_key IS NULL;
    RETURN NULL;
  END IF;
  PERFORM share_event_names(NEW.workspace_id, NEW.cancel_on);
  INSERT INTO awaited_events (run_id, place, workspace_id, name, path, value, match, after_seq)
  SELECT NEW.id, e.place, NEW.workspace_id, e.entry ->> 'name', e.entry ->> 'path', e.entry ->> 'value', e.entry ->> 'match', n.seq
  FROM json_array_elements(NEW.cancel_on -> 'entries') WITH ORDINALITY AS e (entry, place)
  JOIN event_names n ON n.workspace_id = NEW.workspace_id AND n.name = e.entry ->> 'name';
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.note_graph_events()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF TG_TABLE_NAME = 'runs' THEN
    INSERT INTO graph_events (workspace_id, name, run_id)
    SELECT NEW.workspace_id, e, NEW.id FROM data_events_of(NEW.graph) AS e;
  ELSE
    INSERT INTO graph_events (workspace_id, name, workflow_id, version)
    SELECT w.workspace_id, e, NEW.workflow_id, NEW.version
    FROM workflows w CROSS JOIN data_events_of(NEW.graph) AS e WHERE w.id = NEW.workflow_id;
  END IF;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.note_joined_run()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  UPDATE runs SET joined = true WHERE id = NEW.run_id AND joined IS NULL;
  RETURN NULL;
END
$function$;

CREATE OR REPLACE FUNCTION public.note_policy_revision()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  NEW.revision := policy_revision_now(NEW.workspace_id);
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.notice_continued_child()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO outbox (run_id, kind, payload)
  VALUES (NEW.parent_run_id, 'child', json_build_object('step_key', NEW.parent_step_key));
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.pause_place()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF gives_up_slot(NEW) THEN
    UPDATE run_places p SET state = 'pausing', due_at = '-infinity' WHERE p.run_id = NEW.id AND p.state = 'holding';
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.place_blocked_1(workflow text, limits json, slot_key text, token_key text, OUT blocked_by text, OUT due_at timestamp with time zone)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
DECLARE
  most integer := limits -> 'concurrency' ->> 'limit';
  starts integer := limits -> 'rate' ->> 'limit';
BEGIN
  IF most IS NOT NULL AND slot_key IS NOT NULL AND NOT slot_free_1(workflow, slot_key, most) THEN
    blocked_by := 'concurrency';
  ELSIF starts IS NOT NULL AND token_key IS NOT NULL THEN
    due_at := rate_due_1(workflow, token_key, starts, (limits -> 'rate' ->> 'per_seconds')::integer);
    IF due_at > '-infinity' THEN
      blocked_by := 'rate';
    END IF;
  END IF;
END
$function$;

CREATE OR REPLACE FUNCTION public.place_holds_1(run text, n integer, base_micros bigint, workspace text, workflow text, parent text, exempt boolean)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
DECLARE
  budget budgets;
  room record;
  estimate bigint;
BEGIN
  -- First without a lock: a flood of refused triggers must not queue for the row.
  FOR budget IN
    SELECT * FROM budgets b WHERE b.workspace_id = workspace AND (b.workflow_id IS NULL OR b.workflow_id = workflow)
    ORDER BY b.id
  LOOP
    PERFORM require_room_1(budget, parent, exempt);
  END LOOP;
  IF NOT FOUND THEN
    RETURN;
  END IF;

  FOR budget IN
    SELECT * FROM budgets b WHERE b.workspace_id = workspace AND (b.workflow_id IS NULL OR b.workflow_id = workflow)
    ORDER BY b.id
  LOOP
    IF budget.estimate_micros IS NOT NULL THEN
      -- The estimate comes from the locked row, too: it may have been cleared.
      SELECT * INTO budget FROM budgets b WHERE b.id = budget.id FOR UPDATE;
    ELSE
      SELECT * INTO budget FROM budgets b WHERE b.id = budget.id FOR KEY SHARE;
      -- One that is set just now counts from the next run on.
      budget.estimate_micros := NULL;
    END IF;
    CONTINUE WHEN budget.id IS NULL; -- It was deleted meanwhile.

    room := require_room_1(budget, parent, exempt);
    estimate := CASE WHEN budget.estimate_micros IS NOT NULL AND (exempt OR room.contained) THEN 0
                     ELSE budget.estimate_micros END;
    IF estimate IS NOT NULL THEN
      UPDATE budgets b SET window_start = room.window_start, spent_micros = room.spent,
                           reserved_micros = room.reserved + estimate
      WHERE b.id = budget.id;
    END IF;
    INSERT INTO budget_holds (budget_id, run_id, n, window_start, base_micros, estimate_micros, held_micros, contained)
    VALUES (budget.id, run, n, room.window_start, base_micros, estimate, coalesce(estimate, 0),
            room.contained AND estimate IS NOT NULL);
  END LOOP;
END
$function$;

CREATE OR REPLACE FUNCTION public.policy_revision_now(workspace text)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
BEGIN
  RETURN (SELECT policy_revision FROM workspaces WHERE id = workspace);
END $function$;

CREATE OR REPLACE FUNCTION public.queue_audit_entry()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO audit_unsealed (seq, workspace_id) VALUES (NEW.seq, NEW.workspace_id);
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.queue_events_1(workspace text, events json, endpoint text, most_pending integer, OUT deliveries integer, OUT first_delivery text)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
BEGIN
  WITH happened AS (
    SELECT * FROM ROWS FROM (json_to_recordset(events) AS (id text, type text, is_demo boolean, data json))
      WITH ORDINALITY AS e (id, type, is_demo, data, place)
  ), endpoints AS MATERIALIZED (
    -- Locked, so that a deletion finds what was queued.
    SELECT p.id, p.events, p.is_demo FROM data_endpoints p
    WHERE p.workspace_id = workspace
      AND (p.id = endpoint OR endpoint IS NULL AND p.events && ARRAY(SELECT h.type FROM happened h))
    FOR KEY SHARE
  ), wanted AS MATERIALIZED (
    SELECT h.place, h.id, h.type, h.data, p.id AS endpoint_id,
           row_number() OVER (PARTITION BY h.id ORDER BY p.id) AS n,
           row_number() OVER (PARTITION BY p.id ORDER BY h.place) AS nth
    FROM happened h
    JOIN endpoints p ON endpoint IS NOT NULL
      OR h.type = ANY (p.events) AND (h.is_demo IS NULL OR p.is_demo = h.is_demo)
  ), pending AS MATERIALIZED (
    SELECT p.id AS endpoint_id, (SELECT count(*) FROM (
      SELECT FROM data_deliveries d WHERE d.endpoint_id = p.id AND d.status = 'pending' LIMIT most_pending) AS d) AS number
    FROM endpoints p
  ), queued_events AS (
    INSERT INTO outbound_events (id, workspace_id, type, data)
    SELECT DISTINCT ON (w.place) w.id, workspace, w.type, w.data FROM wanted w ORDER BY w.place
  ), queued AS (
    INSERT INTO data_deliveries (id, workspace_id, endpoint_id, event_id, status, reason, ended_at)
    SELECT 'dlv_' || substr(w.id, 6) || '_' || w.n, workspace, w.endpoint_id, w.id,
           CASE WHEN c.crowded THEN 'dead' ELSE 'pending' END,
           CASE WHEN c.crowded THEN 'More than ' || most_pending || ' deliveries of this endpoint are pending' END,
           CASE WHEN c.crowded THEN now() END
    FROM wanted w JOIN pending p ON p.endpoint_id = w.endpoint_id
    CROSS JOIN LATERAL (SELECT p.number + w.nth > most_pending AS crowded) AS c
    ORDER BY w.place
    RETURNING data_deliveries.id
  )
  SELECT count(*), min(q.id) INTO deliveries, first_delivery FROM queued q;
END
$function$;

CREATE OR REPLACE FUNCTION public.queue_of_1(run text)
 RETURNS json
 LANGUAGE plpgsql
AS $function$
DECLARE
  place run_places;
  limits json;
  for_rate boolean;
  place_in bigint;
  waiting bigint;
BEGIN
  SELECT * INTO place FROM run_places p WHERE p.run_id = run AND p.state IN ('waiting', 'debounced');
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  IF place.state = 'debounced' THEN
    RETURN json_build_object('for', 'debounce', 'key', place.debounce_key, 'position', 1, 'length', 1, 'until', place.due_at);
  END IF;
  SELECT l.settings INTO limits FROM workflow_limits l WHERE l.workflow_id = place.workflow_id;
  for_rate := place.key IS NULL
              OR coalesce((place_blocked_1(place.workflow_id, limits, place.key, place.rate_key)).blocked_by, '') = 'rate';
  IF for_rate THEN
    SELECT 1 + count(*) INTO place_in FROM (
      SELECT FROM run_places p
      WHERE p.workflow_id = place.workflow_id AND p.rate_key = place.rate_key AND p.state = 'waiting'
        AND (p.priority > place.priority OR p.priority = place.priority AND p.seq < place.seq) LIMIT 999) AS b;
    SELECT count(*) INTO waiting FROM (
      SELECT FROM run_places p
      WHERE p.workflow_id = place.workflow_id AND p.rate_key = place.rate_key AND p.state = 'waiting' LIMIT 1000) AS a;
  ELSE
    SELECT 1 + count(*) INTO place_in FROM (
      SELECT FROM run_places p
      WHERE p.workflow_id = place.workflow_id AND p.key = place.key AND p.state = 'waiting'
        AND (p.priority > place.priority OR p.priority = place.priority AND p.seq < place.seq) LIMIT 999) AS b;
    SELECT count(*) INTO waiting FROM (
      SELECT FROM run_places p
      WHERE p.workflow_id = place.workflow_id AND p.key = place.key AND p.state = 'waiting' LIMIT 1000) AS a;
  END IF;
  RETURN json_build_object(
    'for', CASE WHEN for_rate THEN 'rate' ELSE 'concurrency' END,
    'key', coalesce(CASE WHEN for_rate THEN place.rate_key ELSE place.key END, ''),
    'position', place_in, 'length', waiting, 'until', NULL);
END
$function$;

CREATE OR REPLACE FUNCTION public.rate_due_1(workflow text, token_key text, most integer, seconds integer)
 RETURNS timestamp with time zone
 LANGUAGE plpgsql
AS $function$
DECLARE
  oldest timestamptz;
BEGIN
  SELECT t.taken_at INTO oldest FROM rate_tokens t
  WHERE t.workflow_id = workflow AND t.key = token_key AND t.taken_at > clock_timestamp() - seconds * interval '1 second'
  ORDER BY t.taken_at DESC OFFSET most - 1 LIMIT 1;
  RETURN CASE WHEN FOUND THEN oldest + seconds * interval '1 second' ELSE '-infinity' END;
END
$function$;

CREATE OR REPLACE FUNCTION public.reap_holds_1(opened_before timestamp with time zone, most integer)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
DECLARE
  orphans text[];
BEGIN
  orphans := ARRAY(
    SELECT h.run_id FROM budget_holds h LEFT JOIN runs r ON r.id = h.run_id
    WHERE h.status = 'open' AND h.opened_at < opened_before AND (r.id IS NULL OR r.status IN ('success', 'failed'))
    ORDER BY h.opened_at LIMIT most);
  -- A resume opens other holds. It waits for this lock, or was first.
  PERFORM FROM runs r WHERE r.id = ANY (orphans) ORDER BY r.id FOR NO KEY UPDATE;
  orphans := ARRAY(
    SELECT o.id FROM unnest(orphans) AS o (id) LEFT JOIN runs r ON r.id = o.id
    WHERE r.id IS NULL OR r.status IN ('success', 'failed'));
  RETURN close_holds_1(orphans, 'reaped');
END
$function$;

CREATE OR REPLACE FUNCTION public.record_verdicts_1(run text, node text, verdicts json, known jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO governance_events (workspace_id, type, workflow_id, version, run_id, node_id, policy, decision, reason, evidence)
  SELECT r.workspace_id, v.verdict ->> 'type', r.workflow_id, r.workflow_version, r.id, node, v.verdict ->> 'policy',
         v.verdict ->> 'decision', v.verdict ->> 'reason', v.verdict -> 'evidence'
  FROM runs r CROSS JOIN json_array_elements(verdicts) WITH ORDINALITY AS v (verdict, place)
  WHERE r.id = run AND NOT known @> jsonb_build_array(v.verdict)
  ORDER BY v.place;
END
$function$;

CREATE OR REPLACE FUNCTION public.recount_holds_1(run text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
DECLARE
  cost bigint := (SELECT r.cost_micros FROM runs r WHERE r.id = run);
  in_progress record;
  hold budget_holds;
  recounted budget_holds;
BEGIN
  in_progress := in_flight_1(run, '');
  FOR hold IN
    SELECT * FROM budget_holds h WHERE h.run_id = run AND h.status = 'open' AND h.estimate_micros IS NOT NULL
    ORDER BY h.budget_id
  LOOP
    CONTINUE WHEN recounted_1(hold, cost, in_progress.micros, in_progress.unknown) = hold;
    -- A run below may have given something back before the lock.
    PERFORM FROM budgets b WHERE b.id = hold.budget_id FOR NO KEY UPDATE;
    SELECT * INTO hold FROM budget_holds h WHERE h.budget_id = hold.budget_id AND h.run_id = run AND h.n = hold.n;
    recounted := recounted_1(hold, cost, in_progress.micros, in_progress.unknown);
    UPDATE budget_holds h SET
      estimate_micros = recounted.estimate_micros, held_micros = recounted.held_micros,
      pending_micros = recounted.pending_micros, pending_unknown = recounted.pending_unknown
    WHERE h.budget_id = hold.budget_id AND h.run_id = run AND h.n = hold.n;
    PERFORM move_budget_1(hold.budget_id, hold.window_start, 0, recounted.held_micros - hold.held_micros
      + return_unused_1(hold, hold.estimate_micros - recounted.estimate_micros));
  END LOOP;
END
$function$;

CREATE OR REPLACE FUNCTION public.recounted_1(hold budget_holds, cost bigint, in_progress bigint, unknown boolean)
 RETURNS budget_holds
 LANGUAGE plpgsql
AS $function$
DECLARE
  used bigint := cost - hold.base_micros;
BEGIN
  hold.pending_unknown := unknown AND used >= hold.estimate_micros;
  IF hold.contained AND NOT unknown THEN
    hold.estimate_micros := least(hold.estimate_micros, used + in_progress);
  END IF;
  hold.held_micros := greatest(hold.estimate_micros, used + in_progress);
  hold.pending_micros := hold.held_micros - greatest(hold.estimate_micros, used);
  RETURN hold;
END
$function$;

CREATE OR REPLACE FUNCTION public.refuse(reason text, facts json)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
BEGIN
  RAISE EXCEPTION '%', reason USING ERRCODE = 'OW001', DETAIL = facts::text;
END $function$;

CREATE OR REPLACE FUNCTION public.refuse_audit_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF TG_OP = 'DELETE' AND pg_trigger_depth() > 1 THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'the audit log is append-only' USING ERRCODE = 'insufficient_privilege';
END $function$;

CREATE OR REPLACE FUNCTION public.refuse_chain_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    IF pg_trigger_depth() > 1 OR (NEW.workspace_id = OLD.workspace_id AND NEW.head_position > OLD.head_position
        AND NEW.base_position = OLD.base_position AND NEW.base_hash = OLD.base_hash) THEN
      RETURN NEW;
    END IF;
  END IF;
  RAISE EXCEPTION 'the chain of the audit log only grows' USING ERRCODE = 'insufficient_privilege';
END $function$;

CREATE OR REPLACE FUNCTION public.releasable_1(hold budget_holds)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
DECLARE
  top text := CASE WHEN hold.contained THEN (lender_of_1(hold)).run_id ELSE hold.run_id END;
BEGIN
  -- A step without a bound uses up everything, so it leaves the rest of the estimate.
  RETURN (
    SELECT coalesce(sum(least(
      greatest(0, h.estimate_micros - (r.cost_micros - h.base_micros)), CASE WHEN NOT f.unknown THEN f.micros END)), 0)
    FROM (SELECT top AS id UNION ALL SELECT w.id FROM runs_below(top) AS w) AS t
    JOIN runs r ON r.id = t.id AND r.id <> hold.run_id
    JOIN budget_holds h ON h.run_id = r.id AND h.budget_id = hold.budget_id AND h.status = 'open'
      AND h.window_start = hold.window_start AND h.estimate_micros IS NOT NULL AND (h.contained OR h.run_id = top)
    CROSS JOIN LATERAL in_flight_1(r.id, '') AS f);
END
$function$;

CREATE OR REPLACE FUNCTION public.remove_swept_entries()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
END $function$;

CREATE OR REPLACE FUNCTION public.require_room_1(budget budgets, parent text, exempt boolean, OUT window_start timestamp with time zone, OUT spent bigint, OUT reserved bigint, OUT contained boolean)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
DECLARE
  lender_window timestamptz;
  free bigint;
  committed bigint;
  fits boolean;
BEGIN
  -- A clock that is slightly behind does not return to the previous window.
  window_start := greatest(budget.window_start, budget_window_start(budget."window", now()));
  spent := CASE WHEN budget.window_start < window_start THEN 0 ELSE budget.spent_micros END;
  reserved := CASE WHEN budget.window_start < window_start THEN 0 ELSE budget.reserved_micros END;
  contained := false;

  IF parent IS NOT NULL THEN
    -- Nothing uses what is left of its estimate beyond its cost and its steps in progress. An attempt whose worker died
    -- counts only until its claim expires.
    SELECT h.window_start, h.estimate_micros - (r.cost_micros - h.base_micros) - (
             SELECT coalesce(sum(s.expected_micros), 0) FROM steps s
             WHERE s.run_id = r.id AND s.status = 'running' AND s.claim_until > clock_timestamp())
    INTO lender_window, free
    FROM runs_above(parent) a JOIN runs r ON r.id = a.id JOIN budget_holds h ON h.run_id = r.id
    WHERE h.budget_id = budget.id AND h.status = 'open' AND NOT h.contained AND h.estimate_micros IS NOT NULL
    ORDER BY a.depth DESC LIMIT 1;
    contained := coalesce(lender_window = window_start, false);
  END IF;

  committed := CASE WHEN budget.estimate_micros IS NULL THEN spent ELSE spent + reserved END;
  fits := CASE
    WHEN exempt THEN true
    WHEN budget.estimate_micros IS NULL THEN committed < budget.limit_micros
    WHEN contained THEN free > 0 OR committed < budget.limit_micros
    ELSE committed < budget.limit_micros AND committed + budget.estimate_micros <= budget.limit_micros END;
  IF NOT fits THEN
    PERFORM refuse('budget', json_build_object(
      'budget_id', budget.id, 'name', budget.name, 'limit_micros', budget.limit_micros,
      'committed_micros', committed, 'estimate_micros', budget.estimate_micros));
  END IF;
END
$function$;

CREATE OR REPLACE FUNCTION public.return_unused_1(hold budget_holds, unused bigint)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
BEGIN
  RETURN CASE WHEN hold.contained AND unused > 0 THEN grow_hold_1(lender_of_1(hold), unused) ELSE 0 END;
END
$function$;

CREATE OR REPLACE FUNCTION public.run_limits_1(run text, OUT applies boolean, OUT reserves boolean, OUT stop json)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
DECLARE
  has_holds boolean := EXISTS (SELECT FROM budget_holds h WHERE h.run_id = run AND h.status = 'open');
  in_experiment boolean := false;
  own record;
  capped record;
BEGIN
  SELECT r.cost_cap_micros, r.cost_micros, r.parent_run_id, r.experiment_id, r.budget_exempt INTO own
  FROM runs r WHERE r.id = run;
  IF own.experiment_id IS NOT NULL OR own.parent_run_id IS NOT NULL THEN
    in_experiment := budgeted_experiment(run) IS NOT NULL;
  END IF;
  applies := own.cost_cap_micros IS NOT NULL OR has_holds OR in_experiment;
  reserves := own.cost_cap_micros IS NOT NULL OR in_experiment;

  IF own.cost_cap_micros IS NOT NULL OR own.parent_run_id IS NOT NULL THEN
    FOR capped IN SELECT * FROM capped_spending(run, '') LOOP
      reserves := true;
      IF capped.cost_micros > capped.cap_micros
         OR (capped.overrun = 'one_step' AND capped.cost_micros = capped.cap_micros) THEN
        stop := json_build_object('budget_id', NULL, 'name', NULL, 'committed', capped.cost_micros,
                                  'limit_micros', capped.cap_micros);
        RETURN;
      END IF;
    END LOOP;
  END IF;
  IF has_holds THEN
    reserves := reserves OR EXISTS (
      SELECT FROM budget_holds h WHERE h.run_id = run AND h.status = 'open' AND h.estimate_micros IS NOT NULL);
    IF NOT own.budget_exempt THEN
      SELECT json_build_object('budget_id', b.id, 'name', b.name, 'committed', c.committed,
                               'limit_micros', b.limit_micros)
      INTO stop
      FROM budget_holds h JOIN budgets b ON b.id = h.budget_id CROSS JOIN LATERAL committed_1(b, h) AS c
      WHERE h.run_id = run AND h.status = 'open'
        AND (h.estimate_micros IS NULL OR own.cost_micros - h.base_micros > h.estimate_micros)
        AND (c.committed > b.limit_micros
             OR c.committed = b.limit_micros AND (h.estimate_micros IS NULL OR b.overrun = 'one_step'))
      ORDER BY b.id LIMIT 1;
    END IF;
  END IF;
END
$function$;

CREATE OR REPLACE FUNCTION public.run_of_event_1(run text)
 RETURNS json
 LANGUAGE plpgsql
AS $function$
DECLARE
  iso constant text := 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"';
BEGIN
  RETURN (
    SELECT json_build_object(
      'id', r.id, 'workflow_id', r.workflow_id, 'workflow_name', w.name, 'workflow_version', r.workflow_version,
      'status', r.status, 'trigger', r."trigger", 'parent_run_id', r.parent_run_id, 'parent_step_key', r.parent_step_key,
      'error', r.error, 'failure', r.failure, 'cost_usd', trim_scale(r.cost_micros::numeric / 1000000),
      'created_at', to_char(r.created_at AT TIME ZONE 'UTC', iso), 'started_at', to_char(r.started_at AT TIME ZONE 'UTC', iso),
      'finished_at', to_char(r.finished_at AT TIME ZONE 'UTC', iso))
    FROM runs r JOIN workflows w ON w.id = r.workflow_id WHERE r.id = run);
END
$function$;

CREATE OR REPLACE FUNCTION public.run_words_changed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO run_words_due (run_id) VALUES (new.id);
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.run_words_key(workspace text, created timestamp with time zone)
 RETURNS text
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN "left"(md5((workspace || to_char((created AT TIME ZONE 'UTC'::text), 'YYYYMMDD'::text))), 10);

CREATE OR REPLACE FUNCTION public.runs_above(run text)
 RETURNS TABLE(id text, cap_micros bigint, depth integer)
 LANGUAGE plpgsql
 ROWS 1
AS $function$
#variable_conflict use_column
BEGIN
  RETURN QUERY WITH RECURSIVE above AS (
    SELECT r.id, r.parent_run_id, r.cost_cap_micros, r.depth FROM runs r WHERE r.id = run
    UNION ALL
    SELECT r.id, r.parent_run_id, r.cost_cap_micros, r.depth FROM above a JOIN runs r ON r.id = a.parent_run_id
  )
  SELECT a.id, a.cost_cap_micros, a.depth FROM above a;
END
$function$;

CREATE OR REPLACE FUNCTION public.runs_below(run text)
 RETURNS TABLE(id text)
 LANGUAGE plpgsql
 STABLE ROWS 10
AS $function$
BEGIN
  RETURN QUERY WITH RECURSIVE below AS (
    SELECT r.id FROM runs r WHERE r.parent_run_id = run
    UNION ALL
    SELECT r.id FROM below b JOIN runs r ON r.parent_run_id = b.id
  )
  SELECT b.id FROM below b;
END
$function$;

CREATE OR REPLACE FUNCTION public.settle_run_1(run text, execution text, control json, observed json, frames json, last json, output json, state json, outputs json, evals json, scored json, event text, most_pending integer, OUT cost_micros bigint, OUT has_parent boolean)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
DECLARE
  held record;
  base bigint;
BEGIN
  -- The run accepts it while it is open and no resume has replaced this execution.
  SELECT r.status, r.superseded, r.resuming, r.workspace_id, r.workflow_id, r.created_at, r.frame_seq, r.resumed_count,
         r.rehearsal, r.parent_run_id, r.cost_micros, r.active_ms, coalesce(r.phase_since, r.created_at) AS since,
         (extract(epoch FROM r.phase_since) * 1000000)::bigint AS phase_us
  INTO held FROM runs r WHERE r.id = run FOR NO KEY UPDATE;
  IF NOT FOUND OR held.status NOT IN ('pending', 'running', 'paused') OR execution = ANY (held.superseded)
     OR held.resuming THEN
    RETURN;
  END IF;

  -- Its checks were evaluated with the run as it is: a lost attempt may have booked its cost since. Or it has none.
  IF scored IS NULL THEN
    PERFORM FROM workflows w WHERE w.id = held.workflow_id AND w.checks::text = '[]';
    IF NOT FOUND THEN
      RETURN;
    END IF;
  ELSIF (held.status, held.cost_micros, held.active_ms, held.phase_us) IS DISTINCT FROM (
    scored ->> 'status', (scored ->> 'cost_micros')::bigint, (scored ->> 'active_ms')::bigint,
    (scored ->> 'phase_us')::bigint) THEN
    RETURN;
  END IF;

  -- The control steps. What is still open then is cancelled.
  base := held.frame_seq;
  PERFORM write_control_1(run, held.resumed_count, base, control, observed, frames);
  PERFORM close_steps_1(run);

  -- The run and its clocks.
  base := base + json_array_length(frames);
  UPDATE runs r SET
    status = 'success', output = settle_run_1.output, state = whole_state_1(run, settle_run_1.state, outputs),
    evals = settle_run_1.evals, error = NULL, failure = NULL,
    active_ms = coalesce((scored ->> 'duration_ms')::bigint, r.active_ms + CASE WHEN r.status = 'running' THEN
      (extract(epoch FROM clock_timestamp() - held.since) * 1000)::bigint ELSE 0 END),
    waiting_ms = r.waiting_ms + CASE WHEN r.status = 'paused' THEN
      (extract(epoch FROM clock_timestamp() - held.since) * 1000)::bigint ELSE 0 END,
    phase_since = NULL, started_at = coalesce(r.started_at, clock_timestamp()), finished_at = clock_timestamp(),
    updated_at = now(), lost_since = NULL, frame_seq = base + json_array_length(last),
    temporal_run_id = coalesce(nullif(execution, ''), r.temporal_run_id)
  WHERE r.id = run;

  -- Its holds become spent. Rehearsals do not count in the usage.
  PERFORM close_holds_1(ARRAY[run], 'settled');
  IF held.rehearsal IS NULL THEN
    INSERT INTO usage_deltas (workspace_id, day, succeeded, evaluated, checks_passed, checks_total)
    VALUES (held.workspace_id, held.created_at::date, 1, (settle_run_1.evals IS NOT NULL)::integer,
            coalesce((settle_run_1.evals ->> 'passed')::integer, 0),
            coalesce((settle_run_1.evals ->> 'total')::integer, 0));
  END IF;
  INSERT INTO run_frames (run_id, seq, frame)
  SELECT run, base + f.place, f.value FROM json_array_elements(last) WITH ORDINALITY AS f (value, place) ORDER BY f.place;

  PERFORM announce_end_1(run, event, 'run.completed', most_pending, true);
  cost_micros := held.cost_micros;
  has_parent := held.parent_run_id IS NOT NULL;
END
$function$;

CREATE OR REPLACE FUNCTION public.settle_run_2(run text, execution text, control json, observed json, frames json, last json, output json, state json, outputs json, evals json, scored json, event text, most_pending integer, OUT cost_micros bigint, OUT has_parent boolean, OUT has_slot boolean)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
DECLARE
  held record;
  base bigint;
BEGIN
  -- The run accepts it while it is open and no resume has replaced this execution.
  SELECT r.status, r.superseded, r.resuming, r.workspace_id, r.workflow_id, r.created_at, r.frame_seq, r.resumed_count,
         r.rehearsal, r.parent_run_id, r.limits, r.cost_micros, r.active_ms, coalesce(r.phase_since, r.created_at) AS since,
         (extract(epoch FROM r.phase_since) * 1000000)::bigint AS phase_us
  INTO held FROM runs r WHERE r.id = run FOR NO KEY UPDATE;
  IF NOT FOUND OR held.status NOT IN ('pending', 'running', 'paused') OR execution = ANY (held.superseded)
     OR held.resuming THEN
    RETURN;
  END IF;

  -- Its checks were evaluated with the run as it is: a lost attempt may have booked its cost since. Or it has none.
  IF scored IS NULL THEN
    PERFORM FROM workflows w WHERE w.id = held.workflow_id AND w.checks::text = '[]';
    IF NOT FOUND THEN
      RETURN;
    END IF;
  ELSIF (held.status, held.cost_micros, held.active_ms, held.phase_us) IS DISTINCT FROM (
    scored ->> 'status', (scored ->> 'cost_micros')::bigint, (scored ->> 'active_ms')::bigint,
    (scored ->> 'phase_us')::bigint) THEN
    RETURN;
  END IF;

  -- The control steps. What is still open then is cancelled.
  base := held.frame_seq;
  PERFORM write_control_2(run, held.resumed_count, base, control, observed, frames);
  PERFORM close_steps_2(run);

  -- The run and its clocks.
  base := base + json_array_length(frames);
  UPDATE runs r SET
    status = 'success', output = settle_run_2.output, state = whole_state_1(run, settle_run_2.state, outputs),
    evals = settle_run_2.evals, error = NULL, failure = NULL,
    active_ms = coalesce((scored ->> 'duration_ms')::bigint, r.active_ms + CASE WHEN r.status = 'running' AND NOT r.at_rest THEN
      (extract(epoch FROM clock_timestamp() - held.since) * 1000)::bigint ELSE 0 END),
    waiting_ms = r.waiting_ms + CASE WHEN r.status = 'paused' OR r.at_rest THEN
      (extract(epoch FROM clock_timestamp() - held.since) * 1000)::bigint ELSE 0 END,
    phase_since = NULL, at_rest = false, started_at = coalesce(r.started_at, clock_timestamp()), finished_at = clock_timestamp(),
    updated_at = now(), lost_since = NULL, frame_seq = base + json_array_length(last),
    temporal_run_id = coalesce(nullif(execution, ''), r.temporal_run_id)
  WHERE r.id = run;

  -- Its holds become spent. Rehearsals do not count in the usage.
  PERFORM close_holds_1(ARRAY[run], 'settled');
  IF held.rehearsal IS NULL THEN
    INSERT INTO usage_deltas (workspace_id, day, succeeded, evaluated, checks_passed, checks_total)
    VALUES (held.workspace_id, held.created_at::date, 1, (settle_run_2.evals IS NOT NULL)::integer,
            coalesce((settle_run_2.evals ->> 'passed')::integer, 0),
            coalesce((settle_run_2.evals ->> 'total')::integer, 0));
  END IF;
  INSERT INTO run_frames (run_id, seq, frame)
  SELECT run, base + f.place, f.value FROM json_array_elements(last) WITH ORDINALITY AS f (value, place) ORDER BY f.place;

  PERFORM announce_end_1(run, event, 'run.completed', most_pending, true);
  cost_micros := held.cost_micros;
  has_parent := held.parent_run_id IS NOT NULL;
  has_slot := held.limits IS NOT NULL;
END
$function$;

CREATE OR REPLACE FUNCTION public.share_budgets(workspace text)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(4201, hashtext(workspace));
  RETURN (SELECT budget_revision FROM workspaces WHERE id = workspace);
END
$function$;

CREATE OR REPLACE FUNCTION public.share_event_names(workspace text, cancel_on json)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM FROM event_names n
  WHERE n.workspace_id = workspace AND n.name IN (SELECT e ->> 'name' FROM json_array_elements(cancel_on -> 'entries') AS e)
  ORDER BY n.name FOR SHARE;
END $function$;

CREATE OR REPLACE FUNCTION public.slot_free_1(workflow text, slot_key text, most integer)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
BEGIN
  RETURN most > (
    SELECT count(*) FROM run_places p
    WHERE p.workflow_id = workflow AND p.key = slot_key AND (p.state = 'holding' OR p.state IN ('leaving', 'pausing') AND EXISTS (
      SELECT FROM steps s WHERE s.run_id = p.run_id AND s.claim_until > clock_timestamp())));
END
$function$;

CREATE OR REPLACE FUNCTION public.start_debounced_1(run text, due timestamp with time zone, version integer, tools integer, limits_revision integer, place json, refused boolean, lease_ms integer, OUT started boolean, OUT outbox_id bigint)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_variable
DECLARE
  held record;
  latest record;
  limits json;
  queued boolean := false;
BEGIN
  started := false;
  -- Until the commit, neither the version nor the limits change.
  SELECT r.workflow_id, w.limits_revision AS revision INTO held
  FROM runs r JOIN workflows w ON w.id = r.workflow_id WHERE r.id = run FOR SHARE OF w;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  SELECT * INTO latest FROM workflow_now(held.workflow_id);
  IF latest.version <> version OR latest.tool_revision <> tools OR held.revision IS DISTINCT FROM limits_revision THEN
    RETURN;
  END IF;
  SELECT l.settings INTO limits FROM workflow_limits l WHERE l.workflow_id = held.workflow_id FOR UPDATE;
  -- A trigger, a cancel or another process may have been first.
  PERFORM FROM runs r WHERE r.id = run FOR NO KEY UPDATE;
  PERFORM FROM run_places p
  WHERE p.run_id = run AND p.state = 'debounced' AND p.due_at = due AND p.due_at <= clock_timestamp() FOR UPDATE;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  started := true;
  IF refused THEN
    DELETE FROM run_places p WHERE p.run_id = run;
    RETURN;
  END IF;
  UPDATE runs r SET
    workflow_version = version, limits = place, cost_cap_micros = latest.run_cap_micros, overrun = latest.overrun,
    waiting_ms = r.waiting_ms + (extract(epoch FROM clock_timestamp() - r.created_at) * 1000)::bigint, updated_at = now()
  WHERE r.id = run;
  IF place IS NULL THEN
    DELETE FROM run_places p WHERE p.run_id = run;
  ELSE
    queued := take_place_1(run, limits, 'start', '{}');
  END IF;
  IF NOT queued THEN
    INSERT INTO outbox (run_id, kind, leased_until) VALUES (run, 'start', now() + lease_ms * interval '1 ms')
    RETURNING id INTO outbox_id;
  END IF;
END
$function$;

CREATE OR REPLACE FUNCTION public.starters_of_1(actor text, schedule text, parent text, source text)
 RETURNS text[]
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF schedule IS NULL AND parent IS NULL AND source IS NULL THEN
    RETURN array_remove(ARRAY[actor], NULL);
  END IF;
  RETURN ARRAY(
    SELECT DISTINCT started.by FROM (
      SELECT actor AS by
      UNION ALL SELECT unnest(s.created_by || s.editors) FROM schedules s WHERE s.id = schedule
      UNION ALL SELECT unnest(coalesce(r.starters, ARRAY[
        coalesce(r.starter_id, r.created_by, (SELECT s.created_by FROM schedules s WHERE s.id = r.schedule_id))]))
      FROM runs r WHERE r.id IN (parent, source)
    ) AS started WHERE started.by IS NOT NULL ORDER BY 1);
END
$function$;

CREATE OR REPLACE FUNCTION public.step_room_1(run text, step text)
 RETURNS json
 LANGUAGE plpgsql
AS $function$
BEGIN
  RETURN (
    SELECT json_build_object(
      'inFlight', json_build_object('micros', own.micros, 'unknown', own.unknown),
      'experiment', (
        SELECT json_build_object(
          'cost', s.spent_micros, 'cap', e.budget_micros,
          'inFlight', json_build_object('micros', s.pending_micros, 'unknown', s.pending_unknown))
        FROM experiments e CROSS JOIN LATERAL experiment_spending(e.id, run, step) AS s
        WHERE e.id = budgeted_experiment(run)),
      'caps', (
        SELECT coalesce(json_agg(json_build_object(
          'cost', c.cost_micros, 'cap', c.cap_micros, 'oneStep', c.overrun,
          'inFlight', json_build_object('micros', c.pending_micros, 'unknown', c.pending_unknown))), '[]')
        FROM capped_spending(run, step) AS c),
      'budgets', (
        SELECT coalesce(json_agg(json_build_object(
          'budgetId', b.id, 'name', b.name, 'limit', b.limit_micros, 'oneStep', b.overrun,
          'estimate', h.estimate_micros, 'used', r.cost_micros - h.base_micros, 'held', h.held_micros - h.pending_micros,
          'committed', c.committed, 'pending', c.pending, 'pendingUnknown', c.unknown,
          'contained', h.contained, 'releasable', releasable_1(h)) ORDER BY b.id), '[]')
        FROM budget_holds h JOIN budgets b ON b.id = h.budget_id CROSS JOIN LATERAL committed_1(b, h) AS c
        WHERE h.run_id = run AND h.status = 'open' AND NOT r.budget_exempt))
    FROM runs r CROSS JOIN LATERAL in_flight_1(run, step) AS own
    WHERE r.id = run);
END
$function$;

CREATE OR REPLACE FUNCTION public.sweep_audit(workspace_id text, before timestamp with time zone, batch integer)
 RETURNS bigint
 LANGUAGE sql
AS $function$
  WITH swept AS (
    INSERT INTO audit_sweeps (workspace_id, before, batch)
    VALUES (sweep_audit.workspace_id, sweep_audit.before, sweep_audit.batch)
    RETURNING removed
  )
  SELECT coalesce((SELECT removed FROM swept), 0)
$function$;

CREATE OR REPLACE FUNCTION public.take_calls_1(run text, workspace text, step text, claim text, node text, label text, calls json, waits boolean, lease_ms integer, OUT taken boolean, OUT since timestamp with time zone, OUT left_scope text, OUT wait_ms integer, OUT target text, OUT woken json)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_variable
DECLARE
  call record;
  kept call_waits;
  room record;
  ahead integer;
  needed integer;
  due timestamptz;
BEGIN
  taken := true;
  woken := '[]';
  FOR call IN SELECT c.scope FROM json_to_recordset(calls) AS c (scope text) ORDER BY c.scope COLLATE "C" LOOP
    PERFORM pg_advisory_xact_lock(hashtextextended(call.scope, 0));
  END LOOP;
  SELECT w.* INTO kept FROM call_waits w WHERE w.run_id = run AND w.step_key = step FOR UPDATE;
  since := kept.since;
  left_scope := kept.scope;

  FOR call IN
    SELECT * FROM json_to_recordset(calls) AS c (scope text, target text, key text, concurrency integer, per_minute integer)
    ORDER BY c.scope COLLATE "C"
  LOOP
    CONTINUE WHEN EXISTS (
      SELECT FROM limited_calls c WHERE c.run_id = run AND c.step_key = step AND c.claim = claim AND c.scope = call.scope);
    room := call_room_1(call.scope, call.concurrency, call.per_minute, run, step);
    ahead := (
      SELECT count(*) FROM call_waits w
      WHERE w.scope = call.scope AND (w.run_id, w.step_key) <> (run, step) AND (kept.seq IS NULL OR w.seq < kept.seq)
        AND (w.woken_at IS NULL OR w.woken_at > clock_timestamp() - interval '10 s'));
    taken := least(room.slots, room.tokens) > ahead;
    EXIT WHEN NOT taken;
  END LOOP;

  IF taken THEN
    -- An attempt whose worker died no longer has the claim.
    DELETE FROM limited_calls c
    WHERE c.run_id = run AND c.step_key = step AND c.claim <> claim AND NOT c.rated;
    INSERT INTO limited_calls AS n (scope, run_id, step_key, claim, workspace_id, rated)
    SELECT c.scope, run, step, claim, workspace, c.per_minute IS NOT NULL
    FROM json_to_recordset(calls) AS c (scope text, per_minute integer)
    ON CONFLICT DO NOTHING;
    DELETE FROM limited_calls c USING json_to_recordset(calls) AS g (scope text)
    WHERE c.scope = g.scope AND c.taken_at < clock_timestamp() - interval '61 s' AND (c.ended OR NOT EXISTS (
      SELECT FROM steps s WHERE s.run_id = c.run_id AND s.step_key = c.step_key AND s.claim = c.claim
                            AND s.claim_until > clock_timestamp()));
    DELETE FROM call_waits w WHERE w.run_id = run AND w.step_key = step;
    RETURN;
  END IF;

  target := call.target;
  IF NOT waits THEN
    RETURN;
  END IF;
  -- When enough calls of the last minute are older than that; otherwise when enough claims of workers that died have expired. Those
  -- further back in the queue look less often.
  needed := ahead + 1 - room.tokens;
  IF needed > 0 THEN
    due := coalesce((
      SELECT c.taken_at FROM limited_calls c
      WHERE c.scope = call.scope AND c.taken_at > clock_timestamp() - interval '1 minute'
      ORDER BY c.taken_at OFFSET (needed - 1) % call.per_minute LIMIT 1), clock_timestamp())
      + ((needed - 1) / call.per_minute + 1) * interval '1 minute' + interval '5 ms';
  ELSE
    needed := ahead + 1 - room.slots;
    due := coalesce((
      SELECT s.claim_until FROM limited_calls c JOIN steps s ON s.run_id = c.run_id AND s.step_key = c.step_key
      WHERE c.scope = call.scope AND NOT c.ended AND s.claim = c.claim AND s.claim_until > clock_timestamp()
      ORDER BY s.claim_until OFFSET needed - 1 LIMIT 1) + interval '50 ms',
      clock_timestamp() + (1 + (needed - 1) / call.concurrency) * interval '11 s');
  END IF;
  due := least(greatest(due, clock_timestamp() + interval '20 ms'), clock_timestamp() + interval '1 hour');
  wait_ms := ceil(extract(epoch FROM due - clock_timestamp()) * 1000);
  INSERT INTO call_waits AS w (run_id, step_key, workspace_id, node_id, label, scope, target, key, concurrency, per_minute, look_at)
  VALUES (run, step, workspace, node, label, call.scope, call.target, call.key, call.concurrency, call.per_minute, due)
  ON CONFLICT (run_id, step_key) DO UPDATE SET
    scope = excluded.scope, target = excluded.target, key = excluded.key, concurrency = excluded.concurrency,
    per_minute = excluded.per_minute, look_at = excluded.look_at, woken_at = NULL;
  since := coalesce(since, clock_timestamp());
  -- Those before it, if calls are free; and those behind it in the queue that it leaves.
  woken := wake_calls_1(
    ARRAY(SELECT DISTINCT s FROM unnest(ARRAY[call.scope, kept.scope]) AS s WHERE s IS NOT NULL
            AND (s <> call.scope OR coalesce(least(room.slots, room.tokens) > 0, false))), lease_ms);
END
$function$;

CREATE OR REPLACE FUNCTION public.take_place_1(run text, limits json, message text, payload json)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_variable
DECLARE
  place record;
  blocked record;
  waits boolean;
BEGIN
  SELECT r.workspace_id, r.workflow_id, r.limits ->> 'key' AS key, (r.limits ->> 'priority')::integer AS priority,
         CASE WHEN message = 'start' THEN r.limits ->> 'rate_key' END AS rate_key
  INTO place FROM runs r WHERE r.id = run;
  -- Without a claim, its slot is free, and another run may have it.
  UPDATE run_places p SET state = 'holding' WHERE p.run_id = run AND p.state = 'leaving' AND EXISTS (
    SELECT FROM steps s WHERE s.run_id = run AND s.claim_until > clock_timestamp());
  IF FOUND THEN
    RETURN false;
  END IF;
  DELETE FROM run_places p WHERE p.run_id = run;
  SELECT * INTO blocked FROM place_blocked_1(place.workflow_id, limits, place.key, place.rate_key);
  waits := blocked.blocked_by IS NOT NULL OR EXISTS (
    SELECT FROM run_places p
    WHERE p.workflow_id = place.workflow_id AND p.key IS NOT DISTINCT FROM place.key
      AND p.rate_key IS NOT DISTINCT FROM place.rate_key AND p.state = 'waiting' AND p.priority >= place.priority);
  IF waits OR place.key IS NOT NULL THEN
    INSERT INTO run_places (run_id, workspace_id, workflow_id, key, rate_key, priority, state, kind, payload, taken_at)
    VALUES (run, place.workspace_id, place.workflow_id, place.key, place.rate_key, place.priority,
            CASE WHEN waits THEN 'waiting' ELSE 'holding' END, message, payload, CASE WHEN NOT waits THEN clock_timestamp() END);
  END IF;
  IF NOT waits AND place.rate_key IS NOT NULL THEN
    INSERT INTO rate_tokens (workflow_id, key) VALUES (place.workflow_id, place.rate_key);
  ELSIF waits AND place.rate_key IS NOT NULL THEN
    INSERT INTO rate_queues AS q (workspace_id, workflow_id, key, due_at)
    VALUES (place.workspace_id, place.workflow_id, place.rate_key, coalesce(nullif(blocked.due_at, '-infinity'), clock_timestamp()))
    ON CONFLICT (workflow_id, key) DO UPDATE SET due_at = least(q.due_at, excluded.due_at);
  END IF;
  RETURN waits;
END
$function$;

CREATE OR REPLACE FUNCTION public.take_room_1(run text, step text, most_micros bigint)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
DECLARE
  cost bigint;
  in_progress bigint;
  hold budget_holds;
  lender budget_holds;
  free bigint;
  amount bigint;
BEGIN
  SELECT r.cost_micros, f.micros INTO cost, in_progress
  FROM runs r CROSS JOIN LATERAL in_flight_1(run, step) AS f WHERE r.id = run AND NOT r.budget_exempt;
  FOR hold IN
    SELECT * FROM budget_holds h WHERE h.run_id = run AND h.status = 'open' AND h.contained AND cost IS NOT NULL
    ORDER BY h.budget_id
  LOOP
    PERFORM FROM budgets b WHERE b.id = hold.budget_id FOR NO KEY UPDATE;
    lender := lender_of_1(hold);
    CONTINUE WHEN lender.run_id IS NULL;
    SELECT greatest(0, lender.estimate_micros - (r.cost_micros - lender.base_micros) - f.micros) INTO free
    FROM runs r CROSS JOIN LATERAL in_flight_1(r.id, '') AS f WHERE r.id = lender.run_id;
    amount := least(free, CASE WHEN most_micros IS NOT NULL THEN
      greatest(0, cost - hold.base_micros + in_progress + most_micros - hold.estimate_micros) END);
    CONTINUE WHEN amount = 0;
    UPDATE budget_holds h SET estimate_micros = h.estimate_micros - amount, held_micros = h.held_micros - amount
    WHERE h.budget_id = lender.budget_id AND h.run_id = lender.run_id AND h.n = lender.n;
    PERFORM move_budget_1(hold.budget_id, hold.window_start, 0, grow_hold_1(hold, amount) - amount);
  END LOOP;
END
$function$;

CREATE OR REPLACE FUNCTION public.update_slack_message()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO outbox (run_id, kind, payload)
  SELECT m.run_id, 'alert', json_build_object('event', 'gate', 'workspace_id', m.workspace_id, 'run_id', m.run_id,
           'workflow_name', w.name, 'message_id', m.id, 'reminds', false)
  FROM slack_messages m JOIN runs r ON r.id = m.run_id JOIN workflows w ON w.id = r.workflow_id
  WHERE m.run_id = NEW.run_id AND m.step_key = NEW.step_key AND m.round = NEW.round AND NOT m.is_final;
  RETURN NULL;
END
$function$;

CREATE OR REPLACE FUNCTION public.wake_calls_1(scopes text[], lease_ms integer)
 RETURNS json
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_variable
DECLARE
  scope text;
  head record;
  room record;
  free integer;
  queued json;
  woken json := '[]';
BEGIN
  FOREACH scope IN ARRAY scopes LOOP
    SELECT w.concurrency, w.per_minute, w.look_at, w.woken_at INTO head FROM call_waits w
    WHERE w.scope = scope AND (w.woken_at IS NULL OR w.woken_at > clock_timestamp() - interval '10 s')
    ORDER BY w.seq LIMIT 1;
    CONTINUE WHEN NOT FOUND;
    room := call_room_1(scope, head.concurrency, head.per_minute, '', '');
    free := least(room.slots, room.tokens);
    -- Only the calls per minute are used up. If one becomes free before the first would look, it sets its timer again.
    IF free <= 0 AND coalesce(room.slots, 1) > 0 AND head.woken_at IS NULL AND head.look_at > (
         SELECT min(c.taken_at) FROM limited_calls c WHERE c.scope = scope AND c.taken_at > clock_timestamp() - interval '1 minute'
       ) + interval '60.2 s' THEN
      free := 1;
    END IF;
    CONTINUE WHEN free <= 0;
    WITH first AS (
      SELECT w.run_id, w.step_key, w.woken_at FROM call_waits w
      WHERE w.scope = scope AND (w.woken_at IS NULL OR w.woken_at > clock_timestamp() - interval '10 s')
      ORDER BY w.seq LIMIT free FOR UPDATE SKIP LOCKED
    ), called AS (
      UPDATE call_waits w SET woken_at = clock_timestamp() FROM first f
      WHERE w.run_id = f.run_id AND w.step_key = f.step_key AND f.woken_at IS NULL
      RETURNING w.run_id, w.step_key
    ), sent AS (
      INSERT INTO outbox (run_id, kind, payload, leased_until)
      SELECT c.run_id, 'waited', json_build_object('step_key', c.step_key), now() + lease_ms * interval '1 ms' FROM called c
      RETURNING id, run_id, kind, payload, attempts
    )
    SELECT json_agg(s) INTO queued FROM sent s;
    IF queued IS NOT NULL THEN
      woken := (woken::jsonb || queued::jsonb)::json;
    END IF;
  END LOOP;
  RETURN woken;
END
$function$;

CREATE OR REPLACE FUNCTION public.whole_state_1(run text, state json, outputs json)
 RETURNS json
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF outputs IS NULL THEN
    RETURN state;
  END IF;
  RETURN (
    SELECT json_object_agg(entry.key, coalesce(s.output, entry.value) ORDER BY entry.ordinality)
    FROM json_each(state) WITH ORDINALITY AS entry
    LEFT JOIN json_each_text(outputs) AS named ON named.key = entry.key
    LEFT JOIN steps s ON s.run_id = run AND s.step_key = named.value);
END
$function$;

CREATE OR REPLACE FUNCTION public.workflow_now(workflow text)
 RETURNS TABLE(version integer, run_cap_micros bigint, plan text, tool_revision integer, overrun text)
 LANGUAGE plpgsql
AS $function$
BEGIN
  RETURN QUERY SELECT w.version, w.run_cap_micros, s.plan, s.tool_revision, w.overrun
    FROM workflows w JOIN workspaces s ON s.id = w.workspace_id WHERE w.id = workflow;
END $function$;

CREATE OR REPLACE FUNCTION public.write_control_1(run text, epoch integer, base bigint, control json, observed json, frames json)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_variable
DECLARE
  -- A step that starts and ends with this call took no time.
  this_moment timestamptz := clock_timestamp();
  step record;
  kept record;
  failed_before boolean;
  restarts boolean;
  opened text[] := '{}';
  closed text[] := '{}';
BEGIN
  FOR step IN
    SELECT * FROM json_to_recordset(control) AS c (
      pos bigint, step_key text, node_id text, label text, kind text, iteration integer[], output_key text, status text,
      output json, error text, caught json)
  LOOP
    SELECT s.step_key, s.status, s.epoch, s.caught INTO kept
    FROM steps s WHERE s.run_id = run AND s.step_key = step.step_key;
    -- Its error is caught now. An execution that starts from the ledger catches the same error again.
    failed_before := kept.status = 'failed' AND kept.epoch = epoch;
    CONTINUE WHEN kept.step_key IS NOT NULL AND (kept.caught OR NOT (
      (kept.status = 'running' AND step.status <> 'running')
      OR (kept.status IN ('failed', 'cancelled', 'skipped') AND kept.epoch < epoch)
      OR (failed_before AND step.caught IS NOT NULL)));

    -- A loop or a timer that a cancel closed continues as the same attempt.
    restarts := (kept.status = 'failed' AND NOT failed_before) OR (kept.status = 'cancelled' AND step.status = 'running');
    INSERT INTO steps AS s (run_id, step_key, node_id, label, kind, iteration, output_key, ordinal,
                            status, epoch, started_at, finished_at, output, error,
                            error_kind, caught, errors)
    VALUES (run, step.step_key, step.node_id, step.label, step.kind, step.iteration, step.output_key, base + step.pos,
            step.status, epoch, this_moment, CASE WHEN step.status <> 'running' THEN this_moment END, step.output, step.error,
            step.caught ->> 'kind', step.caught IS NOT NULL, coalesce((step.caught ->> 'attempts')::integer, 0))
    ON CONFLICT (run_id, step_key) DO UPDATE SET
      status = excluded.status, epoch = excluded.epoch, output = excluded.output, error = excluded.error,
      finished_at = CASE WHEN failed_before THEN s.finished_at ELSE excluded.finished_at END,
      error_kind = excluded.error_kind, caught = excluded.caught, errors = greatest(s.errors, excluded.errors),
      attempts = s.attempts + restarts::integer,
      attempt_started_at = CASE WHEN restarts THEN excluded.started_at ELSE s.attempt_started_at END,
      attempt_ended_at = CASE WHEN restarts THEN NULL ELSE s.attempt_ended_at END,
      started_at = CASE WHEN restarts THEN excluded.started_at ELSE s.started_at END;

    IF NOT coalesce(kept.status = 'running' OR failed_before, false) THEN
      opened := opened || step.step_key;
    END IF;
    IF step.status IN ('success', 'failed') AND NOT coalesce(failed_before, false) THEN
      closed := closed || step.step_key;
    END IF;
  END LOOP;

  FOR step IN SELECT * FROM json_to_recordset(observed) AS o (step_key text, event_id bigint) LOOP
    UPDATE steps s SET event_id = step.event_id WHERE s.run_id = run AND s.step_key = step.step_key;
  END LOOP;

  -- In the order of their numbers, since each gets its time when it is inserted.
  IF json_array_length(frames) > 0 THEN
    INSERT INTO run_frames (run_id, seq, frame)
    SELECT run, base + f.place, f.value -> 'frame' FROM json_array_elements(frames) WITH ORDINALITY AS f (value, place)
    WHERE f.value ->> 'step_key' = ANY (CASE f.value ->> 'edge' WHEN 'opened' THEN opened ELSE closed END)
    ORDER BY f.place;
  END IF;
END
$function$;

CREATE OR REPLACE FUNCTION public.write_control_2(run text, epoch integer, base bigint, control json, observed json, frames json, this_moment timestamp with time zone DEFAULT clock_timestamp())
 RETURNS void
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_variable
DECLARE
  step record;
  kept record;
  failed_before boolean;
  restarts boolean;
  opened text[] := '{}';
  closed text[] := '{}';
BEGIN
  FOR step IN
    SELECT * FROM json_to_recordset(control) AS c (
      pos bigint, step_key text, node_id text, label text, kind text, iteration integer[], output_key text, status text,
      output json, error text, caught json)
  LOOP
    SELECT s.step_key, s.status, s.epoch, s.caught INTO kept
    FROM steps s WHERE s.run_id = run AND s.step_key = step.step_key;
    -- Its error is caught now. An execution that starts from the ledger catches the same error again.
    failed_before := kept.status = 'failed' AND kept.epoch = epoch;
    CONTINUE WHEN kept.step_key IS NOT NULL AND (kept.caught OR NOT (
      (kept.status = 'running' AND step.status <> 'running')
      OR (kept.status IN ('failed', 'cancelled', 'skipped') AND kept.epoch < epoch)
      OR (failed_before AND step.caught IS NOT NULL)));

    -- A loop or a timer that a cancel closed continues as the same attempt.
    restarts := (kept.status = 'failed' AND NOT failed_before) OR (kept.status = 'cancelled' AND step.status = 'running');
    INSERT INTO steps AS s (run_id, step_key, node_id, label, kind, iteration, output_key, ordinal,
                            status, epoch, started_at, finished_at, output, error,
                            error_kind, caught, errors)
    VALUES (run, step.step_key, step.node_id, step.label, step.kind, step.iteration, step.output_key, base + step.pos,
            step.status, epoch, this_moment, CASE WHEN step.status <> 'running' THEN this_moment END, step.output, step.error,
            step.caught ->> 'kind', step.caught IS NOT NULL, coalesce((step.caught ->> 'attempts')::integer, 0))
    ON CONFLICT (run_id, step_key) DO UPDATE SET
      status = excluded.status, epoch = excluded.epoch, output = excluded.output, error = excluded.error,
      finished_at = CASE WHEN failed_before THEN s.finished_at ELSE excluded.finished_at END,
      error_kind = excluded.error_kind, caught = excluded.caught, errors = greatest(s.errors, excluded.errors),
      attempts = s.attempts + restarts::integer,
      attempt_started_at = CASE WHEN restarts THEN excluded.started_at ELSE s.attempt_started_at END,
      attempt_ended_at = CASE WHEN restarts THEN NULL ELSE s.attempt_ended_at END,
      started_at = CASE WHEN restarts THEN excluded.started_at ELSE s.started_at END;

    IF NOT coalesce(kept.status = 'running' OR failed_before, false) THEN
      opened := opened || step.step_key;
    END IF;
    IF step.status IN ('success', 'failed') AND NOT coalesce(failed_before, false) THEN
      closed := closed || step.step_key;
    END IF;
  END LOOP;

  FOR step IN SELECT * FROM json_to_recordset(observed) AS o (step_key text, event_id bigint, nth integer) LOOP
    UPDATE steps s SET event_id = coalesce(step.event_id, s.event_id), handled = coalesce(step.nth, s.handled)
    WHERE s.run_id = run AND s.step_key = step.step_key;
  END LOOP;

  -- In the order of their numbers, since each gets its time when it is inserted.
  IF json_array_length(frames) > 0 THEN
    INSERT INTO run_frames (run_id, seq, frame)
    SELECT run, base + f.place, f.value -> 'frame' FROM json_array_elements(frames) WITH ORDINALITY AS f (value, place)
    WHERE f.value ->> 'step_key' = ANY (CASE f.value ->> 'edge' WHEN 'opened' THEN opened ELSE closed END)
    ORDER BY f.place;
  END IF;
END
$function$;
