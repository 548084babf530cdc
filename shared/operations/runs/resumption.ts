import { randomUUID } from 'node:crypto';
import { isGrpcServiceError, WorkflowNotFoundError } from '@temporalio/client';
import { z } from 'zod';
import { readStartable, type StartableRun, supersede } from '#shared/db/runs/restart.ts';
import { type OutboxRow, remember } from '#shared/db/runs/outbox.ts';
import { hasLiveClaim } from '#shared/db/steps/steps.ts';
import { messageOf } from '#shared/errors.ts';
import {
  announce,
  type CurrentExecution,
  describeCurrent,
  type DispatchDeps,
  type Outcome,
  startExecution,
  terminate,
} from './executions.ts';
import { findResetPoint } from './reset-point.ts';
import { lookAtTask } from './stuck-tasks.ts';

/** The number of the resume that a row requests. */
const n = z.number().int();
const base = z.string();
const cut = z.number().int().positive();

/** Resets the closed execution `base` to the event `cut`. The same request id finds an earlier reset that succeeded. */
const resetPlan = z.strictObject({
  n,
  plan: z.literal('reset'),
  base,
  cut,
  request_id: z.string(),
});
/** Starts a new execution from the ledger. `base` was the newest one at that time; null: Temporal had none. */
const ledgerPlan = z.strictObject({ n, plan: z.literal('ledger'), base: base.nullable() });

/** The payload of a resume's outbox row: the number of the resume, and the plan once there is one. */
const resumePayload = z.union([resetPlan, ledgerPlan, z.strictObject({ n })]);

type ResetPlan = z.infer<typeof resetPlan>;
type LedgerPlan = z.infer<typeof ledgerPlan>;
type Plan = ResetPlan | LedgerPlan;

/** Two processes have the row because the lease of one has expired. The next attempt finds the other's result. */
const TAKEN: Outcome = { done: false, wait: 'another process dispatches it' };

/**
 * Continues a resumed run: resets its closed execution to just before it failed or was cancelled, or, when there is
 * nothing to reset, starts a new one from the ledger. Then it sends the new execution all decisions.
 *
 * The plan is stored first, so that it can be repeated if the process dies or a response is lost: the next attempt
 * finds the new execution and announces it, or executes the same plan again.
 */
export async function resume(deps: DispatchDeps, row: OutboxRow): Promise<Outcome> {
  const { db } = deps;
  const asked = resumePayload.parse(row.payload);
  const run = await readStartable(db, row.run_id);
  // The run was cancelled, settled or resumed again: that change has its own row.
  if (run === undefined || run.resumedCount !== asked.n) return { done: true };
  if (!isOpen(run)) return { done: true };
  const current = await describeCurrent(deps, row.run_id);
  if ('plan' in asked && current !== undefined && hasCome(asked, current, run)) {
    return announce(deps, row.run_id, current.runId);
  }
  if (current?.open === true) {
    if (await neverCloses(deps, run, current)) await terminate(deps, row.run_id, current.runId);
    return { done: false, wait: 'the execution has not closed yet' };
  }
  if (await hasLiveClaim(db, row.run_id)) {
    return { done: false, wait: 'a step of the old execution is still running' };
  }
  const plan = await planFor(deps, asked, run, current);
  if (!(await keepPlan(deps, row, plan))) return TAKEN;
  // Checked once more with the run locked, because from here on the new execution can work for the run.
  if (!(await supersede(db, { runId: row.run_id, execution: current?.runId, n: asked.n }))) {
    return { done: true };
  }
  return plan.plan === 'reset' ? reset(deps, row, run, plan) : startFromLedger(deps, row, run);
}

/** A run that the upgrade to 1.0 restarts can be pending. */
const isOpen = ({ status }: StartableRun): boolean =>
  ['pending', 'running', 'paused'].includes(status);

/** Whether an earlier attempt at the plan started the newest execution. */
const hasCome = (plan: Plan, current: CurrentExecution, run: StartableRun): boolean =>
  current.runId !== plan.base && !run.superseded.includes(current.runId);

