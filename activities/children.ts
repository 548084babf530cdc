import { activityInfo, ApplicationFailure } from '@temporalio/activity';
import { type ChildResult, readChild } from '#shared/db/children/steps.ts';
import { type ControlActivities, FAILURE_NODE } from '#shared/execution.ts';
import type { ChildReport, ChildCall, ChildPlace } from '#shared/graph/children/child-call.ts';
import type { JsonObject } from '#shared/json.ts';
import { type ChildRules, lookAtChild, startChild } from '#shared/operations/children/children.ts';
import type { RunDeps } from '#shared/operations/runs/runs.ts';
import { findChosen, targetOfChild } from '#shared/operations/gates/step-tools.ts';
import { judgeUntrusted } from '#shared/platform/threads/untrusted.ts';
import { asTool } from '#shared/tools.ts';
import {
  type CallArguments,
  readArguments,
  requireOwnApproval,
  resultForModel,
} from './agents/call.ts';
import { createRedact } from './agents/redact.ts';
import { type PermitDeps, permitStep } from './own-approval.ts';
import type { FrameNotifier } from './frame-notifier.ts';
import type { PolicyCache } from './policies.ts';
import { rehearseChild } from './rehearsals/children.ts';

export type ChildDeps = RunDeps & {
  frames: FrameNotifier;
  policies: PolicyCache;
} & Pick<PermitDeps, 'metrics'>;

/** The local activities of steps that wait for a child run. */
export function createChildActivities(
  deps: ChildDeps,
): Pick<ControlActivities, 'startChild' | 'lookAtChild'> {
  return {
    startChild: async (call) => {
      const report = await start(deps, call);
      deps.frames.wakeNow(call.run_id);
      return reportOf(call, report);
    },
    lookAtChild: async (call) => {
      const step = { ...call, execution: executionId() };
      const report = await lookAtChild(deps, step, presenting(deps, call));
      deps.frames.wakeNow(call.run_id);
      return reportOf(call, report);
    },
  };
}

async function start(deps: ChildDeps, call: ChildCall): Promise<ChildReport> {
  const judge = judging(deps, call);
  let step: ChildCall & { execution: string };
  let approval: CallArguments['approval'];
  try {
    const { agent, input } = call;
    const own: CallArguments = { args: input, history: false };
    const asked = agent === undefined ? own : await readArguments(deps.db, call, agent);
    if (asked === undefined) return { state: 'reported' };
    step = { ...call, input: asked.args, execution: executionId() };
    const { input: stored } = step;
    const recorded = await rehearseChild(deps, step, {
      ...asked,
      inputOf: async () => (await judge(undefined, stored, true)).stored,
    });
    if (recorded !== undefined) return recorded;
    requireOwnApproval(asked, agent ?? {});
    ({ approval } = asked);
    if (agent === undefined && call.rehearsal === undefined) {
      const permitted = await permitChild(deps, call);
      if ('ask' in permitted) return { state: 'asks', ask: permitted.ask };
      step.input = permitted.arguments;
      ({ approval } = permitted);
    }
  } catch (error) {
    // No one approved the call: this is a failure of the run, not of the infrastructure.
    if (!(error instanceof ApplicationFailure) || error.type !== FAILURE_NODE) throw error;
    return { state: 'failed', error: error.message, attempts: 1 };
  }
  return startChild(deps, step, {
    judge,
    approvedTool: approval?.toolDigest,
    resultOf: presenting(deps, call),
  });
}

/** What the child of a node is started with, or that the step must ask first. */
async function permitChild(deps: ChildDeps, call: ChildCall): ReturnType<typeof permitStep> {
  const { workspace_id: workspaceId, workflow, version, asks = false, bound = false } = call;
  if (!asks && !bound) return { arguments: call.input };
  // A child that has started continues under its own decisions.
  if (!asks && (await readChild(deps.db, call)) !== null) return { arguments: call.input };
  const called = await findChosen(deps.db, { workspaceId, workflow, version });
  return permitStep(deps, {
    ...{ runId: call.run_id, stepKey: call.step_key, nodeId: call.node_id, asks, bound },
    ...{ tool: asTool(workflow), arguments: call.input },
    target: () => targetOfChild(called),
    redact: createRedact(workspaceId, deps.policies.known(workspaceId), {}),
  });
}

/** What the workflow learns. It contains nothing of an agent's conversation, which would stay in the history. */
function reportOf({ agent }: ChildPlace, report: ChildReport): ChildReport {
  if (agent === undefined) return report;
  if (report.state === 'success') return { ...report, output: {} };
  if (report.state !== 'failed' || report.retry_ms !== undefined) return report;
  // As for other calls, a refusal by the policies never fails the agent.
  return agent.fails === true && report.kind !== 'policy' ? report : { state: 'reported' };
}

/**
 * The policies judge the start of a child like a tool call, under the name in the graph and under the workflow's id and
 * name.
 */
const judging =
  ({ policies }: ChildDeps, call: ChildCall): ChildRules['judge'] =>
  async (workflow, input, fresh) => {
    const { workspace_id: workspaceId, workflow_id: workflowId, node_id: nodeId } = call;
    const known = fresh ? await policies.refresh(workspaceId) : policies.known(workspaceId);
    const { revision } = known;
    const tool_name = asTool(call.workflow);
    const aliases = workflow === undefined ? [] : [asTool(workflow.id), asTool(workflow.name)];
    const node = { id: nodeId, kind: 'tool', tool_name, params: {} } as const;
    const step = { workflowId, node, params: input, state: {}, aliases };
    return { ...(await judgeUntrusted(workspaceId, known, step)), revision };
  };

/** The result of an agent's call is redacted and truncated before the model reads it. */
const presenting =
  ({ policies }: ChildDeps, { workspace_id: workspaceId, agent }: ChildPlace) =>
  async (output: JsonObject): Promise<ChildResult> => {
    if (agent === undefined) return { output, verdicts: [] };
    const redact = createRedact(workspaceId, policies.known(workspaceId), {});
    const { result, verdicts } = await resultForModel(output, redact);
    return { output: result, verdicts };
  };

/** The Temporal run id of the execution that calls the activity. */
export function executionId(): string {
  const { workflowExecution } = activityInfo();
  if (workflowExecution === undefined) {
    throw ApplicationFailure.nonRetryable('Only a workflow may call this activity');
  }
  return workflowExecution.runId;
}
