import { createHash } from 'node:crypto';
import type { ToolNode } from '#shared/contract/workflows/graph.ts';
import { nodeLabel } from '#shared/graph/compile.ts';
import { defaultTimeoutSeconds, type ExecutedNode } from '#shared/graph/kinds.ts';
import { usesApprover } from '#shared/graph/node-approval.ts';
import type { CustomTool } from '#shared/db/tools/custom-tools.ts';
import type { StepCall } from '#shared/execution.ts';
import type { Json } from '#shared/json.ts';
import { outputProblem } from '#shared/outside-json.ts';
import { judgeUntrusted, type Place } from '#shared/platform/threads/untrusted.ts';
import { resultForModel } from './agents/call.ts';
import { createLiveAnswer } from './agents/live-answer.ts';
import { createRedact, type Redact } from './agents/redact.ts';
import { runTurn, type TurnContext } from './agents/turn.ts';
import type { Attempt } from './attempt.ts';
import { type Consumption, type NodeCall, NodeError, type NodeResult } from './nodes/node.ts';
import { readApproverAccount, readRunAccount } from '#shared/db/connections/starters.ts';
import { closeSignInWait } from '#shared/db/waits/sign-ins.ts';
import { beginCode, keepLog } from '#shared/db/steps/step-code.ts';
import { recordStepVerdict } from '#shared/db/policies/governance.ts';
import { runGone } from './final-errors.ts';
import { tracedAgent, tracedTool } from './spans.ts';
import { type Claim, type ExecuteNodeDeps, spendingOf } from './step-context.ts';
import { whileAlive } from './until-stored.ts';
import { outputTooLarge, timedOut } from '#shared/graph/failure-texts.ts';

/** Never aborted. */
const NEVER = new AbortController().signal;

type RunningClaim = Omit<Claim, 'beginning' | 'counted' | 'limited' | 'attempts' | 'turn'> & {
  turn?: TurnContext | undefined;
};

export async function runNode(
  deps: ExecuteNodeDeps,
  attempt: Attempt,
  call: StepCall,
  claim: RunningClaim,
  mayFallBack?: (model: string) => Promise<boolean>,
): Promise<{ output: Json } & Consumption> {
  const { node } = call;
  const timeout = timeoutOf(node, claim.customTool);
  const common = {
    workspaceId: call.workspace_id,
    workflowId: call.workflow_id,
    runId: call.run_id,
    stepKey: call.step_key,
    attempt: claim.errors + 1,
    idempotencyKey: `${call.run_id}:${call.step_key}:${claim.generation}`,
    budgeted: claim.budgeted,
    prices: claim.prices,
    customTool: claim.customTool,
    approved: claim.approval !== undefined,
    secrets: claim.secrets,
    params: call.params,
    state: call.state,
    code: codeOf(deps, attempt, call),
    place: attempt.place,
    signal: AbortSignal.any([attempt.signal, timeout.signal]),
  };
  try {
    const result = await runKind(deps, attempt, call, claim, common, mayFallBack);
    const problem = outputProblem(result.output);
    if (problem === undefined) return result;
    throw new NodeError(outputTooLarge(problem), {
      retryable: false,
      consumption: result,
    });
  } catch (error) {
    if (!timeout.signal.aborted || attempt.signal.aborted) throw error;
    throw new NodeError(timedOut(timeout.seconds), {
      cause: error,
      kind: 'timeout',
      consumption: spendingOf(error),
    });
  } finally {
    timeout.clear();
  }
}

/** Runs the work of a node's kind, or of a part of an agent with tools. */
async function runKind(
  deps: ExecuteNodeDeps,
  attempt: Attempt,
  call: StepCall,
  claim: RunningClaim,
  common: Omit<NodeCall, 'node'>,
  mayFallBack: NodeCall['mayFallBack'],
): Promise<NodeResult> {
  const { node } = call;
  const { signal } = common;
  const redactor = (place?: Place): Redact =>
    createRedact(call.workspace_id, deps.policies.known(call.workspace_id), { signal, place });
  if (node.kind === 'tool') {
    const redirectRefusal = redirectsOf(deps, attempt, { ...call, node }, claim);
    const asked = { ...common, node, redirectRefusal };
    const result = await withTokens(deps, call, claim, (secrets) =>
      tracedTool(node.tool_name, () => deps.runners.tool({ ...asked, secrets })),
    );
    return call.agent === undefined
      ? result
      : forModel(deps, attempt, call, claim, result, redactor());
  }
  if (node.kind === 'code') return deps.runners.code({ ...common, node });
  const { turn } = claim;
  const live = createLiveAnswer(deps.deltas, {
    run_id: call.run_id,
    step_key: turn?.agent.step_key ?? call.step_key,
    turn: turn?.agent.turn ?? 1,
  });
  const asked = { ...common, node, mayFallBack, onText: live.onText };
  try {
    if (turn !== undefined) {
      const examining = { redact: redactor(attempt.place), place: attempt.place };
      return await runTurn(deps.runners.turn, asked, turn, examining);
    }
    const agent = { nodeId: node.id, label: nodeLabel(node) };
    return await tracedAgent(agent, () => deps.runners.agent(asked));
  } finally {
    // Before the end is recorded, because otherwise a reader would see the text after it.
    await live.end();
  }
}

