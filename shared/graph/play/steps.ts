import type { AgentNode, CodeNode, ToolNode } from '#shared/contract/workflows/graph.ts';
import { messageOf } from '#shared/errors.ts';
import { nodeLabel } from '#shared/graph/compile.ts';
import { evaluateExpression, ExpressionError } from '#shared/graph/expression/expression.ts';
import { defaultTimeoutSeconds, type ExecutedNode } from '#shared/graph/kinds.ts';
import { prepareStep, type PreparedStep } from '#shared/graph/prepare/step.ts';
import type { ReadyNode } from '#shared/graph/schedule/scheduler.ts';
import { callbacksOf } from '#shared/graph/waits/callbacks.ts';
import type { JsonObject } from '#shared/json.ts';
import { NodeError } from '#shared/node-error.ts';
import { customToolName, isTimer, parseDelay } from '#shared/tools.ts';
import { type Answer, answerOf, outputOf, type Place } from './answers.ts';
import { askModel } from './models.ts';
import { startWork, type Work } from './attempts.ts';
import { permitted } from './gates.ts';
import type { Mock } from './mock.ts';
import { PlayError } from './play-error.ts';
import { entryOf, failStep, keyOf, type Playing } from './playing.ts';
import type { StepEntry } from './step-book.ts';

/** Starts the step of an agent without tools, a tool or code. */
export function startStep(run: Playing, step: ReadyNode, node: ExecutedNode): void {
  const { step_key: key, iteration } = step;
  const entry = {
    ...{ step_key: key, node_id: node.id, label: nodeLabel(node), kind: node.kind, iteration },
  };
  let prepared: PreparedStep;
  try {
    prepared = prepareStep(node, run.scheduler.state(key), callbacksOf(run.graph));
  } catch (error) {
    run.book.begin(entry, 'running');
    failStep(run, key, { message: messageOf(error), kind: 'node', attempts: 1 });
    return;
  }
  switch (node.kind) {
    case 'tool':
      startTool(run, step, node, { prepared, entry });
      return;
    case 'agent':
      startWork(run, agentWork(run, step, node, { prepared, entry }));
      return;
    case 'code':
      startWork(run, codeWork(run, step, node, { prepared, entry }));
      return;
    default:
      node satisfies never;
  }
}

interface Prepared {
  prepared: PreparedStep;
  entry: StepEntry;
}

/** The ends of a node's step. */
export const endsOf = (run: Playing, key: string): Pick<Work, 'succeeded' | 'failed'> => ({
  succeeded: (output) => {
    run.book.succeed(key, output);
    run.scheduler.complete(key, output);
  },
  failed: (error) => failStep(run, key, error),
});

function startTool(
  run: Playing,
  step: ReadyNode,
  node: ToolNode,
  { prepared, entry }: Prepared,
): void {
  const { params, state } = prepared;
  const args = permitted(run, step, { args: params, tool: node.tool_name, entry });
  if (args === undefined) return;
  const { retry, timeoutSeconds } = rulesOf(run, node);
  const own = mockOfNode(run, node.id);
  startWork(run, {
    ...{ entry, input: args, retry, ...endsOf(run, step.step_key) },
    timeoutSeconds: own === undefined && isTimer(node.tool_name) ? undefined : timeoutSeconds,
    perform: (attempt) => {
      const place = { ...placeOf(step, attempt), tool: node.tool_name };
      return own === undefined
        ? callTool(run, node.tool_name, { args, state, place })
        : answerOf(run, own, { args, place, named: namedOf(run, node.id) });
    },
  });
}

/** How often and for how long a tool is tried: a node without settings has those of its custom tool. */
export function rulesOf(
  { world }: Playing,
  node: Pick<ToolNode, 'kind' | 'tool_name' | 'retry' | 'timeout_seconds'>,
): Pick<Work, 'retry' | 'timeoutSeconds'> {
  const custom = world.tools.get(customToolName(node.tool_name) ?? '');
  const retry =
    node.retry ??
    (custom?.retry_count === undefined
      ? undefined
      : { max_attempts: 1 + custom.retry_count, initial_interval_seconds: 1, backoff: 2 });
  const seconds = node.timeout_seconds ?? custom?.timeout_seconds;
  return { retry, timeoutSeconds: seconds ?? defaultTimeoutSeconds(node as ToolNode) };
}

