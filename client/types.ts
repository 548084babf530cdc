import type { components } from './openapi.ts';

/** The nouns of the API by name. Times are ISO 8601 in UTC, money is in dollars, durations in milliseconds. */
type Schemas = components['schemas'];

export type ApiKey = Schemas['ApiKey'];
export type Approval = Schemas['Approval'];
export type AuditEntry = Schemas['AuditEntry'];
export type AuditList = Schemas['AuditList'];
export type AuditVerification = Schemas['AuditVerification'];
export type Budget = Schemas['Budget'];
export type BudgetStatus = Schemas['BudgetStatus'];
export type CreatedApiKey = Schemas['CreatedApiKey'];
export type GovernanceEvent = Schemas['GovernanceEvent'];
export type Graph = Schemas['Graph'];
export type GraphDiff = Schemas['GraphDiff'];
export type Health = Schemas['Health'];
export type Identity = Schemas['Identity'];
export type Member = Schemas['Member'];
export type MetricsOverview = Schemas['MetricsOverview'];
export type PendingGate = Schemas['PendingGate'];
export type Policies = Schemas['Policies'];
export type Price = Schemas['Price'];
export type Run = Schemas['Run'];
export type RunSummary = Schemas['RunSummary'];
export type Session = Schemas['Session'];
export type Step = Schemas['Step'];
export type Usage = Schemas['Usage'];
export type Workflow = Schemas['Workflow'];
export type WorkflowVersion = Schemas['WorkflowVersion'];
export type Workspace = Schemas['Workspace'];

export type Role = Member['role'];
export type RunStatus = Run['status'];
export type JsonObject = Record<string, unknown>;

/** What a run's stream says. Frames carry ids, not payloads: read the run anew at each. */
export type StreamFrame =
  | { run_id: string; type: 'step_started'; node_id: string; label: string }
  | { run_id: string; type: 'step_completed'; node_id: string }
  | { run_id: string; type: 'step_failed'; node_id: string; error: string }
  | { run_id: string; type: 'run_paused'; node_id: string; prompt: string }
  | { run_id: string; type: 'run_completed' }
  | { run_id: string; type: 'run_failed'; error: string }
  | { run_id: string; type: 'run_evaluated'; passed: number; total: number };

export type Capability =
  | 'view'
  | 'run_workflows'
  | 'approve_gates'
  | 'cancel_resume'
  | 'create_edit_workflows'
  | 'publish_workflows'
  | 'delete_workflows'
  | 'manage_members'
  | 'manage_api_keys'
  | 'manage_workspace';

export interface MemberDetail extends Member {
  capabilities: Record<
    Capability,
    {
      default: boolean;
      override: boolean | null;
      /** The override if there is one, else the default. */
      effective: boolean;
    }
  >;
  /** Keys linked to the member that are not revoked. */
  api_key_count: number;
}

export interface MemberStats {
  member_id: string;
  runs_triggered: number;
  approvals: number;
  rejections: number;
  workflows_created: number;
  total_cost_usd: number;
  /** The last 30 days, oldest first. */
  activity: { date: string; count: number }[];
  /** The 15 newest. */
  recent_actions: AuditEntry[];
}

export interface Schedule {
  id: string;
  workflow_id: string;
  name: string | null;
  cron: string;
  timezone: string;
  input: JsonObject;
  enabled: boolean;
  /** `skip`: no run begins while an earlier one of the schedule has not ended. */
  overlap: 'skip' | 'allow';
  next_run_at: string | null;
  last_run_at: string | null;
  last_run_id: string | null;
  last_skip: { at: string; reason: string } | null;
  created_at: string;
}

export interface NewSchedule {
  workflow_id: string;
  name?: string | null;
  /** Minute, hour, day of month, month, day of week. */
  cron: string;
  /** IANA name, `UTC` unless given. */
  timezone?: string;
  input?: JsonObject;
  enabled?: boolean;
  overlap?: Schedule['overlap'];
}

export interface CustomTool {
  id: string;
  /** Workflows call it as `custom:<name>`. */
  name: string;
  label: string;
  description: string;
  kind: 'http' | 'mcp';
  endpoint_url: string;
  method: string;
  /** Every value is shown as `***`. */
  headers: Record<string, string>;
  mcp_tool: string | null;
  input_schema: JsonObject | null;
  timeout_seconds: number;
  retry_count: number;
  created_by: string | null;
  created_at: string;
  updated_at: string;
}

export interface NewTool {
  name: string;
  endpoint_url: string;
  /** `http` unless given. */
  kind?: CustomTool['kind'];
  label?: string;
  description?: string;
  /** `POST` unless given. */
  method?: string;
  headers?: Record<string, string>;
  /** The tool's name on its server, for kind `mcp`. */
  mcp_tool?: string | null;
  /** JSON Schema that arguments are held to. */
  input_schema?: JsonObject | null;
  /** 60 unless given. */
  timeout_seconds?: number;
  /** 1 unless given. */
  retry_count?: number;
}

export interface ToolTest {
  ok: boolean;
  /** What a step would give; null on failure. */
  result: JsonObject | null;
  error: string | null;
  /** Of the HTTP answer, where there was one. */
  status: number | null;
  duration_ms: number;
}

export interface Webhook {
  enabled: boolean;
  /** Holds the secret: whoever knows it can start runs. Null while disabled. */
  url: string | null;
  require_signature: boolean;
  timestamp_tolerance_seconds: number;
  dedup_window_seconds: number;
  event_id_field: string;
}

export type WebhookConfig = Partial<Omit<Webhook, 'enabled' | 'url'>>;

export interface EventReceipt {
  run_id: string;
  /** `duplicate`: the run that the same event started before. */
  status: 'pending' | 'duplicate';
  deduplicated?: true;
}

export interface Template {
  id: string;
  name: string;
  description: string;
  graph: Graph;
}

export interface NewTemplate {
  name: string;
  description?: string;
  graph: unknown;
}
