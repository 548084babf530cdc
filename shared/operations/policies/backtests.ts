import type { z } from 'zod';
import type { Actor } from '#shared/people/actor.ts';
import {
  type Backtest,
  type BacktestList,
  type backtestBody,
  type BacktestQuery,
  type ListedBacktest,
  MAX_FINDINGS,
} from '#shared/contract/policies/backtest.ts';
import type { StartedJob } from '#shared/contract/jobs/job.ts';
import type { Policies } from '#shared/contract/policies/policy.ts';
import { recordAudit } from '#shared/db/audit/audit.ts';
import { readPolicies } from '#shared/db/policies/policies.ts';
import { listFindings } from '#shared/db/policies/backtests.ts';
import { cancelJob, insertJob, type Job, listJobs, readJob } from '#shared/db/jobs/jobs.ts';
import { requireWorkflow } from '#shared/db/workflows/workflows.ts';
import { AppError } from '#shared/errors.ts';
import type { JsonObject } from '#shared/json.ts';
import { checkPolicies } from './check.ts';
import { redactedByBoth } from '#shared/policies/backtest.ts';
import { dispatch } from '#shared/operations/runs/dispatch.ts';
import type { DispatchDeps } from '#shared/operations/runs/executions.ts';
import type { Dispatched } from '#shared/operations/runs/runs.ts';
import { backtestRequest, findingsIn, summaryOf } from './backtest.ts';

const kind = 'backtest';
const NOUN = 'Backtest';

/**
 * Starts a backtest: when it returns, it is committed and will execute. Throws AppError `invalid` for a pattern or for a
 * `since` in the future, `not_found` for the workflow, `conflict` when too many jobs are running.
 */
export async function startBacktest(
  deps: DispatchDeps,
  actor: Actor,
  { policies, since, workflow_id }: z.output<typeof backtestBody>,
): Promise<Dispatched & { started: StartedJob }> {
  if (Date.parse(since) > Date.now()) {
    throw new AppError('invalid', 'Invalid body: since must not be in the future');
  }
  const { workspaceId } = actor;
  await checkPolicies(deps.db, workspaceId, policies);
  const { id, row } = await deps.db.transaction(async (tx) => {
    if (workflow_id !== undefined) {
      await requireWorkflow(tx, { workspaceId, workflowId: workflow_id });
    }
    const { policies: inForce } = await readPolicies(tx, workspaceId);
    const request: z.output<typeof backtestRequest> = {
      policies,
      since,
      in_force: redactedByBoth(policies, inForce),
      ...(workflow_id === undefined ? {} : { workflow_id }),
    };
    const job = await insertJob(tx, actor, { kind, request: request as unknown as JsonObject });
    await recordAudit(tx, actor, {
      action: 'policy_backtest',
      targetType: 'workspace',
      targetId: workspaceId,
      details: { backtest_id: job.id, since, workflow_id: workflow_id ?? null, ...named(policies) },
    });
    return job;
  });
  return { started: { id, status: 'running' }, dispatched: dispatch(deps, row) };
}

/** A summary of policies for the audit log, without patterns, which can contain what they search for. */
const named = (policies: Policies): JsonObject => ({
  models: policies.model_allowlist?.length ?? null,
  tools: policies.tools.map(({ tool }) => tool),
  detectors: policies.redaction.detectors,
  patterns: policies.redaction.patterns.map(({ name }) => name),
});

/** A backtest with a page of its steps. Throws AppError `not_found`, `invalid`. */
export async function readBacktest(
  { db }: Pick<DispatchDeps, 'db'>,
  scope: { workspaceId: string; jobId: string },
  query: BacktestQuery,
): Promise<Backtest> {
  const job = await readJob(db, { ...scope, kind }, NOUN);
  const listed = toListed(job);
  return {
    ...listed,
    policies: backtestRequest.parse(job.request).policies,
    ...(await listFindings(db, job.id, query)),
    truncated: findingsIn(listed.summary) > MAX_FINDINGS,
  };
}

/** A page of backtests, newest first. Throws AppError `invalid`. */
export async function listBacktests(
  { db }: Pick<DispatchDeps, 'db'>,
  workspaceId: string,
  page: { limit: number; cursor?: string | undefined },
): Promise<BacktestList> {
  const { jobs, next_cursor } = await listJobs(db, { workspaceId, kind }, page);
  return { backtests: jobs.map(toListed), next_cursor };
}

/** Cancels a running backtest. Its findings so far are kept. Throws AppError `not_found`, `conflict`. */
export async function cancelBacktest(
  { db }: Pick<DispatchDeps, 'db'>,
  actor: Actor,
  jobId: string,
): Promise<StartedJob> {
  const { workspaceId } = actor;
  await db.transaction(async (tx) => {
    await cancelJob(tx, { workspaceId, jobId, kind }, NOUN);
    await recordAudit(tx, actor, {
      action: 'policy_backtest_cancel',
      targetType: 'workspace',
      targetId: workspaceId,
      details: { backtest_id: jobId },
    });
  });
  return { id: jobId, status: 'cancelled' };
}

function toListed({ request, result, ...job }: Job): ListedBacktest {
  const { since, workflow_id = null } = backtestRequest.parse(request);
  return { ...job, since, workflow_id, summary: summaryOf(result) };
}
