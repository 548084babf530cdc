import type { components } from './openapi.ts';

/** The resources of the API. Times are ISO 8601 in UTC, money is in dollars, durations in milliseconds. */
type Schemas = components['schemas'];

export type AlertChannel = Schemas['AlertChannel'];
export type AlertSettings = Schemas['AlertSettings'];
export type ApiKey = Schemas['ApiKey'];
export type AnswerConsequences = Schemas['AnswerConsequences'];
export type Approval = Schemas['Approval'];
export type DecidedGate = Schemas['DecidedGate'];
export type Gate = Schemas['Gate'];
export type LinkDecision = Schemas['LinkDecision'];
export type OpenedLink = Schemas['OpenedLink'];
export type EarlierAsking = Schemas['EarlierAsking'];
export type Authorization = Schemas['Authorization'];
export type AuthorizationPreview = Schemas['AuthorizationPreview'];
export type GrantedAuthorization = Schemas['GrantedAuthorization'];
export type AuditEntry = Schemas['AuditEntry'];
export type AuditList = Schemas['AuditList'];
export type AuditVerification = Schemas['AuditVerification'];
export type Backtest = Schemas['Backtest'];
export type BacktestFinding = Schemas['BacktestFinding'];
export type ListedBacktest = Schemas['ListedBacktest'];
export type StartedJob = Schemas['StartedJob'];
export type Budget = Schemas['Budget'];
export type BudgetHistory = Schemas['BudgetHistory'];
export type BudgetStatus = Schemas['BudgetStatus'];
export type Change = Schemas['Change'];
export type NamedChange = Schemas['NamedChange'];
export type ChangeList = Schemas['ChangeList'];
export type CreatedApiKey = Schemas['CreatedApiKey'];
export type CreatedDataKey = Schemas['CreatedDataKey'];
export type Secret = Schemas['Secret'];
export type OAuthConnection = Schemas['Connection'];
export type NeededSignIn = Schemas['NeededSignIn'];
export type ConnectionPreset = Schemas['ConnectionPreset'];
export type OwnSlackAccount = Schemas['OwnSlackAccount'];
export type ConnectionAuthorization = Schemas['ConnectionAuthorization'];
export type CustomTool = Schemas['CustomTool'];
export type DataEndpoint = Schemas['DataEndpoint'];
export type DataKey = Schemas['DataKey'];
export type Entity = Schemas['Entity'];
export type EntityHistory = Schemas['EntityHistory'];
export type EntityList = Schemas['EntityList'];
export type ComparedRun = Schemas['ComparedRun'];
export type Experiment = Schemas['Experiment'];
export type ListedExperiment = Schemas['ListedExperiment'];
export type EventReplay = Schemas['EventReplay'];
export type ReceivedEvent = Schemas['InboundEvent'];
export type ListedInboundEvent = Schemas['ListedInboundEvent'];
export type Feed = Schemas['ManagedFeed'];
export type FeedDetail = Schemas['ManagedFeedDetail'];
export type GovernanceEvent = Schemas['GovernanceEvent'];
export type Graph = Schemas['Graph'];
export type GraphDiff = Schemas['GraphDiff'];
export type Health = Schemas['Health'];
export type Identity = Schemas['Identity'];
export type IngestAnswer = Schemas['IngestAnswer'];
export type IntelligenceEvent = Schemas['IntelligenceEvent'];
export type IntelligenceEventList = Schemas['IntelligenceEventList'];
export type Member = Schemas['Member'];
export type MemberDetail = Schemas['MemberDetail'];
export type MemberStats = Schemas['MemberStats'];
export type Message = Schemas['Message'];
export type MetricsOverview = Schemas['MetricsOverview'];
export type NewDataEndpoint = Schemas['NewDataEndpoint'];
export type PendingGate = Schemas['PendingGate'];
export type Policies = Schemas['Policies'];
export type Price = Schemas['Price'];
export type Redelivered = Schemas['Redelivered'];
export type RotatedSecret = Schemas['RotatedSecret'];
export type Run = Schemas['Run'];
/** A run, with what a decision about it would set in motion. */
export type CheckedRun = Schemas['CheckedRun'];
export type Consequences = Schemas['Consequences'];
export type Effect = Schemas['Effect'];
/** A run that started from a step of another run. */
export type Fork = Schemas['Fork'];
/** What starts a run of a workflow for each event that matches. */
export type EventTrigger = Schemas['EventTrigger'];
/** An event that a caller or a run has sent. */
export type SentEvent = Schemas['Event'];
/** An event with what it has done. */
export type SentEventDetail = Schemas['EventDetail'];
/** What a step of an open run waits for. */
export type OpenWait = Schemas['OpenWait'];
/** What a run would do, without running it. */
export type DryRun = Schemas['DryRun'];
/** The test of one node. */
export type NodeTest = Schemas['NodeTest'];
/** An output that is pinned for such tests. */
export type Pin = Schemas['Pin'];
export type RunEvent = Schemas['RunEvent'];
export type RunSummary = Schemas['RunSummary'];
/** A run in a list. */
export type ListedRun = Schemas['ListedRun'];
export type RunView = Schemas['RunView'];
export type Schedule = Schemas['Schedule'];
export type Session = Schemas['Session'];
export type Source = Schemas['SourceDetail'];
export type Step = Schemas['Step'];
export type Template = Schemas['Template'];
export type ToolImport = Schemas['ToolImport'];
export type ToolRefresh = Schemas['ToolRefresh'];
export type ToolTest = Schemas['ToolTest'];
export type Usage = Schemas['Usage'];
export type UsageBreakdown = Schemas['UsageBreakdown'];
export type Webhook = Schemas['Webhook'];
export type WebhookDelivery = Schemas['WebhookDelivery'];
export type WebhookDeliveryList = Schemas['WebhookDeliveryList'];
export type WebhookEndpointEvent = Schemas['WebhookEndpointEvent'];
export type WebhookEndpointEventList = Schemas['WebhookEndpointEventList'];
export type Workflow = Schemas['Workflow'];
export type ListedWorkflow = Schemas['ListedWorkflow'];
export type WorkflowDetail = Schemas['WorkflowDetail'];
export type WorkflowDraft = Schemas['WorkflowDraft'];
export type WorkflowVersion = Schemas['WorkflowVersion'];
export type Workspace = Schemas['Workspace'];
export type WorkspaceDataUsage = Schemas['WorkspaceDataUsage'];