/**
 * Runs a tool with the tokens of the connections that its parameters or headers contain. A step that has them does not wait
 * for a sign-in any more.
 */
async function withTokens(
  { db, connectionTokens }: ExecuteNodeDeps,
  { node, workspace_id: workspaceId, run_id, step_key, waited }: StepCall,
  { secrets, approval }: RunningClaim,
  run: (secrets: NodeCall['secrets']) => Promise<NodeResult>,
): Promise<NodeResult> {
  const names = secrets?.connections ?? [];
  const runOnce = async (opened: NodeCall['secrets']): Promise<NodeResult> => {
    if (names.length > 0 || waited === true) await closeSignInWait(db, { run_id, step_key });
    return run(opened);
  };
  if (secrets === undefined) return runOnce(undefined);
  const account = () =>
    usesApprover(node)
      ? readApproverAccount(db, { workspaceId, memberId: approval?.approver ?? null })
      : readRunAccount(db, { workspaceId, runId: run_id });
  return connectionTokens.use({ workspaceId, names, account }, secrets, runOnce);
}

/** A redirect leads to another address, which is judged like the first. A refusal is recorded. */
const redirectsOf =
  (
    { db, policies }: ExecuteNodeDeps,
    attempt: Attempt,
    call: StepCall & { node: ToolNode },
    { claim }: Pick<Claim, 'claim'>,
  ) =>
  async ({ href: url }: URL): Promise<string | undefined> => {
    const { workspace_id: workspaceId, workflow_id: workflowId, node } = call;
    const step = { workflowId, node, params: { url }, state: {} };
    const { refusal, verdicts } = await judgeUntrusted(
      workspaceId,
      policies.known(workspaceId),
      step,
      { signal: attempt.signal, patient: true },
    );
    if (refusal === undefined) return undefined;
    const { run_id: runId, step_key: stepKey } = call;
    for (const verdict of verdicts) {
      await whileAlive(attempt, () => recordStepVerdict(db, { runId, stepKey, claim }, verdict));
    }
    return refusal;
  };

/** The result of an agent's call as the model reads it. What was redacted is recorded with the step. */
async function forModel(
  deps: ExecuteNodeDeps,
  attempt: Attempt,
  { run_id: runId, step_key: stepKey }: StepCall,
  claim: Pick<Claim, 'claim'>,
  result: NodeResult,
  redact: Redact,
): Promise<NodeResult> {
  const { result: output, verdicts } = await resultForModel(result.output, redact);
  for (const verdict of verdicts) {
    const step = { runId, stepKey, claim: claim.claim };
    await whileAlive(attempt, () => recordStepVerdict(deps.db, step, verdict));
  }
  return { ...result, output };
}

/** The beginning and the log of code are kept with the step. */
function codeOf(
  { db, metrics }: ExecuteNodeDeps,
  attempt: Attempt,
  { run_id: runId, step_key: stepKey }: StepCall,
): NodeCall['code'] {
  const seed = createHash('sha256').update(`${runId} ${stepKey}`).digest('hex');
  return {
    begin: async () => {
      const begun = await whileAlive(attempt, () => beginCode(db, { runId, stepKey, seed }));
      if (begun === undefined) throw runGone();
      return begun;
    },
    keepLog: (log) => whileAlive(attempt, () => keepLog(db, { runId, stepKey, log })),
    exceeded: (resource) => metrics?.codeExceeded(resource),
  };
}

function timeoutOf(node: ExecutedNode, customTool: CustomTool | undefined) {
  // Code has only its processor time: waiting for a thread does not count.
  const isCode = node.kind === 'code' || customTool?.kind === 'code';
  if (isCode) return { seconds: 0, signal: NEVER, clear: () => undefined };
  const seconds = node.timeout_seconds ?? defaultTimeoutSeconds(node);
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), seconds * 1000);
  return { seconds, signal: controller.signal, clear: () => clearTimeout(timer) };
}
