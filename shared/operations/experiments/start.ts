import type { Actor } from '#shared/people/actor.ts';
import type { ExperimentRequest } from '#shared/contract/experiments/experiment.ts';
import type { Graph } from '#shared/contract/workflows/graph.ts';
import type { StartedJob } from '#shared/contract/jobs/job.ts';
import { recordAudit } from '#shared/db/audit/audit.ts';
import {
  insertExperiment,
  openRehearsals,
  readWorkflowOf,
} from '#shared/db/experiments/experiments.ts';
import { contentDigest } from '#shared/db/experiments/publishing.ts';
import { namedRuns, newestRuns } from '#shared/db/experiments/sources.ts';
import { cancelJob, insertJob } from '#shared/db/jobs/jobs.ts';
import { type AdHocGraph, adHocGraphOf } from '#shared/db/runs/run-request.ts';
import { findDraft } from '#shared/db/workflows/drafts.ts';
import { readVersion, noSuchVersion } from '#shared/db/workflows/versions.ts';
import {
  keepWorkflow,
  requireWorkflow,
  type WorkflowScope,
} from '#shared/db/workflows/workflows.ts';
import { AppError, notFound } from '#shared/errors.ts';
import type { JsonObject } from '#shared/json.ts';
import { toMicros } from '#shared/money/money.ts';
import { dispatchInOrder } from '#shared/operations/runs/dispatch.ts';
import { rehearsalOf, requireAllowed, requireGates } from '#shared/operations/runs/rehearsals.ts';
import { cancelRun, type Dispatched, type RunDeps } from '#shared/operations/runs/runs.ts';

/** The graph that an experiment tries. */
interface Candidate {
  /** Null for a draft. */
  version: number | null;
  content: AdHocGraph;
  /** The graph as it will run. */
  graph: Graph;
}

/**
 * Starts an experiment, which rehearses the runs in the background. A draft is tried as it is now. Throws AppError
 * `not_found`, `unprocessable`, `graph_invalid`, and `conflict` when too many jobs are running.
 */
export async function startExperiment(
  deps: RunDeps,
  actor: Actor,
  workflowId: string,
  request: ExperimentRequest,
): Promise<StartedJob & Dispatched> {
  const { db } = deps;
  const scope = { workspaceId: actor.workspaceId, workflowId };
  await requireWorkflow(db, scope);
  await requireAllowed(db, actor, workflowId, request.allow ?? []);
  const { graph, ...candidate } = await candidateOf(deps, scope, request.candidate);
  await requireGates(deps, actor.workspaceId, graph, rehearsalOf(request));
  const { runs, budget_usd: budget } = request;
  const runIds = Array.isArray(runs)
    ? await namedRuns(db, scope, runs)
    : await newestRuns(db, scope, runs);
  const { id, row } = await db.transaction(async (tx) => {
    await keepWorkflow(tx, scope);
    const job = await insertJob(tx, actor, { kind: 'experiment', request: {} });
    await insertExperiment(tx, {
      id: job.id,
      ...scope,
      ...candidate,
      contentDigest: contentDigest({
        graph: candidate.content.graph,
        input_schema: candidate.content.inputSchema,
      }),
      rules: rulesOf(request),
      budgetMicros: budget === undefined ? null : toMicros(budget),
      runIds,
    });
    await recordAudit(tx, actor, {
      action: 'experiment',
      targetType: 'workflow',
      targetId: workflowId,
      details: {
        experiment_id: job.id,
        candidate: request.candidate,
        runs: runIds.length,
        ...rulesOf(request),
        ...(budget === undefined ? {} : { budget_usd: budget }),
      },
    });
    return job;
  });
  return { id, status: 'running', dispatched: dispatchInOrder(deps, row) };
}

const rulesOf = ({ allow, failures, decisions, pins }: ExperimentRequest): JsonObject => ({
  ...(allow === undefined ? {} : { allow }),
  ...(failures === undefined ? {} : { failures }),
  ...(decisions === undefined ? {} : { decisions: decisions as JsonObject }),
  ...(pins === undefined ? {} : { pins }),
});

/** Throws AppError `not_found` for a draft that does not exist, `unprocessable`, `graph_invalid`. */
async function candidateOf(
  { db, findRunnable }: RunDeps,
  scope: WorkflowScope,
  wanted: ExperimentRequest['candidate'],
): Promise<Candidate> {
  const candidate =
    wanted === 'draft' ? await draftOf(db, scope) : await versionOf(db, scope, wanted.version);
  const runnable = await findRunnable(db, { ...scope, adHocGraph: candidate.content }, true);
  if (runnable?.graph === undefined) throw runnable?.refusal ?? notFound('Workflow');
  return { ...candidate, graph: runnable.graph };
}

type Content = Omit<Candidate, 'graph'>;

async function draftOf(db: RunDeps['db'], scope: WorkflowScope): Promise<Content> {
  const draft = await findDraft(db, scope);
  if (draft === undefined) {
    const detail = `Draft not found: save one with PUT /api/workflows/${scope.workflowId}/draft, or try a version`;
    throw new AppError('not_found', detail);
  }
  return { version: null, content: adHocGraphOf(draft) };
}

async function versionOf(
  db: RunDeps['db'],
  scope: WorkflowScope,
  version: number,
): Promise<Content> {
  try {
    return { version, content: adHocGraphOf(await readVersion(db, { ...scope, version })) };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'not_found') throw error;
    throw noSuchVersion(version);
  }
}

/**
 * Cancels a running experiment and its open rehearsals. Existing results are kept. Throws AppError `not_found`,
 * `conflict`.
 */
export async function cancelExperiment(deps: RunDeps, actor: Actor, id: string): Promise<void> {
  const { workspaceId } = actor;
  await deps.db.transaction(async (tx) => {
    await cancelJob(tx, { workspaceId, jobId: id, kind: 'experiment' }, 'Experiment');
    await recordAudit(tx, actor, {
      action: 'experiment_cancel',
      targetType: 'workflow',
      targetId: await readWorkflowOf(tx, id),
      details: { experiment_id: id },
    });
  });
  // No new rehearsal can start, since that requires the job to be running.
  for (const runId of await openRehearsals(deps.db, { workspaceId, id })) {
    try {
      await cancelRun(deps, { actor, runId, audited: false });
    } catch (error) {
      // It has ended in the meantime, or was deleted.
      if (!(error instanceof AppError)) throw error;
    }
  }
}
