import { type EndedAgent, readEndedAgents } from '#shared/db/agents/ended.ts';
import type { Pool } from '#shared/db/pool.ts';
import { toDollars } from '#shared/money/money.ts';
import { modelAttributes } from '#shared/platform/tracing/model-attributes.ts';
import { agentPlace, runPlaces } from '#shared/platform/tracing/run-places.ts';
import { recordSpan } from '#shared/platform/tracing/spans.ts';

/** A run that has ended, since its last resume. */
interface EndedRun {
  runId: string;
  workspace_id: string;
  workflow_id: string;
  resumed_count: number;
  began_ms: number;
  failure_kind: string | null;
}

/**
 * Records a span for each agent with tools that ended in this part of the run: the parent of its turns and calls. It is
 * recorded with the run's span, because one caller ends the run, and then the ledger has the end of every agent.
 */
export async function recordAgentSpans(db: Pool, run: EndedRun): Promise<void> {
  const { runId, resumed_count: resumes } = run;
  for (const agent of await readEndedAgents(db, { runId, resumes })) {
    recordSpan({
      name: `invoke_agent ${agent.label}`,
      kind: 'internal',
      place: agentPlace(runId, resumes, agent.step_key),
      parent: runPlaces(runId, resumes).run,
      // A cancelled agent keeps the start that it had before the resume.
      startedAt: Math.max(agent.started_ms, run.began_ms),
      endedAt: Math.max(agent.finished_ms, run.began_ms),
      failed: agent.status === 'failed',
      attributes: attributesOf(run, agent),
    });
  }
}

const attributesOf = (run: EndedRun, agent: EndedAgent) => ({
  'gen_ai.operation.name': 'invoke_agent',
  'gen_ai.agent.name': agent.label,
  ...(agent.model === null ? {} : modelAttributes(agent.model)),
  'gen_ai.usage.input_tokens': agent.input_tokens ?? undefined,
  'gen_ai.usage.output_tokens': agent.output_tokens ?? undefined,
  'ops.run_id': run.runId,
  'ops.workflow_id': run.workflow_id,
  'ops.workspace_id': run.workspace_id,
  'ops.node_id': agent.node_id,
  'ops.step_key': agent.step_key,
  'ops.turns': agent.turns,
  'ops.tool_calls': agent.calls,
  'ops.outcome': agent.status,
  // An unknown price does not mean a cost of zero.
  'ops.cost_usd': agent.unpriced ? undefined : toDollars(agent.cost_micros),
  'error.type': agent.status === 'failed' ? (run.failure_kind ?? undefined) : undefined,
});
