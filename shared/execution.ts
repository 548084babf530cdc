import type { AlertCall } from './contract/alerts/alerts.ts';
import type { StoredRehearsal } from './contract/forks/fork.ts';
import type { Graph, NodeKind } from './contract/workflows/graph.ts';
import type { JobActivities } from './contract/jobs/job.ts';
import type { GateDecision } from './graph/gates/gate-decision.ts';
import type { GateOpening } from './graph/gates/gate-opening.ts';
import type { CaughtError } from './graph/caught-error.ts';
import type { ExecutedNode } from './graph/kinds.ts';
import type { EndState } from './graph/schedule/run-state.ts';
import type { SchedulerSnapshot, Situation } from './graph/schedule/scheduler.ts';
import type { Json, JsonObject } from './json.ts';
import type { SecretPlace } from './values/secrets.ts';
import type { SweepCall, SweepPart, SweepProgress } from './values/sweep.ts';
import type {
  AgentPart,
  ObservedStep,
  PendingWrites,
  RehearsalRules,
} from '#shared/graph/call-parts.ts';
import type { ChildCall, ChildPlace, ChildReport } from './graph/children/child-call.ts';
import type { WaitCall, WaitPlace, WaitReport } from './graph/waits/wait-call.ts';

/**
 * The contract between API, workflow and activities through Temporal: names and payload shapes. Every payload is JSON
 * in snake_case, for the Temporal UI. A shape can get optional fields; changing or removing a field breaks the replay
 * of histories that contain it.
 */

/** The workflow type of runs without a readable type. The workflow id of a run is the run id. */
export const RUN_WORKFLOW = 'runGraph';

/** Metadata of a payload that is not stored in a history, so that its size does not matter. */
export const UNSTORED = 'unstored';

/** The readable type of a run is this prefix and the name of the workflow. No registered type begins with it. */
export const READABLE_TYPE = 'run: ';

export const SIGNAL_DECISION = 'decision';
export const SIGNAL_RESUMED = 'resumed';
export const SIGNAL_CHILD = 'child';
export const SIGNAL_WAITED = 'waited';

/**
 * Task queues: workflow tasks, bookkeeping and steps; steps of a workspace that has many in flight; background work;
 * deliveries, since they depend on external receivers.
 */
export const taskQueues = (prefix: string) => ({
  control: `${prefix}-control`,
  overflow: `${prefix}-overflow`,
  background: `${prefix}-background`,
  deliveries: `${prefix}-deliveries`,
});

/** Search attributes for operators; registered at start. Few, because Postgres visibility has ten keyword slots. */
export const searchAttributes = {
  workspace: 'OpsWorkspace',
  workflow: 'OpsWorkflow',
  trigger: 'OpsTrigger',
  version: 'OpsVersion',
  status: 'OpsStatus',
  cost: 'OpsCostUsd',
} as const;

interface RunLimits {
  /** Concurrent steps of one run. */
  steps_in_flight: number;
  /** After this long without a heartbeat, a step's worker counts as dead. */
  heartbeat_timeout_ms: number;
}

export interface RunGraphInput {
  run_id: string;
  workspace_id: string;
  workflow_id: string;
  workflow_version: number;
  /** The execution's own task queue. */
  steps_task_queue: string;
  /** For steps that do not fit into the steps queue. */
  overflow_task_queue: string;
  limits: RunLimits;
  graph: Graph;
  input: JsonObject;
  /** Set if finished steps and decisions come from the ledger, because no history can be reset or the run is a fork. */
  from_ledger?: boolean;
  /** For a fork: what is merged into the state at steps, by step key. */
  laid?: Record<string, JsonObject>;
  /** Set if the run is a rehearsal, with the steps whose failures will be repeated. */
  rehearsal?: Pick<StoredRehearsal, 'allow' | 'failures' | 'pinned' | 'guarded'> & {
    failed: string[];
  };
  /** For a fork: the steps that reuse their result in the forked run if their node and input are the same. */
  reuses?: string[];
  /** Set when an execution continues a previous one that ended to keep its history short. */
  carried?: CarriedState;
}

/** The guard of a step whose guard is unknown. */
export const UNKNOWN_GUARD = 'a gate or an approval';

export interface CarriedState {
  scheduler: SchedulerSnapshot;
  decisions: GateDecision[];
  rounds: Record<string, number>;
  failures: number;
  observed: ObservedStep[];
  /** The number of results that have entered the state. */
  handled?: number;
  /** The current turn of each agent with tools, by step key. */
  turns?: Record<string, number>;
  /** The attempt of each step that waits for a child, by step key. */
  children?: Record<string, number>;
}

export interface ResumedSignal {
  /** All decisions of this run: signals sent after the cut are missing from the reset history. */
  decisions: GateDecision[];
}

