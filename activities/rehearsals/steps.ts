import { ApplicationFailure } from '@temporalio/activity';
import type { TurnRecord } from '../../shared/agents/turn-record.ts';
import { stepDigest } from '../../shared/crypto/step-digest.ts';
import {
  findPinned,
  findRecorded,
  findRecordedCall,
  findRecordedTurn,
  type RecordedStep,
} from '../../shared/db/forks/recorded.ts';
import type { Pool } from '../../shared/db/pool.ts';
import type { StepBeginning } from '../../shared/db/runs/steps.ts';
import type { Done } from '../../shared/db/steps/done.ts';
import {
  FAILURE_NODE,
  FAILURE_RUN_GONE,
  FAILURE_UNRECORDED,
  type RehearsalRules,
  type StepCall,
} from '../../shared/execution.ts';
import { fingerprintOfCall } from '../../shared/graph/forks/fingerprint.ts';
import type { Json } from '../../shared/json.ts';
import { readArguments } from '../agents/call.ts';
import { agentProgress, reportAgentPart } from '../agents/part.ts';
import type { Attempt } from '../attempt.ts';
import { placeOf } from '../begin-judged.ts';
import type { ExecuteNodeDeps } from '../step-context.ts';
import { APPROVED, effectOf, endOf, endStep, notExecuted } from './records.ts';

async function endOfCall(
  db: Pool,
  call: StepCall,
  rules: RehearsalRules,
): Promise<(Done & { input: Json }) | undefined> {
  const { agent, run_id: runId, step_key: stepKey } = call;
  if (agent?.call !== undefined) {
    const asked = await readArguments(db, call, { ...agent, call: agent.call });
    if (asked === undefined) return undefined;
    const { args, approved } = asked;
    const place = { runId, stepKey, agentKey: agent.step_key, tool: agent.tool ?? '' };
    const effect = approved ? APPROVED : effectOf({ node: call.node, params: args });
    return endOf(call, await findRecordedCall(db, { ...place, args }), rules, effect);
  }
  const pinned = await pinnedEnd(db, call, rules);
  if (pinned !== undefined) return endOf(call, pinned, rules, undefined);
  const digest = stepDigest(fingerprintOfCall(call));
  const record =
    agent === undefined
      ? await findRecorded(db, { runId, stepKey, digest })
      : await findRecordedTurn(db, { runId, agentKey: agent.step_key, turn: agent.turn, digest });
  return endOf(call, record, rules, effectOf(call));
}

/** The pinned output of a step; for an agent with tools, the first turn answers with it. */
async function pinnedEnd(
  db: Pool,
  { node, agent, run_id: runId }: StepCall,
  { pinned = [] }: RehearsalRules,
): Promise<RecordedStep | undefined> {
  if (!pinned.includes(node.id)) return undefined;
  const found = await findPinned(db, { runId, nodeId: node.id });
  if (found === undefined || agent === undefined) return found;
  const answer: TurnRecord = { text: '', calls: [], answer: found.output };
  return { ...found, output: answer as unknown as Json };
}

/**
 * Ends a step of a rehearsal that is not executed, and returns what the workflow learns of it. Undefined when it is to be
 * executed. Throws as an attempt does: FAILURE_UNRECORDED for a step without a record.
 */
export async function rehearseStep(
  deps: Pick<ExecuteNodeDeps, 'db' | 'frames'>,
  attempt: Attempt,
  call: StepCall,
): Promise<{ output: Json } | undefined> {
  if (call.rehearsal === undefined) return undefined;
  const done = await endOfCall(deps.db, call, call.rehearsal);
  if (done === undefined) return undefined;
  const ended = await endStep(deps.db, beginningOf(attempt, call, done.input), done);
  deps.frames.wake(call.run_id);
  if (ended.state === 'gone') {
    throw ApplicationFailure.nonRetryable('The run no longer accepts this work', FAILURE_RUN_GONE);
  }
  if (ended.state === 'success') return { output: agentProgress(call, ended.output) };
  const { state, error, kind, attempts } = ended;
  const type = state === 'failed' ? FAILURE_NODE : FAILURE_UNRECORDED;
  const output = await reportAgentPart(call, { refused: kind === 'policy' }, () =>
    Promise.reject(ApplicationFailure.nonRetryable(error, type, { kind, attempts })),
  );
  return { output };
}

const beginningOf = (attempt: Attempt, call: StepCall, input: Json): StepBeginning => ({
  ...placeOf(attempt, call),
  ...notExecuted(call.workspace_id),
  execution: attempt.execution,
  input,
});
