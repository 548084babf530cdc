import '#console/src/parts/zod-without-eval.ts';
import {
  graphEdgeSchema,
  graphNodeSchema,
  type Graph as RunnableGraph,
  type GraphNode,
} from '#shared/contract/workflows/graph.ts';
import { evaluateExpression } from '#shared/graph/expression/expression.ts';
import { functionSignatures } from '#shared/graph/expression/functions.ts';
import { parseTemplate, renderTemplate, renderValue } from '#shared/graph/expression/template.ts';
import type { RecordedRun } from '#shared/graph/forks/play.ts';
import { nodeState } from '#shared/graph/forks/node-state.ts';
import { type RootRead, textReads } from '#shared/graph/node-texts.ts';
import { suggest } from '#shared/graph/suggest.ts';
import { readableKeys } from '#shared/graph/validate/readable-keys.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { CALLBACKS } from '#shared/values/callbacks.ts';
import { CONNECTIONS, SECRETS } from '#shared/values/secrets.ts';
import { customToolName } from '#shared/tools.ts';
import type { CustomTool, Graph, Run, Step } from '#client/index.ts';
import { evaluator as texts } from '#console/src/messages/en/workflows/authoring.ts';
import type { KnownName } from '#console/src/parts/code/completion.ts';
import { isRecord } from '#console/src/parts/data/record.ts';
import { drawingOf } from '#console/src/graph/drawn.ts';
import { enclosingOf } from '#console/src/pages/runs/trace/enclosing.ts';
import { isNodeStep } from '#console/src/pages/runs/steps/agent-steps.ts';
import { exampleOf } from './example-of.ts';
import { inputKeys } from '#console/src/pages/workflows/mistakes/checker.ts';

// Loaded on demand: the engine's own code for expressions, templates and the state of a run.

export { functionSignatures };
export { schemaOfTool } from './tool-schemas.ts';

/** The initial state of a node in a run, or why it is unknown. */
export type NodeValues = { state: JsonObject } | { problem: string };

/**
 * The initial state of the node in the run, given the present draft: the run is replayed with its recorded outputs, and
 * nothing is executed. `stepKey` is one of its steps, if it has any.
 */
export function valuesAt(
  run: Run,
  draft: Graph,
  { nodeId, stepKey }: { nodeId: string; stepKey: string | undefined },
): NodeValues {
  try {
    const found = nodeState({
      recorded: recordedOf(run),
      graph: readableGraph(draft),
      stepKey: stepKey ?? nodeId,
      state: {},
      pins: {},
    });
    return 'state' in found ? found : { problem: texts.notReached };
  } catch {
    // The check of the draft reports the problem.
    return { problem: texts.hasErrors };
  }
}

/** The item of the innermost map around a node at one of its steps; undefined if there is none. */
export function itemAt(
  run: Run,
  draft: Graph,
  at: { nodeId: string; stepKey: string },
): Json | undefined {
  const found = valuesAt(run, draft, at);
  const around = enclosingOf(drawingOf(draft)).loopOf(at.nodeId);
  const of = 'state' in found && around !== undefined ? found.state[around] : undefined;
  return isRecord(of) ? (of['item'] as Json | undefined) : undefined;
}

type DescribedTool = Pick<CustomTool, 'name' | 'response_schema'>;

/** What the API documents of tools say of the outputs of nodes, as examples by their keys in the state. */
function examplesIn(graph: RunnableGraph, tools: readonly DescribedTool[]): Map<string, unknown> {
  const examples = new Map<string, unknown>();
  for (const node of graph.nodes) {
    if (node.kind !== 'tool') continue;
    const called = customToolName(node.tool_name);
    const schema = tools.find(({ name }) => name === called)?.response_schema ?? null;
    if (schema === null) continue;
    const example = exampleOf(schema);
    // Anything but an object becomes the result of one.
    examples.set(node.output_key ?? node.id, isRecord(example) ? example : { result: example });
  }
  return examples;
}

/**
 * The names that the node's texts can read, each with its value in `state` as an example, or else with what the API
 * document of its tool says.
 */
export function namesAt(
  draft: Graph,
  schema: Record<string, unknown> | null,
  nodeId: string,
  { state, tools }: { state: JsonObject | undefined; tools: readonly DescribedTool[] },
): KnownName[] {
  const graph = readableGraph(draft);
  const others = { ...draft, nodes: draft.nodes.filter((node) => idOf(node) !== nodeId) };
  const fromSchema = isRecord(schema?.['properties']) ? Object.keys(schema['properties']) : [];
  const sources = new Map<string, string>();
  for (const { key, nodes } of readableKeys(graph, nodeId)) sources.set(key, nodes.join(', '));
  const given = fromSchema.length > 0 ? fromSchema : inputKeys(others);
  const set = new Set(graph.nodes.map(({ id }) => id));
  for (const key of [...given, ...Object.keys(state ?? {})]) {
    if (!sources.has(key)) sources.set(key, set.has(key) ? key : texts.fromInput);
  }
  const examples = examplesIn(graph, tools);
  return [...sources].map(([name, from]) => ({
    name,
    from,
    value: state !== undefined && Object.hasOwn(state, name) ? state[name] : examples.get(name),
  }));
}

export type TextLanguage = 'template' | 'expression' | 'value';

/** The value of a text with the state, or the engine's error message. References to secrets stay as written. */
export function evaluate(
  language: TextLanguage,
  text: unknown,
  state: JsonObject,
): { value: Json } | { error: string } {
  try {
    if (language === 'expression') return { value: evaluateExpression(String(text), state) };
    const given = withReferences(text, state);
    return {
      value:
        language === 'template'
          ? renderTemplate(String(text), given)
          : renderValue(text as Json, given),
    };
  } catch (error) {
    return { error: error instanceof Error ? reasonOf(error) : String(error) };
  }
}

