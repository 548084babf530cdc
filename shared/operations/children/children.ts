import type { PolicyVerdict } from '#shared/contract/policies/governance.ts';
import {
  beginChildStep,
  childWaits,
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
import { childFailed } from '#shared/graph/failure-texts.ts';

/**
 * Steps that wait for a child run. Postgres decides: the child is admitted like every other run, once per step, and its
 * end is read from its row. In Temporal, its execution is not a child execution, so that both can be reset, continued
 * and lost independently. A signal tells the parent when to read the row.
 */

/** Errors that another attempt would also get. */
const FINAL: ReadonlySet<ErrorCode> = new Set(['conflict', 'input_invalid']);
/** Failures of a child after which another attempt may succeed. A person's decision is final. */
const RETRIED: ReadonlySet<string> = new Set(['node', 'crash']);

type Step = ChildStep & { retry?: ChildCall['retry'] };
type Call = ChildCall & { execution: string };
const GONE: ChildReport = { state: 'gone' };

/** The workflow that a step refers to, or why there is none. */
type Called = { id: string; name: string; version: number } | AppError;

/** The input of a child, as redacted by the policies. */
interface JudgedChild {
  revision: number;
  refusal: string | undefined;
  verdicts: readonly PolicyVerdict[];
  params: JsonObject;
  stored: JsonObject;
}

/** What the policies decide about a step, and what it stores of its child's output. */
export interface ChildRules {
  /** Judges by cached policies, or reads them again. Undefined workflow: it does not exist. */
  judge: (
    workflow: { id: string; name: string } | undefined,
    input: JsonObject,
    fresh: boolean,
  ) => Promise<JudgedChild>;
  resultOf: (output: JsonObject) => Promise<ChildResult>;
  /** For a call that a person approved: the digest of what it may start. Null for a call from an earlier release. */
  approvedTool?: string | null | undefined;
}

/** How often a workspace's policies can change while a step begins. Only a loop changes them this often. */
const MAX_REVISIONS = 20;

/**
 * Starts the child of a step, or resumes it if it failed before this attempt. Safe to repeat: an attempt does either
 * only once.
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
  // An attempt that began under earlier policies continues with its child.
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

/** Judges the step by the cached policies and begins it. If they have changed, it is judged again. */
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
 * The version to start. For an approved call, it is the approved version, even if another one was published in the
 * meantime. Throws AppError `conflict` when the name now refers to another workflow.
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
    version,
    audit: { action: 'workflow_run', details: { parent_run_id: runId, parent_step_key: stepKey } },
  });
}

async function resume(deps: DispatchDeps, step: ChildStep, child: Child): Promise<void> {
  const row = await resumeChild(deps.db, { step, childId: child.id });
  if (row !== undefined) dispatchAndWake(deps, row);
}

/** The state of a step's child. A child that was cancelled with this run continues with it. */
export async function lookAtChild(
  deps: DispatchDeps,
  step: Step,
  resultOf: ChildRules['resultOf'],
): Promise<ChildReport> {
  const child = await readChild(deps.db, step);
  if (mayContinue(child) && (await childWaits(deps.db, step))) return { state: 'running' };
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
  const message = childFailed(child.workflow_name, child.error ?? 'failed');
  if (failure?.kind === 'unrecorded') return { state: 'unrecorded', error: message };
  if (failure?.kind === 'budget') {
    return { state: 'stopped', error: message, evidence: { child_run_id: child.id } };
  }
  return fail(deps, step, { message, retryable: RETRIED.has(failure?.kind ?? 'node') });
}

/** Whether the step ends, and so continues a run that may have left its slot. */
const mayContinue = (child: Child | null): boolean =>
  child === null ||
  (child.parent_limited && (child.status === 'success' || child.status === 'failed'));

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
