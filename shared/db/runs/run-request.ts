import type { AuditAction } from '#shared/contract/audit/audit.ts';
import type { Actor } from '#shared/people/actor.ts';
import type { StoredRehearsal } from '#shared/contract/forks/fork.ts';
import type { Trigger } from '#shared/contract/runs/run.ts';
import type { Graph } from '#shared/contract/workflows/graph.ts';
import type { AppError } from '#shared/errors.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import type { Db } from '#shared/db/pool.ts';
import type { Start } from '#shared/db/events/starts.ts';
import type { ForkCopies } from '#shared/db/forks/copies.ts';
import type { CancelOn } from '#shared/graph/limits/cancel-on.ts';
import type { Place } from '#shared/graph/limits/place.ts';
import type { CurrentGraph } from '#shared/db/workflows/current-graph.ts';
import type { ArrivedEvent } from '#shared/db/inbound/arrived-event.ts';
import type { SignatureMark } from '#shared/db/inbound/webhooks.ts';

export type AdHocGraph = Pick<CurrentGraph, 'graph' | 'inputSchema'>;

/** The fields of a draft or a version that are needed to run it. */
export const adHocGraphOf = (content: {
  graph: unknown;
  input_schema: JsonObject | null;
}): AdHocGraph => ({
  graph: content.graph as Json,
  inputSchema: content.input_schema,
});

/** What the limits of a workflow mean for a run with an input. */
export interface UnderLimits {
  /** Undefined if nothing limits how many run or start. */
  place: Place | undefined;
  /** Undefined if no event cancels it. */
  cancelOn: CancelOn | undefined;
}

interface Limits {
  revision: number;
  /** Throws AppError `input_invalid`. */
  of: (input: JsonObject) => Promise<UnderLimits>;
}

/** A version of a workflow: its graph, or why it cannot run. */
export interface Runnable {
  version: number;
  graph?: Graph;
  /** AppError `graph_invalid`. */
  refusal?: AppError;
  /** For a graph that calls custom tools: the revision of the registered tools when it was checked. */
  toolRevision?: number;
  /** For a version with an `input_schema`: AppError `input_invalid` for an input that does not fit it. */
  refuseInput?: (input: JsonObject) => Promise<AppError | undefined>;
  /** The limits of the workflow. */
  limits?: Limits;
}

/** What to run: a workflow's current version, another version, or an unsaved graph. */
export interface Wanted {
  workspaceId: string;
  workflowId: string;
  version?: number;
  adHocGraph?: AdHocGraph;
}

/** Finds what to run. The result may come from a cache and be out of date, unless it is read `fresh`. */
export type FindRunnable = (
  db: Db,
  wanted: Wanted,
  fresh: boolean,
) => Promise<Runnable | undefined>;

/**
 * Compares the choice with the current version. Returns which version that is, and AppError `forbidden` as the refusal
 * when the actor may not run the choice. Undefined when there is nothing to compare.
 */
export type CompareChosen = (
  runnable: Runnable,
) => Promise<{ current: number; refusal?: AppError | undefined } | undefined>;

/** How a run starts from another run. */
export interface Fork {
  sourceId: string;
  /** The step at which execution starts; undefined for a run that starts from the beginning. */
  fromStep?: string | undefined;
  /** What it takes over; undefined for a run that executes everything again. */
  copies?: ForkCopies;
  /** What is merged into the state at steps, by step key. */
  laid: Record<string, JsonObject>;
  /**
   * Digests of what steps of the other run were executed with, by step key: a step with the same digest reuses that
   * result. For a rehearsal, the digests are in its request.
   */
  digests?: Record<string, string>;
}

export interface RehearsalRequest extends StoredRehearsal {
  guarded: NonNullable<StoredRehearsal['guarded']>;
  /** Digests of what the other run's steps were executed with, by step key; see `planRehearsal`. */
  digests: Record<string, string>;
}

/** Who starts a run. Only an actor with a role can run a graph that requires less approval than the current version. */
export type RunActor = Pick<Actor, 'workspaceId' | 'id' | 'name'> &
  Partial<Pick<Actor, 'role' | 'overrides'>>;

export interface RunRequest {
  actor: RunActor;
  workflowId: string;
  trigger: Trigger;
  input: JsonObject;
  /** At most 255 characters. The same key with the same input returns the same run for as long as the key is stored. */
  idempotencyKey?: string;
  /** The event that starts the run, instead of a key. It starts no second run within this window. */
  event?: { id: string; windowSeconds: number };
  /** For a signed event: the same signature starts no second run, even with a different event id. */
  signature?: SignatureMark;
  /** The inbound event that starts the run. Its log entry is written with the run. */
  inbound?: ArrivedEvent;
  /** The inbound event that the run replays. With a job, which must be running, each event is replayed once. */
  replay?: { eventId: string; jobId?: string | undefined };
  /** By default, `run` on the workflow. Other triggers give their own action (`schedule_run`, `webhook_run`). */
  audit?: { action: AuditAction; details: JsonObject };
  /** The step that starts the run. Its run must be open and accept work from this execution. */
  parent?: { runId: string; stepKey: string; execution: string; attempt: number };
  /** The version to run; by default, the current one. */
  version?: number;
  /** A graph to run instead of a version's, with its input schema. */
  adHocGraph?: AdHocGraph;
  /** Set if the run starts from another run. */
  fork?: Fork;
  /** Set if the run rehearses that other run. */
  rehearsal?: RehearsalRequest;
  /** The running experiment that rehearses it, once per run. */
  experimentId?: string;
  /** The schedule that starts the run. `dueAt` is null when a member started it manually. */
  schedule?: { id: string; dueAt: string | null };
  /** The event trigger that starts the run for an event, once. */
  start?: Start;
  /** The run is admitted in the transaction of an act with a key, on whose database it is requested (`actWithin`). */
  withinAct?: true;
}

/** What the execution of a rehearsal needs to know. */
export const rulesOf = ({ allow, failures, failed, pinned, guarded }: StoredRehearsal) => ({
  allow,
  failures,
  failed: [...failed],
  pinned,
  guarded,
});

/** What is stored with the run of a rehearsal. */
export const storedRehearsal = (rehearsal: RehearsalRequest | undefined): StoredRehearsal | null =>
  rehearsal === undefined ? null : { ...rulesOf(rehearsal), decisions: rehearsal.decisions };