/**
 * Keys that a text reads and that do not exist, but are close to a name, so they are probably misspelled. With their
 * offsets.
 */
export function misspelledIn(
  language: 'template' | 'expression',
  text: string,
  names: readonly KnownName[],
): { message: string; position: number }[] {
  const known = names.map(({ name }) => name);
  return readsOf(language, text).flatMap(({ key, position }) => {
    const isKnown = known.includes(key) || [SECRETS, CONNECTIONS, CALLBACKS].includes(key);
    const meant = isKnown ? undefined : suggest(key, known);
    if (meant === undefined) return [];
    return [{ message: texts.misspelled(key, meant), position }];
  });
}

function readsOf(language: 'template' | 'expression', text: string): RootRead[] {
  try {
    return textReads({ language, text, path: '' });
  } catch {
    // The error is already shown.
    return [];
  }
}

/** The text is above the message, so the message does not repeat it. */
const reasonOf = (error: Error & { reason?: unknown }): string =>
  typeof error.reason === 'string' ? error.reason : error.message;

/** The state in which each secret and callback that the texts refer to has its reference as its value. */
function withReferences(value: unknown, state: JsonObject): JsonObject {
  const texts = textsIn(value);
  const referred = (root: string): JsonObject => {
    const names = texts.flatMap((text) =>
      parseTemplate(text).parts.flatMap((part) =>
        typeof part === 'object' && part.path[0] === root ? [String(part.path[1])] : [],
      ),
    );
    if (names.length === 0) return {};
    const shown = names.map((name) => [name, `{${root}.${name}}`]);
    return { [root]: Object.fromEntries(shown) as JsonObject };
  };
  // Without a wait for a callback, it is a key like any other.
  const callbacks = Object.hasOwn(state, CALLBACKS) ? {} : referred(CALLBACKS);
  const connections = Object.hasOwn(state, CONNECTIONS) ? {} : referred(CONNECTIONS);
  return { ...state, ...referred(SECRETS), ...connections, ...callbacks };
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}

function recordedOf(run: Run): RecordedRun {
  const steps = run.steps.filter(isNodeStep);
  const ended = steps.filter(({ status, caught }) => status === 'success' || caught === true);
  const byKey = <Value>(of: readonly Step[], value: (step: Step) => Value) =>
    Object.fromEntries(of.map((step) => [step.step_key, value(step)]));
  return {
    // Only forks compare with the graph of the run.
    graph: { nodes: [], edges: [] },
    input: run.input as JsonObject,
    laid: {},
    outputs: byKey(
      ended.filter(({ caught }) => caught !== true),
      ({ output }) => (output ?? null) as Json,
    ),
    caught: byKey(
      ended.filter(({ caught }) => caught === true),
      (step) => ({
        message: step.error ?? 'failed',
        kind: step.error_kind ?? 'node',
        attempts: Math.max(1, step.attempt),
      }),
    ),
    failed: steps
      .filter(({ status, caught }) => status === 'failed' && caught !== true)
      .map(({ step_key: key }) => key),
    order: ended
      .toSorted((one, other) => (one.finished_at ?? '').localeCompare(other.finished_at ?? ''))
      .map(({ step_key: key }) => key),
    decisions: byKey(
      steps.filter(({ decision }) => decision !== undefined),
      decisionOf,
    ),
  };
}

function decisionOf({ decision, decisions, output }: Step): RecordedRun['decisions'][string] {
  const approved = decision?.approved === true;
  const given = decisions?.findLast(({ input }) => input !== undefined)?.input;
  if (given !== undefined) return { approved, input: given as JsonObject };
  if (!isRecord(output)) return { approved };
  // The output of a gate is the decision, with what the approver entered.
  const { approved: _, ...input } = output;
  return { approved, input: input as JsonObject };
}

/**
 * The graph as far as it can be read. A node with an error keeps its place, and its output is the run's. Edges without
 * a target are left out.
 */
function readableGraph({ nodes, edges }: Graph): RunnableGraph {
  const read = nodes.flatMap((node): GraphNode[] => {
    if (!isRecord(node)) return [];
    const parsed = graphNodeSchema.safeParse(node);
    const { data } = parsed.success
      ? parsed
      : graphNodeSchema.safeParse({ id: node['id'], ...standInFor(node) });
    return data === undefined ? [] : [data];
  });
  const ids = new Set(read.map(({ id }) => id));
  return {
    nodes: read,
    edges: edges.flatMap((edge) => {
      const parsed = graphEdgeSchema.safeParse(edge);
      return parsed.success && ids.has(parsed.data.source) && ids.has(parsed.data.target)
        ? [parsed.data]
        : [];
    }),
  };
}

/** The settings of a node that replaces one with an error. */
function standInFor({ kind, output_key: key }: Record<string, unknown>): Record<string, unknown> {
  const named = typeof key === 'string' && key !== '' ? { output_key: key } : {};
  switch (kind) {
    case 'condition':
    case 'loop':
      return { kind, expression: 'false' };
    case 'map':
      return { kind, items: '[]', ...named };
    case 'human_gate':
      return { kind, prompt: 'Approve?' };
    default:
      return { kind: 'tool', tool_name: 'json_transform', params: {}, ...named };
  }
}

const idOf = (node: unknown): string | undefined =>
  isRecord(node) && typeof node['id'] === 'string' ? node['id'] : undefined;
