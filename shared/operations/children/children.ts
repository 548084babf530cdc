import type { PolicyVerdict } from '#shared/contract/policies/governance.ts';
import {
  beginChildStep,
  type Child,
  type ChildBegun,
  type ChildResult,
  type ChildStep,
  failChildStep,
  finishChildStep,
  keepChildStep,
  readChild,
} from '#shared/db/children/steps.ts';
import { resumeChild } from '#shared/db/children/resumes.ts';
import { jsonDigest } from '#shared/crypto/json-digest.ts';
import { findCalled, targetOfWorkflow } from '#shared/db/children/called-workflows.ts';
import { blockedEvidence, BudgetExceeded } from '#shared/db/money/blocked.ts';
import { AppError, conflict, type ErrorCode } from '#shared/errors.ts';
import type { ErrorKind } from '#shared/graph/caught-error.ts';
import type { ChildReport, ChildCall } from '#shared/graph/children/child-call.ts';
import { retryDelayMs } from '#shared/graph/kinds.ts';
import { outdatedApproval } from '#shared/graph/gates/rejection.ts';
import type { JsonObject } from '#shared/json.ts';
import type { DispatchDeps } from '#shared/operations/runs/executions.ts';
import { rehearsalOfChild } from '#shared/operations/runs/rehearsals.ts';
import { dispatchAndWake, type RunDeps, triggerRun } from '#shared/operations/runs/runs.ts';
import { outputProblem } from '#shared/outside-json.ts';

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
type Call = ChildCall & { execution: string };
const GONE: ChildReport = { state: 'gone' };

/** The workflow that a step names, or why there is none. */
type Called = { id: string; name: string; version: number } | AppError;

/** The input of a child as the policies let it out. */
interface JudgedChild {
  revision: number;
  refusal: string | undefined;
  verdicts: readonly PolicyVerdict[];
  params: JsonObject;
  stored: JsonObject;
}

/** What the policies say of a step, and what it stores of its child's output. */
export interface ChildRules {
  /** By the policies as they are known, or read again. Undefined workflow: there is no such workflow. */
  judge: (
    workflow: { id: string; name: string } | undefined,
    input: JsonObject,
    fresh: boolean,
  ) => Promise<JudgedChild>;
  resultOf: (output: JsonObject) => Promise<ChildResult>;
  /** Of a call that a person approved: the digest of what it may start. Null for one of an earlier release. */
  approvedTool?: string | null | undefined;
}

/** How often the policies of a workspace may change while a step begins. Only a loop changes them this often. */
const MAX_REVISIONS = 20;

/**
 * Starts the child of a step, or resumes it when it has failed before this attempt. May be called again: an attempt
 * does either once.
 */
export async function startChild(
  deps: RunDeps,
  call: Call,
  rules: ChildRules,
): Promise<ChildReport> {
  const called = await namedBy(deps, call);
  const { begun, judged } = await beginJudged(deps, call, called, rules);
  if (begun.outcome === 'gone') return GONE;
  if (begun.outcome === 'finished') return { state: 'success', output: begun.output as JsonObject };
  if (begun.outcome === 'failed') {
    const { error, kind, attempts } = begun;
    return { state: 'failed', error, kind, attempts };
  }
  const child = await readChild(deps.db, call);
  // An attempt that began under other policies continues with its child.
  if (judged.refusal !== undefined && (!begun.again || child === null)) {
    return fail(deps, call, { message: judged.refusal, kind: 'policy', retryable: false });
  }
  try {
    if (child === null) {
      const version = versionOf(call, called, rules);
      await triggerChild(deps, { ...call, input: judged.params, version }, called, begun.actor);
    } else if (child.status === 'failed') await resume(deps, call, child);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return refused(deps, call, error);
  }
  return lookAtChild(deps, call, rules.resultOf);
}

