import { ApplicationFailure } from '@temporalio/activity';
import type { TurnRecord } from '#shared/agents/turn-record.ts';
import { stepDigest } from '#shared/crypto/step-digest.ts';
import {
  findPinned,
  findRecorded,
  findRecordedCall,
  findRecordedTurn,
  type RecordedStep,
} from '#shared/db/forks/recorded.ts';
import type { Pool } from '#shared/db/pool.ts';
import type { StepBeginning } from '#shared/db/steps/beginning.ts';
import type { Done } from '#shared/db/steps/done.ts';
import { FAILURE_NODE, FAILURE_UNRECORDED, type StepCall } from '#shared/execution.ts';
import type { RehearsalRules } from '#shared/graph/call-parts.ts';
import { fingerprintOfCall } from '#shared/graph/forks/fingerprint.ts';
import { type Json, toStorable } from '#shared/json.ts';
import { judgeUntrusted } from '#shared/platform/threads/untrusted.ts';
import { readArguments } from '#activities/agents/call.ts';
import { agentProgress, reportAgentPart } from '#activities/agents/part.ts';
import type { Attempt } from '#activities/attempt.ts';
import { inputOf, placeOf } from '#activities/begin-judged.ts';
import { runGone } from '#activities/final-errors.ts';
import type { ExecuteNodeDeps } from '#activities/step-context.ts';
import { approvedCall, effectOf, endOf, endStep, notExecuted } from './records.ts';

type RehearsalDeps = Pick<ExecuteNodeDeps, 'db' | 'frames' | 'policies'>;

async function endOfCall(
  deps: RehearsalDeps,
  attempt: Attempt,
  call: StepCall,
  rules: RehearsalRules | undefined,
): Promise<(Done & { input: Json }) | undefined> {
  const { db } = deps;
  const { agent, run_id: runId, step_key: stepKey } = call;
  if (agent?.call !== undefined) {
    const asked = await readArguments(db, call, { ...agent, call: agent.call });
    if (asked === undefined) return undefined;
    const { args, approval } = asked;
    const place = { runId, stepKey, agentKey: agent.step_key, tool: agent.tool ?? '' };
    const effect = effectOf({ ...call, params: args });
    const record = await findRecordedCall(db, { ...place, args });
    const step = {
      step_key: stepKey,
      inputOf: storedInput(deps, attempt, { ...call, params: args }),
    };
    return endOf(step, record, rules, approval === undefined ? effect : approvedCall(effect));
  }
  const step = { step_key: stepKey, inputOf: storedInput(deps, attempt, call) };
  const pinned = await pinnedEnd(db, call, rules);
  if (pinned !== undefined) return endOf(step, pinned, rules, undefined);
  const digest = stepDigest(fingerprintOfCall(call));
  const record =
    agent === undefined
      ? await findRecorded(db, { runId, stepKey, digest })
      : await findRecordedTurn(db, { runId, agentKey: agent.step_key, turn: agent.turn, digest });
  const effect = effectOf(call);
  return endOf(step, record, rules, call.asks === true ? approvedCall(effect) : effect);
}

/** What a step stores as its input, by the present policies. */
const storedInput =
  ({ policies }: RehearsalDeps, { signal, place }: Attempt, call: StepCall) =>
  async (): Promise<Json> => {
    const { workspace_id: workspaceId, workflow_id: workflowId, node, params, state } = call;
    const known = await policies.refresh(workspaceId);
    const step = { workflowId, node, params, state };
    return toStorable(
      inputOf(call, await judgeUntrusted(workspaceId, known, step, { signal, place })),
    );
  };

/** The pinned output of a step. An agent with tools answers with it in the first turn. */
async function pinnedEnd(
  db: Pool,
  { node, agent, run_id: runId }: StepCall,
  { pinned = [] }: Partial<RehearsalRules> = {},
): Promise<RecordedStep | undefined> {
  if (!pinned.includes(node.id)) return undefined;
  const found = await findPinned(db, { runId, nodeId: node.id });
  if (found === undefined || agent === undefined) return found;
  const answer: TurnRecord = { text: '', calls: [], answer: found.output };
  return { ...found, output: answer as unknown as Json };
}

/**
 * Ends a step of a rehearsal or fork that is not executed, and returns what the workflow learns about it. Undefined
 * when it must be executed. Throws as an attempt does: FAILURE_UNRECORDED for a step without a record.
 */
export async function rehearseStep(
  deps: RehearsalDeps,
  attempt: Attempt,
  call: StepCall,
): Promise<{ output: Json } | undefined> {
  if (call.rehearsal === undefined && call.reuses !== true) return undefined;
  const done = await endOfCall(deps, attempt, call, call.rehearsal);
  if (done === undefined) return undefined;
  const ended = await endStep(deps.db, beginningOf(attempt, call, done.input), done);
  deps.frames.wake(call.run_id);
  if (ended.state === 'gone') throw runGone();
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
