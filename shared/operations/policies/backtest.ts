import { z } from 'zod';
import {
  type BacktestFinding,
  type BacktestSummary,
  noSteps,
} from '#shared/contract/policies/backtest.ts';
import { policiesSchema } from '#shared/contract/policies/policy.ts';
import {
  countSteps,
  insertFindings,
  readStepPage,
  stepPosition,
  type StepWindow,
} from '#shared/db/policies/backtests.ts';
import type { RunningJob } from '#shared/db/jobs/jobs.ts';
import { compareStepsUntrusted, type PoliciesText } from '#shared/platform/threads/backtest.ts';
import type { Comparison } from '#shared/policies/backtest.ts';
import type { JobWork } from '#shared/operations/jobs/work.ts';

/** The request that started a backtest. */
export const backtestRequest = z.object({
  policies: policiesSchema,
  since: z.string(),
  workflow_id: z.string().optional(),
  /** The names that these policies redacted in the same way as those in force when the backtest started. */
  in_force: z.array(z.string()),
});
type BacktestRequest = z.infer<typeof backtestRequest>;

const resultShape = z.object({
  judged: z.number(),
  would_block: z.number(),
  would_redact: z.number(),
  would_allow: z.number(),
  hidden: z.number(),
});

/** The counts of a backtest so far. */
export const summaryOf = (result: unknown): BacktestSummary =>
  resultShape.safeParse(result).data ?? noSteps;

export const findingsIn = ({ would_block, would_redact, would_allow }: BacktestSummary): number =>
  would_block + would_redact + would_allow;

function windowOf(job: RunningJob, request: BacktestRequest): StepWindow {
  return {
    workspaceId: job.workspace_id,
    workflowId: request.workflow_id,
    since: request.since,
    until: job.created_at,
  };
}

/** Judges recorded steps by policies that are not in force. */
export const backtestJob: JobWork = {
  count: ({ db }, job, onBatch) =>
    countSteps(db, windowOf(job, backtestRequest.parse(job.request)), onBatch),
  page: async ({ db }, job, signal) => {
    const request = backtestRequest.parse(job.request);
    const after = job.position === null ? null : stepPosition.parse(job.position);
    const { steps, next } = await readStepPage(db, windowOf(job, request), after);
    const policies: PoliciesText = {
      json: JSON.stringify(request.policies),
      inForce: request.in_force,
    };
    const compared = await compareStepsUntrusted(
      job.workspace_id,
      policies,
      steps.map(({ step }) => step),
      signal,
    );
    const earlier = summaryOf(job.result);
    const summary = addedTo(earlier, compared);
    const findings = compared.filter(isFinding);
    return {
      position: next,
      items: steps.length,
      result: { ...summary },
      keep: (tx) => insertFindings(tx, job.id, { before: findingsIn(earlier), findings }),
    };
  },
};

const isFinding = (compared: Comparison): compared is BacktestFinding =>
  typeof compared !== 'string';

function addedTo(earlier: BacktestSummary, compared: readonly Comparison[]): BacktestSummary {
  const summary = { ...earlier };
  for (const each of compared) {
    if (each === 'hidden') summary.hidden += 1;
    else summary.judged += 1;
    if (isFinding(each)) summary[each.effect] += 1;
  }
  return summary;
}