/** Calls a tool: the built-in ones that only compute or wait, and for all others the mock. */
export async function callTool(
  run: Playing,
  tool: string,
  { args, state, place }: { args: JsonObject; state: JsonObject; place: Place },
): Promise<Answer> {
  const { tools = {} } = run.world.options.mocks ?? {};
  if (Object.hasOwn(tools, tool)) {
    return answerOf(run, tools[tool], { args, place, named: `mocks.tools['${tool}']` });
  }
  if (tool === 'json_transform') return transform(args, state);
  if (isTimer(tool)) {
    const delay = parseDelay(args);
    if ('error' in delay) return failed(delay.error);
    return { seconds: delay.seconds, output: { delayed_seconds: delay.seconds } };
  }
  const key = keyOf(run.name, place.node_id);
  const ofAgent = run.scheduler.node(place.at).kind === 'agent';
  const places = ofAgent
    ? `mocks.tools['${tool}']`
    : `mocks.nodes['${key}'] or mocks.tools['${tool}']`;
  throw new PlayError(
    `Node '${key}' calls the tool '${tool}', which is not called in a test: give its result in ${places}, such as ${exampleOf(tool)}`,
  );
}

const exampleOf = (tool: string): string =>
  tool === 'http_request' ? '{ status: 200, headers: {}, body: {} }' : '{ ok: true }';

const failed = (message: string): Answer => ({
  seconds: 0,
  error: new NodeError(message, { retryable: false }),
});

function transform(args: JsonObject, state: JsonObject): Answer {
  const { expression } = args;
  if (typeof expression !== 'string' || expression === '') {
    return failed("json_transform: 'expression' must be a text");
  }
  try {
    return outputOf(evaluateExpression(expression, state), 0);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return failed(`json_transform: ${error.message}`);
  }
}

function agentWork(
  run: Playing,
  step: ReadyNode,
  node: AgentNode,
  { prepared, entry }: Prepared,
): Work {
  const { params, state } = prepared;
  return {
    ...{ entry, input: { model: node.model, ...params }, retry: node.retry },
    timeoutSeconds: node.timeout_seconds ?? defaultTimeoutSeconds(node),
    ...endsOf(run, step.step_key),
    perform: (attempt) => askModel(run, node, { params, state, place: placeOf(step, attempt) }),
  };
}

function codeWork(
  run: Playing,
  step: ReadyNode,
  node: CodeNode,
  { prepared, entry }: Prepared,
): Work {
  return {
    ...{ entry, input: {}, retry: node.retry, timeoutSeconds: undefined },
    ...endsOf(run, step.step_key),
    perform: async (attempt) => {
      const mock = mockOfNode(run, node.id);
      if (mock === undefined) {
        const key = keyOf(run.name, node.id);
        throw new PlayError(
          `Node '${key}' is code, which only the sandbox of the service executes: give its result in mocks.nodes['${key}'], a value or a function of the state`,
        );
      }
      const place = placeOf(step, attempt);
      return answerOf(run, mock, { args: prepared.state, place, named: namedOf(run, node.id) });
    },
  };
}

export const placeOf = ({ node_id, step_key, iteration }: ReadyNode, attempt: number): Place => ({
  node_id,
  step_key,
  at: step_key,
  iteration: [...iteration],
  attempt,
});

/** The mock of a node, if there is one; an explicit `undefined` is one, too. */
export function mockOfNode(run: Playing, nodeId: string): Exclude<Mock, undefined> | undefined {
  const { nodes = {} } = run.world.options.mocks ?? {};
  const key = keyOf(run.name, nodeId);
  return Object.hasOwn(nodes, key) ? (entryOf(run, nodes, nodeId) ?? (() => null)) : undefined;
}

export const namedOf = (run: Playing, nodeId: string): string =>
  `mocks.nodes['${keyOf(run.name, nodeId)}']`;
