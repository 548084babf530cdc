import { stepDigest } from '#shared/crypto/step-digest.ts';
import { findPinned, findRecorded, findRecordedCall } from '#shared/db/forks/recorded.ts';
import type { StepBeginning } from '#shared/db/steps/beginning.ts';
import type { ChildReport, ChildCall } from '#shared/graph/children/child-call.ts';
import { fingerprintOfChild } from '#shared/graph/forks/fingerprint.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import type { CallArguments } from '#activities/agents/call.ts';
import type { ExecuteNodeDeps } from '#activities/step-context.ts';
import { approvedCall, endOf, endStep, notExecuted } from './records.ts';

/** Ends a step of a rehearsal or fork that would start a run. Undefined when the run must be started. */
export async function rehearseChild(
  { db, frames }: Pick<ExecuteNodeDeps, 'db' | 'frames'>,
  call: ChildCall & { execution: string },
  {
    approval,
    inputOf,
  }: Pick<CallArguments, 'approval'> & {
    /** Its input as it is stored. */
    inputOf: () => Promise<Json>;
  },
): Promise<ChildReport | undefined> {
  const { rehearsal, reuses, agent, asks, run_id: runId, step_key: stepKey } = call;
  if (rehearsal === undefined && reuses !== true) return undefined;
  const isPinned = agent === undefined && rehearsal?.pinned?.includes(call.node_id) === true;
  const pinned = isPinned ? await findPinned(db, { runId, nodeId: call.node_id }) : undefined;
  const found =
    pinned ??
    (agent === undefined
      ? await findRecorded(db, { runId, stepKey, digest: stepDigest(fingerprintOfChild(call)) })
      : await findRecordedCall(db, {
          runId,
          stepKey,
          agentKey: agent.step_key,
          tool: agent.tool ?? '',
          args: call.input,
        }));
  const starts = { name: 'workflow' };
  const step = { step_key: stepKey, inputOf };
  const done = await endOf(
    step,
    found,
    rehearsal,
    approval === undefined && asks !== true ? starts : approvedCall(starts),
  );
  if (done === undefined) return undefined;
  const ended = await endStep(db, childBeginning(call, done.input), done);
  frames.wakeNow(runId);
  switch (ended.state) {
    case 'success':
      return { state: 'success', output: ended.output as JsonObject };
    case 'unrecorded':
      return { state: 'unrecorded', error: ended.error };
    case 'failed':
      return { state: 'failed', error: ended.error, kind: ended.kind, attempts: ended.attempts };
    default:
      return ended;
  }
}

const childBeginning = (call: ChildCall & { execution: string }, input: Json): StepBeginning => ({
  ...notExecuted(call.workspace_id),
  pendingWrites: call,
  execution: call.execution,
  stepKey: call.step_key,
  nodeId: call.node_id,
  label: call.label,
  kind: call.agent === undefined ? 'workflow' : 'tool',
  iteration: call.iteration,
  outputKey: call.output_key,
  agent: call.agent,
  input,
  queuedAt: new Date(),
});
