import {
  ActivityFailure,
  ApplicationFailure,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
} from '@temporalio/workflow';
import type { AgentNode, GraphNode, ToolNode } from '../../shared/contract/graph.ts';
import { nodeLabel } from '../../shared/graph/compile.ts';
import { defaultTimeoutSeconds, type ExecutedNode } from '../../shared/graph/kinds.ts';
import { weighJson } from '../../shared/graph/json-value.ts';
import { expressionRoots } from '../../shared/graph/expression/expression.ts';
import type { ReadyNode, Scheduler } from '../../shared/graph/schedule/scheduler.ts';
import {
  parseTemplate,
  renderTemplate,
  renderValue,
} from '../../shared/graph/expression/template.ts';
import {
  type Carriage,
  FAILURE_MOVES,
  type FailedStep,
  type MoveToLongLane,
  type RunGraphInput,
  type ShortStepActivities,
  type ShortStepResult,
  type StepActivities,
  type StepCall,
} from '../../shared/execution.ts';
import type { Json, JsonObject } from '../../shared/json.ts';
import { customToolName, MAX_TOOL_TIMEOUT_SECONDS, renderUrl } from '../../shared/tools.ts';

/**
 * Temporal asks for a step this often beyond the node's own attempts: while it waits for room under a cap or a budget,
 * or the database is away. How often its worker may die is counted in the ledger.
 */
const ASKED_AGAIN = 10_000;
/** What an attempt may take beyond the node's own timeout, which it enforces itself, before its worker counts as lost. */
const GRACE_MS = 15_000;

/**
 * When a short attempt counts as lost, waiting for a slot included. It ends by itself long before; well below the time
 * after which the SDK would report that the workflow task is alive, and a signal could come in between.
 */
const SHORT_TIMEOUT = '4s';

/** Values beyond which it does not matter how many more there are. */
const MAX_WEIGHED = 1_000_000;

/** What a step needs to run, cut out of the run's state: templates resolved, nothing else sent along. */
export interface PreparedStep {
  node: ExecutedNode;
  label: string;
  params: JsonObject;
  state: JsonObject;
}

/** Throws TemplateError or ExpressionError when a template of the node does not fit the state. */
export function prepareStep(node: ExecutedNode, state: JsonObject): PreparedStep {
  return node.kind === 'agent' ? prepareAgent(node, state) : prepareTool(node, state);
}

/** Characters of results that are written in the time of one unit of work. */
const WRITTEN_PER_UNIT = 20;

/** What preparing a step took, in units of a WorkBudget: reading its templates, writing what came of them. */
export function preparingWork(node: ExecutedNode, { params, state }: PreparedStep): number {
  const texts =
    node.kind === 'agent' ? [node.prompt ?? '', node.system_prompt ?? ''] : [node.params];
  const written = weighJson([params, state], MAX_WEIGHED);
  return weighJson(texts, MAX_WEIGHED).length + written.values + written.length / WRITTEN_PER_UNIT;
}

function prepareAgent(node: AgentNode, state: JsonObject): PreparedStep {
  const { system_prompt, prompt, mock, ...rest } = node;
  const bare: AgentNode =
    mock === undefined ? rest : { ...rest, mock: { ...mock, output: undefined } };
  const params: JsonObject = {};
  if (system_prompt !== undefined) params['system_prompt'] = renderValue(system_prompt, state);
  if (prompt !== undefined) params['prompt'] = renderValue(prompt, state);
  if (mock?.output !== undefined) params['mock'] = { output: renderValue(mock.output, state) };
  return {
    node: bare,
    label: nodeLabel(node),
    params,
    state: prompt === undefined ? { ...state } : {},
  };
}

function prepareTool(node: ToolNode, state: JsonObject): PreparedStep {
  const { params: templates, ...bare } = node;
  const stripped: ToolNode = { ...bare, params: {} };
  // An expression is read as it stands; what it reads travels beside it.
  if (node.tool_name === 'json_transform') {
    const expression = templates['expression'];
    const roots = typeof expression === 'string' ? expressionRoots(expression) : [];
    const read = roots.filter((key) => Object.hasOwn(state, key));
    return {
      node: stripped,
      label: nodeLabel(node),
      params: templates,
      state: Object.fromEntries(read.map((key) => [key, state[key]!])),
    };
  }
  const params = renderValue(templates, state) as JsonObject;
  const url = templates['url'];
  if (node.tool_name === 'http_request' && typeof url === 'string') {
    params['url'] = renderUrlTemplate(url, state);
  }
  return { node: stripped, label: nodeLabel(node), params, state: {} };
}

