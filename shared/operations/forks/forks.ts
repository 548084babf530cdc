import type { Trigger } from '#shared/contract/runs/run.ts';
import type { Wanted } from '#shared/db/runs/run-request.ts';
import {
  type AdHocGraph,
  type Fork,
  type RunActor,
  type RunRequest,
  adHocGraphOf,
} from '#shared/db/runs/run-request.ts';
import {
  type ForkPlace,
  type ForkSource,
  readForkPlace,
  readForkSource,
  readResults,
} from '#shared/db/forks/source.ts';
import { readDraft } from '#shared/db/workflows/drafts.ts';
import { listPins } from '#shared/db/workflows/pins.ts';
import { AppError, notFound } from '#shared/errors.ts';
import type { NotReused } from '#shared/contract/forks/fork.ts';
import type { DigestedPlan, ForkPlan } from '#shared/graph/forks/plan.ts';
import type { Graph } from '#shared/contract/workflows/graph.ts';
import { nodeIdOf } from '#shared/graph/schedule/step-key.ts';
import type { JsonObject } from '#shared/json.ts';
import { planForkUntrusted } from '#shared/platform/threads/untrusted.ts';
import { guardedNodesOfChosen } from '#shared/operations/guards/guarded-nodes.ts';
import {
  forkOf,
  planRehearsal,
  type RehearsalFields,
  rehearsalOf,
  requireAllowed,
  requireGates,
} from '#shared/operations/runs/rehearsals.ts';
import { triggerRun, type RunDeps, type Triggered } from '#shared/operations/runs/runs.ts';
import { noSuchVersion } from '#shared/db/workflows/versions.ts';

/** Runs that start from another run. The other run can have any status, and does not change. */

/** What a run has in common with the run it starts from, unless the request gives another value. */
export interface RerunRequest extends RehearsalFields {
  actor: RunActor;
  runId: string;
  trigger: Trigger;
  input?: JsonObject | undefined;
  /** By default, the version of the other run. */
  version?: number | undefined;
  /** Runs the workflow's draft instead of a version. */
  draft?: boolean | undefined;
  /** The candidate of an experiment, instead of a version or draft. */
  adHocGraph?: AdHocGraph | undefined;
  /** Finds the guards before the nodes of the graph. An experiment does this once for many runs. */
  guardsOf?: typeof guardedNodesOfChosen | undefined;
  /** The experiment that rehearses the run. */
  experimentId?: string | undefined;
  idempotencyKey?: string | undefined;
}

export interface ForkRequest extends RerunRequest {
  /** The key of a step, or of a turn or call of an agent with tools. */
  fromStep: string;
  /** Merged into the state there. */
  state?: JsonObject | undefined;
}

export interface Forked extends Triggered {
  notReused: NotReused[];
}

/** What a request starts from. */
interface Origin {
  source: ForkSource;
  /** For a fork. */
  place?: ForkPlace | undefined;
  wanted: Wanted;
}

/**
 * Starts a run with the input and version of another run, or with those in the request. With mode `recorded`, it is a
 * rehearsal. Throws AppError `not_found`, `unprocessable`, and those of `triggerRun`.
 */
export async function rerunRun(deps: RunDeps, request: RerunRequest): Promise<Forked> {
  const source = await readForkSource(deps.db, scopeOf(request));
  const wanted = await wantedOf(deps, request, source);
  if (request.mode === 'recorded') return rehearseRun(deps, request, { source, wanted });
  const fork = { sourceId: request.runId, laid: {} };
  const triggered = await triggerRun(deps, requestOf(request, source, wanted, fork));
  return { ...triggered, notReused: [] };
}

/**
 * Starts a run that takes over every finished step of another run that does not depend on `fromStep`, and executes the
 * rest. With mode `recorded`, it is a rehearsal from there. With another graph or input, it only takes over steps that
 * are the same, and reports those that are not. Throws AppError `not_found`, `unprocessable`, `conflict`, and those of
 * `triggerRun`.
 */
export async function forkRun(deps: RunDeps, request: ForkRequest): Promise<Forked> {
  const { runId, fromStep } = request;
  const source = await readForkSource(deps.db, scopeOf(request));
  const place = await readForkPlace(deps.db, runId, fromStep);
  const wanted = await wantedOf(deps, request, source);
  if (request.mode === 'recorded') return rehearseRun(deps, request, { source, place, wanted });
  const plan = await planOf(deps, request, { source, place, wanted });
  const fork = forkOf(runId, { fromStep, place }, plan);
  const triggered = await triggerRun(deps, requestOf(request, source, wanted, fork));
  return { ...triggered, notReused: plan.not_reused };
}