export interface StepCall extends PendingWrites {
  workspace_id: string;
  workflow_id: string;
  step_key: string;
  iteration: number[];
  /** The node without its templates, which are resolved in `params`. */
  node: ExecutedNode;
  params: JsonObject;
  state: JsonObject;
  /** Where `params`, or the arguments of an agent's call, contain secrets. The worker inserts their values. */
  secrets?: SecretPlace[];
  /** Whether its texts exceed the limit for direct evaluation. */
  costly?: boolean;
  /** Whether the step can continue in another queue when its workspace has too many steps on the worker. */
  may_overflow?: boolean;
  /** For a turn or a call of an agent with tools. */
  agent?: AgentPart;
  /** For a step of a rehearsal. */
  rehearsal?: RehearsalRules;
  /** Set if a gate of the run was decided: what the step sends must be what was shown there. */
  bound?: true;
  /** Set if a person must approve the step with exactly these parameters. */
  asks?: true;
  /** For a step of a fork: it may reuse its result in the forked run. */
  reuses?: true;
  /** Set if the step has waited for a free call of its tool or model, or for a sign-in. */
  waited?: true;
  /** Set if it should not begin any more: it only leaves the queue. */
  withdrawn?: true;
}

export interface PauseCall extends PendingWrites {
  gates: GateOpening[];
  /** What follows from the answers to the gates; absent in a rehearsal, and without human gates. */
  situation?: Situation;
}

interface PauseResult {
  /** Existing decisions; the run is paused only when there are none. */
  decisions: GateDecision[];
}

export interface GateCheck {
  run_id: string;
  step_key: string;
  round: number;
}

/** Without either field, the gate is not open, so nothing is due. */
interface GateCheckResult {
  decision?: GateDecision;
  /** When to check again, in ms. */
  wait_ms?: number;
}

export interface FailedStep {
  step_key: string;
  node_id: string;
  label: string;
  kind: NodeKind;
  iteration: number[];
  error: string;
  reason: 'node' | 'rejected' | 'budget' | 'unrecorded';
  /** The cap or budget that stopped it. */
  evidence?: JsonObject;
}

export interface FailureCall extends PendingWrites {
  /** The number of this failure report within the execution. */
  n: number;
  failed: FailedStep[];
}

export type FailureVerdict =
  | { verdict: 'fail'; error: string }
  | { verdict: 'resume' }
  /** Steps that failed for the workflow but are finished in the ledger, with their outputs. */
  | { verdict: 'finished'; outputs: Record<string, Json> };

/**
 * `output` and `state` are JSON texts of objects. The workflow's thread serializes them, so that the worker's main
 * thread does not have to parse and serialize them again.
 */
export interface SettleCall extends PendingWrites, EndState {
  output: string;
}

interface SettleResult {
  status: string;
  cost_usd: number;
}

interface AbandonCall {
  run_id: string;
  kind: 'cancelled' | 'crash';
  error: string;
}

export interface LedgerState {
  /** The steps with a result, in the order in which they ended. Absent in histories of 1.0.0, except of rehearsals. */
  order?: string[];
  /** The outputs as JSON texts. Each is parsed when its step is reached, since together they can be many megabytes. */
  texts: Record<string, string>;
  /** The errors of failed steps whose error edges were taken. */
  caught?: Record<string, CaughtError>;
  decisions: GateDecision[];
  rounds: Record<string, number>;
  failures: number;
  /** The number of results that have entered the state. */
  handled?: number;
  /** The steps in `order` whose results have not entered it. */
  unhandled?: string[];
  /** The last finished turn of each agent with tools, by step key. */
  turns?: Record<string, number>;
  /** The attempt of each unfinished step that waits for a child, by step key. */
  children?: Record<string, number>;
  /** How long each unfinished delay has waited, in ms, by step key. */
  waited?: Record<string, number>;
}

/** Local activities: short, executed on the worker of the workflow task, retried until they succeed. */
export interface ControlActivities {
  pauseAtGates(call: PauseCall): Promise<PauseResult>;
  /** Does what is due at an open gate: its deadline or a reminder. */
  checkGate(call: GateCheck): Promise<GateCheckResult>;
  onFailure(call: FailureCall): Promise<FailureVerdict>;
  settleRun(call: SettleCall): Promise<SettleResult>;
  /** `at_rest`: the run does nothing but wait from now on. */
  recordControlSteps(call: PendingWrites & { at_rest?: true }): Promise<void>;
  abandonRun(call: AbandonCall): Promise<void>;
  loadLedger(call: { run_id: string }): Promise<LedgerState>;
  /** Starts the child of a step, or resumes it. */
  startChild(call: ChildCall): Promise<ChildReport>;
  /** Reads the state of a step's child. */
  lookAtChild(call: ChildPlace): Promise<ChildReport>;
  /** Opens the wait of a step, or reads it if it is open. */
  openWait(call: WaitCall): Promise<WaitReport>;
  /** Reads the wait of a step, and ends it if its time is up. */
  checkWait(call: WaitPlace): Promise<WaitReport>;
}

/** Activities of the long lane; see `laneOf`. */
export interface StepActivities {
  executeNode(call: StepCall): Promise<Json>;
}