/** Values in a URL are percent-encoded and cannot change where it leads. */
function renderUrlTemplate(template: string, state: JsonObject): string {
  const rendered = renderUrl(
    parseTemplate(template).parts.map((part) =>
      typeof part === 'string'
        ? { text: part }
        : { value: renderTemplate(`{${part.text}}`, state) },
    ),
  );
  if ('error' in rendered) throw new Error(rendered.error);
  return rendered.url;
}

/**
 * A step in the long lane, an activity. Its retry policy is for a killed worker or a database out of reach; the node's
 * own tries are counted in the ledger, and each failure names the delay to the next one.
 */
export function executeStep(
  input: RunGraphInput,
  step: Pick<ReadyNode, 'step_key' | 'iteration'>,
  prepared: PreparedStep,
  carriage: Carriage,
  { costly = false }: { costly?: boolean | undefined } = {},
): Promise<Json> {
  const { node, label } = prepared;
  const { executeNode } = proxyActivities<StepActivities>({
    taskQueue: input.steps_task_queue,
    activityId: step.step_key,
    summary: summaryOf(label),
    startToCloseTimeout: longestSeconds(node) * 1000 + GRACE_MS,
    heartbeatTimeout: input.limits.heartbeat_timeout_ms,
    retry: {
      initialInterval: '1s',
      backoffCoefficient: 2,
      maximumInterval: '30s',
      maximumAttempts: (node.retry?.max_attempts ?? 1) + ASKED_AGAIN,
    },
  });
  const call = callOf(input, step, prepared, carriage);
  return executeNode(costly ? { ...call, costly } : call);
}

/** One attempt at a step in the short lane, a local activity. See `moveOf` for its failures. */
export function executeShortStep(
  input: RunGraphInput,
  step: Pick<ReadyNode, 'step_key' | 'iteration'>,
  prepared: PreparedStep,
  carriage: Carriage,
): Promise<ShortStepResult> {
  const local = proxyLocalActivities<ShortStepActivities>({
    summary: summaryOf(prepared.label),
    scheduleToCloseTimeout: SHORT_TIMEOUT,
    retry: { maximumAttempts: 1 },
  });
  return local.executeShortStep(callOf(input, step, prepared, carriage));
}

/** How a step goes on whose short attempt has failed; undefined when the step itself has failed, or was cancelled. */
export function moveOf(error: unknown): Partial<MoveToLongLane> | undefined {
  if (isCancellation(error)) return undefined;
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (!(cause instanceof ApplicationFailure)) return {};
  if (cause.type === FAILURE_MOVES) return (cause.details?.[0] ?? {}) as MoveToLongLane;
  return cause.nonRetryable === true ? undefined : {};
}

/** The UI shows a line. */
export const summaryOf = (label: string): string => label.slice(0, 180);

const callOf = (
  input: RunGraphInput,
  { step_key, iteration }: Pick<ReadyNode, 'step_key' | 'iteration'>,
  { node, params, state }: PreparedStep,
  carriage: Carriage,
): StepCall => ({
  ...carriage,
  node,
  params,
  state,
  workspace_id: input.workspace_id,
  workflow_id: input.workflow_id,
  step_key,
  iteration,
});

function longestSeconds(node: ExecutedNode): number {
  if (node.timeout_seconds !== undefined) return node.timeout_seconds;
  const custom = node.kind === 'tool' && customToolName(node.tool_name) !== undefined;
  // It has a timeout of its own, which is not known here.
  return custom ? MAX_TOOL_TIMEOUT_SECONDS : defaultTimeoutSeconds(node);
}

/** A failed step as the ledger and the run's error tell of it. */
export function failedStep(
  scheduler: Scheduler,
  step: Pick<ReadyNode, 'step_key' | 'iteration'>,
  error: string,
  reason: FailedStep['reason'],
): FailedStep {
  const node: GraphNode = scheduler.node(step.step_key);
  return {
    step_key: step.step_key,
    node_id: node.id,
    label: nodeLabel(node),
    kind: node.kind,
    iteration: step.iteration,
    error,
    reason,
  };
}