/** Whether a replaced execution cannot end because its history cannot be replayed. */
async function neverCloses(
  deps: DispatchDeps,
  run: StartableRun,
  current: CurrentExecution,
): Promise<boolean> {
  if (!run.superseded.includes(current.runId)) return false;
  return run.fromLedger || (await lookAtTask(deps, run.runId, current)).unreplayable;
}

/** The existing plan while its base is still the newest execution; otherwise a new one. */
async function planFor(
  deps: DispatchDeps,
  asked: z.infer<typeof resumePayload>,
  run: StartableRun,
  current: CurrentExecution | undefined,
): Promise<Plan> {
  const newest = current?.runId ?? null;
  if ('plan' in asked && asked.base === newest) return asked;
  const replayable = !('plan' in asked) && !run.fromLedger;
  const point =
    newest !== null && replayable ? await resetPointOf(deps, run.runId, newest) : undefined;
  return newest === null || point === undefined
    ? { n: asked.n, plan: 'ledger', base: newest }
    : { n: asked.n, plan: 'reset', base: newest, cut: point, request_id: randomUUID() };
}

/** Also undefined when the history was deleted although the execution is still listed. */
async function resetPointOf(
  deps: DispatchDeps,
  workflowId: string,
  runId: string,
): Promise<number | undefined> {
  try {
    return await findResetPoint(deps.temporal, { workflowId, runId });
  } catch (error) {
    if (!isWithoutHistory(error)) throw error;
    return undefined;
  }
}

/** Returns false when another process has stored its own plan since the row was read. */
async function keepPlan(deps: DispatchDeps, row: OutboxRow, plan: Plan): Promise<boolean> {
  const kept = await remember(deps.db, row, plan);
  if (kept) row.payload = plan;
  return kept;
}

async function reset(
  deps: DispatchDeps,
  row: OutboxRow,
  run: StartableRun,
  plan: ResetPlan,
): Promise<Outcome> {
  let execution: string;
  try {
    execution = await resetExecution(deps, row.run_id, plan);
  } catch (error) {
    if (!isWithoutHistory(error)) throw error;
    deps.log.warn(
      { runId: row.run_id, execution: plan.base, reason: messageOf(error) },
      'the history of an execution cannot be reset; the run continues from the ledger',
    );
    const instead: LedgerPlan = { n: plan.n, plan: 'ledger', base: plan.base };
    return (await keepPlan(deps, row, instead)) ? startFromLedger(deps, row, run) : TAKEN;
  }
  return announce(deps, row.run_id, execution);
}

async function resetExecution(
  { temporal }: DispatchDeps,
  workflowId: string,
  plan: ResetPlan,
): Promise<string> {
  const { runId } = await temporal.client.workflowService.resetWorkflowExecution({
    namespace: temporal.namespace,
    workflowExecution: { workflowId, runId: plan.base },
    workflowTaskFinishEventId: plan.cut as unknown as Long,
    requestId: plan.request_id,
    reason: 'resumed',
    identity: 'resume',
  });
  return runId;
}

const GRPC_INVALID_ARGUMENT = 3;
/** The execution does not exist, or has closed. */
export const GRPC_NOT_FOUND = 5;
const GRPC_DATA_LOSS = 15;

/**
 * Whether the server reports that there is nothing to reset: the history was deleted, or the event is not in it. A
 * retry would get the same response.
 */
function isWithoutHistory(error: unknown): boolean {
  if (error instanceof WorkflowNotFoundError) return true;
  if (!isGrpcServiceError(error)) return false;
  const code: number = error.code;
  return code === GRPC_INVALID_ARGUMENT || code === GRPC_NOT_FOUND || code === GRPC_DATA_LOSS;
}

/** Reuses the workflow id for a new execution, which finds finished steps in the ledger. */
async function startFromLedger(
  deps: DispatchDeps,
  row: OutboxRow,
  run: StartableRun,
): Promise<Outcome> {
  const execution = await startExecution(deps, run, { fromLedger: true });
  return execution === undefined ? TAKEN : announce(deps, row.run_id, execution);
}