/** Starts a rehearsal from the beginning, or from the fork's step. */
async function rehearseRun(
  deps: RunDeps,
  request: RerunRequest & Partial<Pick<ForkRequest, 'fromStep' | 'state'>>,
  { source, place, wanted }: Origin,
): Promise<Forked> {
  const { actor, runId, fromStep, state, guardsOf = guardedNodesOfChosen } = request;
  const rehearsal = rehearsalOf(request);
  await requireAllowed(deps.db, actor, source.workflowId, rehearsal.allow);
  const graph = await graphOf(deps, wanted);
  await requireGates(deps, actor.workspaceId, graph, rehearsal);
  if (place !== undefined) requireNode(graph, place.stepKey, place.stepKey);
  const input = request.input ?? source.input;
  const { workspaceId } = actor;
  const pinned = request.pins === true ? await pinnedNodes(deps, actor, source, graph) : undefined;
  const guarded = await guardsOf(deps.db, { ...wanted, graph });
  const rehearsed = { workspaceId, runId, source, graph, input, place, state, pinned, guarded };
  const { plan, request: planned } = await planRehearsal(deps.db, rehearsed, rehearsal);
  refuseProblem(plan, fromStep);
  const from = place === undefined || fromStep === undefined ? undefined : { fromStep, place };
  const fork = forkOf(runId, from, plan);
  const triggered = await triggerRun(deps, {
    ...requestOf(request, source, wanted, fork),
    rehearsal: planned,
  });
  return { ...triggered, notReused: plan.not_reused };
}

/** The nodes of the graph whose outputs the member has pinned. */
async function pinnedNodes(
  { db }: RunDeps,
  actor: RerunRequest['actor'],
  { workflowId }: ForkSource,
  { nodes }: Graph,
): Promise<string[]> {
  const pins = await listPins(db, actor, workflowId);
  return pins.map(({ node_id }) => node_id).filter((id) => nodes.some((node) => node.id === id));
}

function refuseProblem({ problem }: ForkPlan, fromStep: string | undefined): void {
  if (problem === undefined) return;
  const what = fromStep === undefined ? 'No rehearsal' : `No fork from step '${fromStep}'`;
  throw new AppError('unprocessable', `${what}: ${problem}`);
}

const scopeOf = ({ actor, runId }: RerunRequest) => ({ workspaceId: actor.workspaceId, runId });

/** The graph of the request; by default, that of the other run, which may have run a draft. */
async function wantedOf(
  { db, findRunnable }: RunDeps,
  { actor, version, draft = false, adHocGraph }: RerunRequest,
  source: ForkSource,
): Promise<Wanted> {
  const ids = { workspaceId: actor.workspaceId, workflowId: source.workflowId };
  if (adHocGraph !== undefined) return { ...ids, adHocGraph };
  if (draft) {
    return { ...ids, adHocGraph: adHocGraphOf(await readDraft(db, ids)) };
  }
  if (version === undefined && source.ofDraft) {
    return { ...ids, adHocGraph: adHocGraphOf({ graph: source.graph, input_schema: null }) };
  }
  const wanted = { ...ids, version: version ?? source.version };
  if ((await findRunnable(db, wanted, false)) === undefined) {
    throw noSuchVersion(version);
  }
  return wanted;
}

const requestOf = (
  { actor, trigger, input, idempotencyKey, mode, allow, experimentId }: RerunRequest,
  source: ForkSource,
  { workflowId, version, adHocGraph }: Wanted,
  fork: Fork,
): RunRequest => ({
  actor,
  workflowId,
  trigger,
  input: input ?? source.input,
  fork,
  version,
  adHocGraph,
  idempotencyKey,
  experimentId,
  audit: {
    action: fork.fromStep === undefined ? 'rerun' : 'fork',
    details: {
      forked_from: fork.sourceId,
      ...(fork.fromStep === undefined ? {} : { from_step: fork.fromStep }),
      ...(mode === undefined ? {} : { mode, allow: [...(allow ?? [])] }),
    },
  },
});

async function planOf(
  deps: RunDeps,
  { actor, runId, fromStep, input, state }: ForkRequest,
  { source, place, wanted }: Origin & { place: ForkPlace },
): Promise<DigestedPlan> {
  const same = wanted.version === source.version && !source.ofDraft && input === undefined;
  const graph = same ? source.graph : await graphOf(deps, wanted);
  requireNode(graph, place.stepKey, fromStep);
  const results = await readResults(deps.db, runId);
  const plan = await planForkUntrusted(actor.workspaceId, {
    recorded: { ...source, ...results },
    from: place.stepKey,
    turn: place.turn,
    state,
    changed: same ? undefined : { graph, input: input ?? source.input },
  });
  refuseProblem(plan, fromStep);
  return plan;
}

/** The graph as it will run. Throws AppError `graph_invalid`. */
async function graphOf({ db, findRunnable }: RunDeps, wanted: Wanted): Promise<Graph> {
  const known = await findRunnable(db, wanted, false);
  if (known?.graph !== undefined) return known.graph;
  // A refusal based on the cache may be out of date.
  const runnable = await findRunnable(db, wanted, true);
  if (runnable?.graph !== undefined) return runnable.graph;
  throw runnable?.refusal ?? notFound('Workflow');
}

function requireNode(graph: Graph, stepKey: string, fromStep: string): void {
  const nodeId = nodeIdOf(stepKey);
  if (graph.nodes.some(({ id }) => id === nodeId)) return;
  throw new AppError(
    'unprocessable',
    `No fork from step '${fromStep}': the graph has no node '${nodeId}' any more; ` +
      'fork from a step that it has, or run it again from the start',
  );
}
