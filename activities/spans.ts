import { toDollars } from '#shared/money/money.ts';
import type { StepCall } from '#shared/execution.ts';
import { nodeLabel } from '#shared/graph/compile.ts';
import { modelAttributes, nameOfModel } from '#shared/platform/tracing/model-attributes.ts';
import { agentPlace, runPlaces } from '#shared/platform/tracing/run-places.ts';
import {
  annotate,
  isTracing,
  newSpanId,
  recordSpan,
  type SpanAttributes,
  type SpanPlace,
  traced,
  tracedBelow,
} from '#shared/platform/tracing/spans.ts';
import type { Consumption } from './nodes/node.ts';
import { type AttemptOutcome, spendingOf } from './step-context.ts';

/**
 * The spans of steps, models and tools, by the GenAI semantic conventions of OpenTelemetry. They are recorded within a
 * step that is traced; anywhere else, these functions only do the work. They contain names and figures, but no content.
 */

/** One attempt at a step. */
export interface TracedAttempt {
  call: StepCall;
  /** From 1. */
  attempt: number;
  /** The number of resumes of the run when the attempt began. */
  resumes: number;
}

/** The parent of a step's spans: the run, or the agent whose turn or call the step is. */
const parentOf = ({ call: { run_id: runId, agent }, resumes }: TracedAttempt): SpanPlace =>
  agent === undefined ? runPlaces(runId, resumes).run : agentPlace(runId, resumes, agent.step_key);

/** Records an attempt at a step, in the trace of its run. */
export function tracedStep<T>(attempt: TracedAttempt, work: () => Promise<T>): Promise<T> {
  if (!isTracing()) return work();
  return tracedBelow(
    parentOf(attempt),
    { name: stepName(attempt), attributes: stepAttributes(attempt) },
    work,
  );
}

/** The outcome of the attempt in progress. */
export const annotateOutcome = (outcome: AttemptOutcome): void =>
  annotate({ 'ops.outcome': outcome });

/** Records an attempt at a tool that was computed before the step was claimed, in the last `seconds`. */
export function recordComputedStep(attempt: TracedAttempt, seconds: number): void {
  if (!isTracing()) return;
  const parent = parentOf(attempt);
  const place = { traceId: parent.traceId, spanId: newSpanId() };
  const endedAt = Date.now();
  const common = { startedAt: endedAt - seconds * 1_000, endedAt, kind: 'internal' } as const;
  const { node } = attempt.call;
  if (node.kind === 'tool') {
    const below = { traceId: place.traceId, spanId: newSpanId() };
    recordSpan({ ...common, ...toolSpan(node.tool_name), place: below, parent: place });
  }
  recordSpan({
    ...common,
    place,
    parent,
    name: stepName(attempt),
    attributes: { ...stepAttributes(attempt), 'ops.outcome': 'success' },
  });
}

/** Records the work of an agent without tools: its requests to models. */
export const tracedAgent = <T>(
  agent: { nodeId: string; label: string },
  work: () => Promise<T>,
): Promise<T> =>
  traced(
    {
      name: `invoke_agent ${agent.label}`,
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': agent.label,
        'ops.node_id': agent.nodeId,
      },
    },
    work,
  );

/** Records one request to a model, `provider/model` or `mock`, with its tokens and cost, even if it failed. */
export const tracedModel = <T extends Consumption>(
  request: {
    model: string;
    maxOutputTokens?: number | undefined;
    temperature?: number | undefined;
  },
  work: () => Promise<T>,
): Promise<T> => {
  return traced(
    {
      name: `chat ${nameOfModel(request.model).model}`,
      kind: 'client',
      attributes: {
        'gen_ai.operation.name': 'chat',
        ...modelAttributes(request.model),
        'gen_ai.request.max_tokens': request.maxOutputTokens,
        'gen_ai.request.temperature': request.temperature,
      },
    },
    async () => {
      try {
        const result = await work();
        annotate(spent(result));
        return result;
      } catch (error) {
        annotate(spent(spendingOf(error)));
        throw error;
      }
    },
  );
};

/** Records one call of a tool, by its name such as `http_request` or `custom:lookup_order`. */
export const tracedTool = <T>(tool: string, work: () => Promise<T>): Promise<T> =>
  traced(toolSpan(tool), work);

const toolSpan = (tool: string) => ({
  name: `execute_tool ${tool}`,
  attributes: {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': tool,
    'gen_ai.tool.type': 'function',
  },
});

const stepName = ({ call }: TracedAttempt): string => `step ${call.node.id}`;

const stepAttributes = ({ call, attempt }: TracedAttempt): SpanAttributes => ({
  'ops.run_id': call.run_id,
  'ops.workflow_id': call.workflow_id,
  'ops.workspace_id': call.workspace_id,
  'ops.node_id': call.node.id,
  'ops.node_label': nodeLabel(call.node),
  'ops.node_kind': call.node.kind,
  'ops.step_key': call.step_key,
  'ops.attempt': attempt,
});

/** An unknown price does not mean a cost of zero. */
const spent = ({ usage, costMicros, unpriced }: Consumption): SpanAttributes => ({
  'gen_ai.usage.input_tokens': usage?.input_tokens,
  'gen_ai.usage.output_tokens': usage?.output_tokens,
  'ops.cost_usd': unpriced === true ? undefined : toDollars(costMicros),
});
