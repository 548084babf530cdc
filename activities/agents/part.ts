import { ApplicationFailure } from '@temporalio/activity';
import {
  type CallProgress,
  progressOf,
  type TurnProgress,
  type TurnRecord,
} from '#shared/agents/turn-record.ts';
import type { StreamFrame } from '#shared/contract/runs/stream.ts';
import { FAILURE_NODE, type StepCall } from '#shared/execution.ts';
import type { AgentPart } from '#shared/graph/call-parts.ts';
import type { Json } from '#shared/json.ts';
import { toDollars } from '#shared/money/money.ts';
import type { Consumption } from '#activities/nodes/node.ts';
import type { Attempt } from '#activities/attempt.ts';
import type { ExecuteNodeDeps } from '#activities/step-context.ts';
import { type CallApproval, readArguments, requireOwnApproval } from './call.ts';
import { resolveTools } from './tools.ts';
import { readTurnContext, type TurnContext } from './turn.ts';

/**
 * The parts of an agent with tools are steps like any other: claimed, judged, retried and recorded by the same code.
 * Only this differs: where their input comes from, and what the workflow learns about their result.
 */

/**
 * For a tool call, the call with its arguments and approval; for a turn, with its context, which is read while the turn
 * is judged and claimed. Undefined for a call that is not made again. Any other step is returned unchanged.
 */
export async function prepareAgentPart(
  { db, recentCalls }: Pick<ExecuteNodeDeps, 'db' | 'recentCalls'>,
  call: StepCall,
  { execution, number }: Attempt,
): Promise<
  { call: StepCall; approval?: CallApproval | undefined; turn?: Promise<TurnContext> } | undefined
> {
  const { agent, node, run_id: runId, step_key: stepKey } = call;
  if (agent === undefined) return { call };
  if (isCall(agent)) {
    const recent = recentCalls.take({ execution, runId, stepKey });
    const asked =
      number === 1 && recent !== undefined ? undefined : await readArguments(db, call, agent);
    requireOwnApproval(asked, agent);
    const params = asked === undefined ? recent : asked.args;
    if (params === undefined) return undefined;
    return { call: { ...call, params }, approval: asked?.approval };
  }
  if (node.kind !== 'agent') throw new Error('Only an agent has turns');
  const tools = await resolveTools(db, call.workspace_id, node);
  const turn = readTurnContext(db, { ...call, agent }, tools);
  // Awaited after the step is claimed, if it is.
  turn.catch(() => undefined);
  return { call, turn };
}

/** Call this after a turn is stored: its calls will probably come to this worker next. */
export function keepCalls(
  { recentCalls }: Pick<ExecuteNodeDeps, 'recentCalls'>,
  { agent, run_id: runId }: StepCall,
  { execution }: Attempt,
  output: Json,
): void {
  if (agent === undefined || isCall(agent)) return;
  const { step_key: agentKey, turn } = agent;
  recentCalls.keep({ execution, runId, agentKey, turn }, output as unknown as TurnRecord);
}

const isCall = (agent: AgentPart): agent is AgentPart & { call: number } =>
  agent.call !== undefined;

/**
 * What the workflow learns about a finished part. It contains nothing of the conversation, since results stay in the
 * history.
 */
export function agentProgress({ agent }: StepCall, output: Json | undefined): Json {
  if (agent === undefined) return output ?? null;
  const progress: TurnProgress | CallProgress = isCall(agent)
    ? { ended: output === undefined ? 'failed' : 'success' }
    : progressOf(output as unknown as TurnRecord);
  return progress as unknown as Json;
}

/**
 * Reports a call that has failed permanently to the model, unless it fails the agent. A call that the policies refused
 * is always reported.
 */
export async function reportAgentPart(
  call: StepCall,
  { refused }: { refused: boolean },
  work: () => Promise<Json>,
): Promise<Json> {
  try {
    return agentProgress(call, await work());
  } catch (error) {
    if (!reportsFailure(call, refused, error)) throw error;
    return agentProgress(call, undefined);
  }
}

function reportsFailure({ agent }: StepCall, refused: boolean, error: unknown): boolean {
  if (agent === undefined || !isCall(agent)) return false;
  if (!(error instanceof ApplicationFailure) || error.nonRetryable !== true) return false;
  return error.type === FAILURE_NODE && (refused || agent.fails !== true);
}

/** The frame of a finished turn. Other steps have their usual frame. */
export function turnFrame(
  { agent, node, run_id }: StepCall,
  { output, usage, costMicros }: { output: Json } & Consumption,
): StreamFrame | undefined {
  if (agent === undefined || isCall(agent)) return undefined;
  return {
    run_id,
    type: 'agent_turn',
    node_id: node.id,
    step_key: agent.step_key,
    turn: agent.turn,
    calls: (output as unknown as TurnRecord).calls.length,
    usage,
    cost_usd: toDollars(costMicros),
  };
}
