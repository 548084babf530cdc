import type { AuditAction } from '#shared/contract/audit/audit.ts';
import type { Actor } from '#shared/people/actor.ts';
import type { StoredRehearsal } from '#shared/contract/forks/fork.ts';
import type { Trigger } from '#shared/contract/runs/run.ts';
import type { Graph } from '#shared/contract/workflows/graph.ts';
import type { AppError } from '#shared/errors.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import type { Db } from '#shared/db/pool.ts';
import type { ForkCopies } from '#shared/db/forks/copies.ts';
import type { CurrentGraph } from '#shared/db/workflows/current-graph.ts';
import type { ArrivedEvent } from '#shared/db/inbound/arrived-event.ts';
import type { SignatureMark } from '#shared/db/inbound/webhooks.ts';

export type AdHocGraph = Pick<CurrentGraph, 'graph' | 'inputSchema'>;

/** What a draft or a version has, as it can run. */
export const adHocGraphOf = (content: {
  graph: unknown;
  input_schema: JsonObject | null;
}): AdHocGraph => ({
  graph: content.graph as Json,
  inputSchema: content.input_schema,
});

/** A version of a workflow: its graph, or the reason that it cannot run. */
export interface Runnable {
  version: number;
  graph?: Graph;
  /** AppError `graph_invalid`. */
  refusal?: AppError;
  /** For a graph that calls custom tools: the revision of the registered tools when it was checked. */
  toolRevision?: number;
  /** For a version with an `input_schema`: AppError `input_invalid` for an input that does not fit it. */
  refuseInput?: (input: JsonObject) => Promise<AppError | undefined>;
}

/** What to run: a workflow's current version, another one, or a graph that was drawn for it. */
export interface Wanted {
  workspaceId: string;
  workflowId: string;
  version?: number;
  adHocGraph?: AdHocGraph;
}

/** Finds what to run. It may come from a cache and be out of date, unless it is read `fresh`. */
export type FindRunnable = (
  db: Db,
  wanted: Wanted,
  fresh: boolean,
) => Promise<Runnable | undefined>;

/**
 * Compares what was chosen to run with the current version: which one that is, and the refusal, AppError `forbidden`,
 * when the actor may not run it. Undefined when there is nothing to compare.
 */
export type CompareChosen = (
  runnable: Runnable,
) => Promise<{ current: number; refusal?: AppError | undefined } | undefined>;

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

/** Who starts a run. Only one with a role can run what asks less than the current version. */
export type RunActor = Pick<Actor, 'workspaceId' | 'id' | 'name'> &
  Partial<Pick<Actor, 'role' | 'overrides'>>;

export interface RunRequest {
  actor: RunActor;
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
  inbound?: ArrivedEvent;
  /** The inbound event that the run replays; with a job, which must be running, once for each. */
  replay?: { eventId: string; jobId?: string | undefined };
  /** Defaults to `run` on the workflow. Other triggers name their own action (`schedule_run`, `webhook_run`). */
  audit?: { action: AuditAction; details: JsonObject };
  /** The step that starts the run: of an open run that accepts the work of this execution. */
  parent?: { runId: string; stepKey: string; execution: string; attempt: number };
  /** The version to run; by default the current one. */
  version?: number;
  /** Instead of the graph of a version: that of a draft, with its schema of the input. */
  adHocGraph?: AdHocGraph;
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
