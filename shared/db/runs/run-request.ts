import type { AuditAction } from '../../contract/audit.ts';
import type { Actor } from '../../actor.ts';
import type { StoredRehearsal } from '../../contract/fork.ts';
import type { Trigger } from '../../contract/run.ts';
import type { Json, JsonObject } from '../../json.ts';
import type { ForkCopies } from '../forks/copies.ts';
import type { CurrentGraph } from '../workflows/current-graph.ts';
import type { LoggedRun } from '../inbound/log.ts';
import type { SignatureMark } from '../workflows/webhooks.ts';

export type Drawn = Pick<CurrentGraph, 'graph' | 'inputSchema'>;

/** What a draft or a version has, as it can run. */
export const drawnOf = (content: { graph: unknown; input_schema: JsonObject | null }): Drawn => ({
  graph: content.graph as Json,
  inputSchema: content.input_schema,
});

/** How a run starts from another one. */
export interface Fork {
  sourceId: string;
  /** The step from which it is executed; undefined for a run that begins at the start. */
  fromStep?: string | undefined;
  /** What it takes over; undefined for a run that executes everything again. */
  copies?: ForkCopies;
  /** What is laid over the state at steps, by step key. */
  laid: Record<string, JsonObject>;
  /**
   * What steps of the other run were executed with, by step key: a step that is executed with the same has that result.
   * For a rehearsal, its request has them.
   */
  digests?: Record<string, string>;
}

export interface RehearsalRequest extends StoredRehearsal {
  guarded: NonNullable<StoredRehearsal['guarded']>;
  /** What the steps of the other run were executed with, by step key; see `planRehearsal`. */
  digests: Record<string, string>;
}

export interface RunRequest {
  actor: Pick<Actor, 'workspaceId' | 'id' | 'name'>;
  workflowId: string;
  trigger: Trigger;
  input: JsonObject;
  /** At most 255 characters; the same key with the same input returns the same run while the key is kept. */
  idempotencyKey?: string;
  /** Instead of a key: the event that starts the run. It starts no second run within this window. */
  event?: { id: string; windowSeconds: number };
  /** For a signed event: the same signature starts no second run, even with another event id. */
  signature?: SignatureMark;
  /** The inbound event that starts the run: its entry in the log is written with the run. */
  inbound?: LoggedRun;
  /** The inbound event that the run replays; with a job, which must be running, once for each. */
  replay?: { eventId: string; jobId?: string | undefined };
  /** Defaults to `run` on the workflow. Other triggers name their own action (`schedule_run`, `webhook_run`). */
  audit?: { action: AuditAction; details: JsonObject };
  /** The step that starts the run: of an open run that accepts the work of this execution. */
  parent?: { runId: string; stepKey: string; execution: string; attempt: number };
  /** The version to run; by default the current one. */
  version?: number;
  /** Instead of the graph of a version: that of a draft, with its schema of the input. */
  drawn?: Drawn;
  /** The run starts from another one. */
  fork?: Fork;
  /** The run is a rehearsal of that one. */
  rehearsal?: RehearsalRequest;
  /** The running experiment that rehearses it: once for each run. */
  experimentId?: string;
  /** The schedule that starts the run; `dueAt` is null when a member started it manually. */
  schedule?: { id: string; dueAt: string | null };
}

/** What its execution needs to know. */
export const rulesOf = ({ allow, failures, failed, pinned, guarded }: StoredRehearsal) => ({
  allow,
  failures,
  failed: [...failed],
  ...(pinned === undefined ? {} : { pinned }),
  ...(guarded === undefined ? {} : { guarded }),
});

/** What the run keeps of it. */
export const storedRehearsal = (rehearsal: RehearsalRequest | undefined): StoredRehearsal | null =>
  rehearsal === undefined ? null : { ...rulesOf(rehearsal), decisions: rehearsal.decisions };