/** When a worker executed a step, by its own clock, in milliseconds since 1970. */
export interface WorkedSpan {
  started_ms: number;
  ended_ms: number;
}

export interface ShortStepResult extends WorkedSpan {
  step_key: string;
  output: Json;
}

/** The detail of FAILURE_MOVES: the step continues in the long lane after this delay. */
export interface MoveToLongLane extends WorkedSpan {
  delay_ms: number;
  costly: boolean;
}

/** A local activity of the short lane. Fails with FAILURE_MOVES unless the step itself has failed permanently. */
export interface ShortStepActivities {
  executeShortStep(call: StepCall): Promise<ShortStepResult>;
}

/** The longest attempt in the short lane. */
export const SHORT_ATTEMPT_MS = 1_000;

/** The workflow type of one tick of a schedule. */
export const SCHEDULE_WORKFLOW = 'scheduledTrigger';

/**
 * The times that were synced to Temporal. A tick whose times differ from the schedule's current ones does not count.
 */
export interface ScheduledTriggerInput {
  workspace_id: string;
  schedule_id: string;
  cron: string;
  timezone: string;
  /** The time zone rules by which Temporal computes; undefined: those of its server, or UTC. */
  zone_rules?: string | undefined;
}

export interface TickCall extends ScheduledTriggerInput {
  /** ISO 8601, UTC. */
  due_at: string;
}

export type TickResult = { run_id: string } | { skipped: string };

/** A local activity. */
export interface ScheduleActivities {
  tickSchedule(call: TickCall): Promise<TickResult>;
}

/** The workflow type of a retention sweep, started by the schedule. */
export const SWEEP_WORKFLOW = 'sweep';

export interface SweepInput {
  task_queue: string;
  /** Set when an execution continues a previous one that ended to keep its history short. */
  progress?: SweepProgress;
}

/** Background activities, on a separate task queue. */
export interface BackgroundActivities extends JobActivities {
  deliverAlert(call: AlertCall): Promise<void>;
  sweepRetention(call: SweepCall): Promise<SweepPart>;
}

/** The workflow type of one cycle of a delivery. Its workflow id is `delivery-<id>-<round>`. */
export const DELIVERY_WORKFLOW = 'deliverWebhook';

interface DeliveryCall {
  workspace_id: string;
  delivery_id: string;
  round: number;
}

/** Contains neither address nor secret: each attempt reads them again. */
export interface DeliverWebhookInput extends DeliveryCall {
  task_queue: string;
  /** The delay before the second attempt; doubles with each further one. */
  backoff_ms: number;
}

/** `gone`: the delivery is no longer wanted, or another cycle has replaced this one. */
export type DeliveryResult = 'delivered' | 'gone';

/** The longest delay between two attempts at a delivery. */
export const MAX_DELIVERY_BACKOFF_MS = 3_600_000;

/** Retried until it returns or the delivery is dead: the delivery's row determines which failures count. */
export interface DeliveryActivities {
  attemptDelivery(call: DeliveryCall): Promise<DeliveryResult>;
}

/** Failure types of attemptDelivery. */
export const FAILURE_DELIVERY_DEAD = 'DeliveryDead';
export const FAILURE_DELIVERY_ATTEMPT = 'DeliveryFailed';
export const FAILURE_DELIVERY_POSTPONED = 'DeliveryPostponed';

/** Failure types of executeNode that the workflow distinguishes. */
export const FAILURE_NODE = 'NodeFailed';
/** The first detail of FAILURE_NODE, when the step has failed permanently. */
export type FailureDetails = Pick<CaughtError, 'kind' | 'attempts'>;
/** Its first detail is the evidence of a FailedStep. */
export const FAILURE_BUDGET = 'BudgetExhausted';
/** Extra attempts for killed workers, beyond the node's own attempts. */
export const INFRASTRUCTURE_ATTEMPTS = 100;
/** The step waits for room under a cap or a budget, and is retried soon. */
export const FAILURE_WAITS = 'StepWaits';
/**
 * A limit of the policies has no free call of the tool or model, or a member has to sign in first. Its first detail is a
 * WaitForCall.
 */
export const FAILURE_NO_SLOT = 'NoFreeCall';
/** The step is tried again when it is woken, or after this time. `begun`: it had begun, so its run was not at rest. */
export interface WaitForCall {
  wait_ms: number;
  begun?: true;
}
/** An attempt in the short lane did not succeed; the step continues in the long one. */
export const FAILURE_MOVES = 'StepMoves';
/** The workspace already has its share of the worker's steps, so this one continues in the overflow queue. */
export const FAILURE_OVERFLOWS = 'StepOverflows';
/** The step needs approval first. Its first detail is an AskingStep. */
export const FAILURE_ASKS = 'StepAsks';
/** A step of a rehearsal has no recorded result, and must not be executed. */
export const FAILURE_UNRECORDED = 'Unrecorded';
export const FAILURE_RUN_GONE = 'RunNotActive';
export const FAILURE_RUN = 'RunFailed';