async function namedBy(deps: RunDeps, call: Call): Promise<Called> {
  const { workspace_id: workspaceId, workflow, version } = call;
  try {
    return await findCalled(deps.db, { workspaceId, workflow, version });
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}

/** Judges the step by the known policies and begins it; when they have changed, it is judged again. */
async function beginJudged(
  deps: RunDeps,
  call: Call,
  called: Called,
  { judge }: ChildRules,
): Promise<{ begun: Exclude<ChildBegun, { outcome: 'stale' }>; judged: JudgedChild }> {
  const workflow = called instanceof AppError ? undefined : called;
  for (let round = 0; round < MAX_REVISIONS; round += 1) {
    const judged = await judge(workflow, call.input, round > 0);
    const begun = await beginChildStep(deps.db, { ...call, input: judged.stored, judged });
    if (begun.outcome !== 'stale') return { begun, judged };
  }
  throw new Error("The workspace's policies keep changing");
}

/**
 * The version to start: of an approved call, the one that was approved, even when another is published meanwhile. Throws
 * AppError `conflict` when the name has come to mean another one.
 */
function versionOf(
  { version, agent }: Call,
  called: Called,
  { approvedTool }: ChildRules,
): number | undefined {
  if (approvedTool === undefined || called instanceof AppError) return version;
  if (jsonDigest(targetOfWorkflow(called)) === approvedTool) return called.version;
  throw conflict(outdatedApproval(agent?.tool));
}

async function triggerChild(
  deps: RunDeps,
  call: Omit<Call, 'version'> & { version: number | undefined },
  called: Called,
  actor: { workspaceId: string; id: string | null; name: string | null },
): Promise<void> {
  const { run_id: runId, step_key: stepKey, execution, attempt, version } = call;
  if (called instanceof AppError) throw called;
  const ids = { workspaceId: actor.workspaceId, workflowId: called.id };
  const rehearsed =
    call.rehearsal === undefined
      ? {}
      : await rehearsalOfChild(deps, { ...ids, ...call, rules: call.rehearsal });
  await triggerRun(deps, {
    ...rehearsed,
    actor,
    workflowId: called.id,
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
export async function lookAtChild(
  deps: DispatchDeps,
  step: Step,
  resultOf: ChildRules['resultOf'],
): Promise<ChildReport> {
  const child = await readChild(deps.db, step);
  if (child === null) {
    return fail(deps, step, { message: 'The run that it started was deleted', retryable: false });
  }
  if (child.status === 'success') {
    const output = child.output ?? {};
    const problem = step.agent === undefined ? outputProblem(output) : undefined;
    if (problem !== undefined) {
      const message = `The output of the run of '${child.workflow_name}' is too large: ${problem}`;
      return fail(deps, step, { message, retryable: false });
    }
    const finished = await finishChildStep(deps.db, step, await resultOf(output));
    return finished ? { state: 'success', output } : GONE;
  }
  if (child.status === 'paused' && child.rehearses) {
    const gate =
      'waits at a gate with a question that was not decided: give a decision in decisions';
    return { state: 'unrecorded', error: `The run of '${child.workflow_name}' ${gate}` };
  }
  if (child.status !== 'failed') {
    if (!(await keepChildStep(deps.db, step, child))) return GONE;
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
    const running = { id: child.id, status: 'running' };
    return (await keepChildStep(deps.db, step, running)) ? { state: 'running' } : GONE;
  }
  const error = `The run of '${child.workflow_name}' failed: ${child.error ?? 'failed'}`;
  const message = error.slice(0, MAX_ERROR);
  if (failure?.kind === 'unrecorded') return { state: 'unrecorded', error: message };
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
  { kind = 'child', ...error }: { message: string; retryable: boolean; kind?: ErrorKind },
): Promise<ChildReport> {
  const maxAttempts = step.retry?.max_attempts ?? 1;
  const recorded = await failChildStep(db, step, { ...error, kind, maxAttempts });
  if (recorded === undefined) return GONE;
  const { final, error: text, tries } = recorded;
  const report = { state: 'failed', error: text, attempts: tries, kind } as const;
  if (final) return report;
  return { ...report, retry_ms: retryDelayMs(step.retry, tries) };
}