/** Of a webhook that starts runs, and of one that sends events. */
export type EventReceipt = Schemas['HookAnswer'] | Schemas['HookEvent'];
export type HookEvent = Schemas['HookEvent'];

export type Role = Member['role'];
export type RunStatus = Run['status'];
export type JsonObject = Record<string, unknown>;

/** A frame of a run's stream. Frames contain ids, not payloads: read the run again after each. */
export type StreamFrame = Schemas['StreamFrame'];

/** A frame of a workspace's stream: what has changed. Read again what you show of it. */
export interface WorkspaceFrame {
  type: 'changed';
  /**
   * Types of audit targets, `step` for steps and statuses of runs, `job` for background jobs, `record` for data
   * records.
   */
  changed: string[];
}

/**
 * A piece of a model's answer, as it arrives. A stream that opens late first has the text so far. Best effort: the text is
 * not kept when the answer has ended.
 */
export interface AgentDeltaFrame {
  type: 'agent_delta';
  run_id: string;
  /** The step of the agent. */
  step_key: string;
  /** 1 for an agent without tools. */
  turn: number;
  text: string;
  /**
   * The length of the answer before this piece, counted like `String.length`: 0 when the answer starts, or starts again
   * because an attempt or a model has failed. Absent from services before 1.1.
   */
  offset?: number | undefined;
}

export type Capability = keyof Identity['capabilities'];
/** How many runs of a workflow are in flight at a time. */
export type WorkflowLimits = Schemas['WorkflowLimits'];
/** The runs in flight and those that wait, of a workflow and a key of its limit. */
export type RunQueue = Schemas['RunQueue'];
