import {
  beginChildStep,
  type Child,
  type ChildStep,
  failChildStep,
  finishChildStep,
  keepChildStep,
  readChild,
} from '../../db/children/steps.ts';
import { resumeChild } from '../../db/children/resumes.ts';
import { findCalled } from '../../db/workflows/called-workflows.ts';
import { blockedEvidence, BudgetExceeded } from '../../db/money/blocked.ts';
import { AppError, type ErrorCode } from '../../errors.ts';
import type { ChildCall, ChildReport } from '../../graph/child-step.ts';
import { retryDelayMs } from '../../graph/kinds.ts';
import type { DispatchDeps } from './executions.ts';
import { dispatchAndWake, type RunDeps, triggerRun } from './runs.ts';

/**
 * The steps that wait for a run of their own, their child. Postgres decides: the child is a run that was admitted like
 * every other, once per step, and its end is read from its row. Its execution is no child of the other in Temporal, so
 * that both can be reset, continued and lost independently. A signal says when to look.
 */

/** Refusals that another attempt would get as well. */
const FINAL: ReadonlySet<ErrorCode> = new Set(['conflict', 'input_invalid']);
/** Failures of a child that another attempt may get past. A decision of a person stands. */
const RETRIED: ReadonlySet<string> = new Set(['node', 'crash']);
/** Runs within runs each add to the error. */
const MAX_ERROR = 2_000;

type Step = ChildStep & { retry?: ChildCall['retry'] };
const GONE: ChildReport = { state: 'gone' };

/**
 * Starts the child of a step, or resumes it when it has failed before this attempt. May be called again: an attempt
 * does either once.
 */
export async function startChild(
  deps: RunDeps,
  call: ChildCall & { execution: string },
): Promise<ChildReport> {
  const actor = await beginChildStep(deps.db, call);
  if (actor === undefined) return GONE;
  const child = await readChild(deps.db, call);
  try {
    if (child === null) await triggerChild(deps, call, actor);
    else if (child.status === 'failed') await resume(deps, call, child);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return refused(deps, call, error);
  }
  return lookAtChild(deps, call);
}

async function triggerChild(
  deps: RunDeps,
  call: ChildCall & { execution: string },
  actor: { workspaceId: string; id: string | null; name: string | null },
): Promise<void> {
  const { run_id: runId, step_key: stepKey, execution, attempt, version } = call;
  const { workspaceId } = actor;
  const { id } = await findCalled(deps.db, { workspaceId, workflow: call.workflow, version });
  await triggerRun(deps, {
    actor,
    workflowId: id,
    trigger: 'workflow',
    input: call.input,
    parent: { runId, stepKey, execution, attempt },
    ...(version === undefined ? {} : { version }),
    audit: { action: 'workflow_run', details: { parent_run_id: runId, parent_step_key: stepKey } },
  });
}

async function resume(deps: DispatchDeps, step: ChildStep, child: Child): Promise<void> {
  const row = await resumeChild(deps.db, { step, childId: child.id });
  if (row !== undefined) dispatchAndWake(deps, row);
}

/** What has become of the child of a step. A child that was cancelled with this run continues with it. */
export async function lookAtChild(deps: DispatchDeps, step: Step): Promise<ChildReport> {
  const child = await readChild(deps.db, step);
  if (child === null) {
    return fail(deps, step, { message: 'The run that it started was deleted', retryable: false });
  }
  if (child.status === 'success') {
    const output = child.output ?? {};
    const finished = await finishChildStep(deps.db, step, output);
    return finished ? { state: 'success', output } : GONE;
  }
  if (child.status !== 'failed') {
    if (!(await keepChildStep(deps.db, step))) return GONE;
    return { state: child.status === 'paused' ? 'paused' : 'running' };
  }
  const { failure } = child;
  if (failure?.with_parent === true) {
    try {
      await resume(deps, step, child);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return refused(deps, step, error);
    }
    return (await keepChildStep(deps.db, step)) ? { state: 'running' } : GONE;
  }
  const error = `The run of '${child.workflow_name}' failed: ${child.error ?? 'failed'}`;
  const message = error.slice(0, MAX_ERROR);
  if (failure?.kind === 'budget') {
    return { state: 'stopped', error: message, evidence: { child_run_id: child.id } };
  }
  return fail(deps, step, { message, retryable: RETRIED.has(failure?.kind ?? 'node') });
}

async function refused(deps: DispatchDeps, step: Step, error: AppError): Promise<ChildReport> {
  if (error instanceof BudgetExceeded) {
    return { state: 'stopped', error: error.message, evidence: blockedEvidence(error.blocked) };
  }
  return fail(deps, step, { message: error.message, retryable: !FINAL.has(error.code) });
}

async function fail(
  { db }: DispatchDeps,
  step: Step,
  error: { message: string; retryable: boolean },
): Promise<ChildReport> {
  const maxAttempts = step.retry?.max_attempts ?? 1;
  const recorded = await failChildStep(db, step, { ...error, maxAttempts });
  if (recorded === undefined) return GONE;
  const { final, error: text, tries } = recorded;
  const report = { state: 'failed', error: text, attempts: tries } as const;
  if (final) return report;
  return { ...report, retry_ms: retryDelayMs(step.retry, tries) };
}
