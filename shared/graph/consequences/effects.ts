import type { AgentTool, GraphNode, MapNode } from '#shared/contract/workflows/graph.ts';
import { nodeLabel } from '#shared/graph/compile.ts';
import { customFacts } from '#shared/graph/dry-run/attempts.ts';
import type { Bounds } from '#shared/graph/dry-run/bounds.ts';
import type { Knowledge } from '#shared/graph/dry-run/knowledge.ts';
import { withPureSteps } from '#shared/graph/dry-run/pure-steps.ts';
import { hostsOf } from '#shared/graph/dry-run/outside.ts';
import { readNode } from '#shared/graph/dry-run/texts.ts';
import { evaluateExpression, ExpressionError } from '#shared/graph/expression/expression.ts';
import { isChild, isExecuted } from '#shared/graph/kinds.ts';
import { approvalOf } from '#shared/graph/node-approval.ts';
import { agentToolsOf } from '#shared/graph/node-tools.ts';
import type { RunState } from '#shared/graph/schedule/run-state.ts';
import { isItemCaught } from '#shared/graph/schedule/settle.ts';
import type { Json } from '#shared/json.ts';
import { isPureTool, isTimer, workflowOf, writes } from '#shared/tools.ts';
import { type KnownArguments, knownArguments } from './arguments.ts';
import { type ManyItems, manyItems } from './many-items.ts';
import type { Walked } from './walked.ts';

/** What decides whether an effect happens. */
interface Decider {
  node_id: string;
  /** What leads there: a result of a condition or a loop, or the error or success of another node. */
  when: 'true' | 'false' | 'error' | 'success';
  /** Of a condition or loop. */
  expression?: string;
}

/** A step that an answer sets in motion. */
export interface Effect extends KnownArguments {
  node_id: string;
  /** With `*` for iterations and items that are not known, like `pay#2.*`. */
  step_key: string;
  label: string;
  kind: 'tool' | 'agent' | 'workflow';
  tool?: string;
  /** `certain`: unless the run fails or is cancelled. `per_item`: for each item of a map, or iteration of a loop. */
  certainty: 'certain' | 'conditional' | 'per_item';
  conditions: Decider[];
  /** How often it can be executed, if that can be more than once. */
  executions?: Bounds;
  /** `write`: it can change data or another system. */
  effect: 'read' | 'write';
  /** Absent if it calls no other system; `at_run_time` if it is not known. */
  host?: string;
  /** The tools that an agent offers its model, and which calls need approval: `always`, `never` or an expression. */
  may_call?: { tool: string; approval: string }[];
  /** When it asks for approval before it is executed, if that is not known: an expression. */
  approval?: string;
  /** Of one execution, in micro-dollars. */
  cost: Bounds;
  /** For each item of a map with known items, if they are too many to list one by one. */
  items?: ManyItems;
  /** Of each item, one after the other: see `ITEM_DIGEST`. */
  digests?: string;
}

type EffectNode = Extract<GraphNode, { kind: Effect['kind'] }>;

/** Whether a node reaches a model, a tool or another run. */
export const isEffect = (node: GraphNode): node is EffectNode =>
  isChild(node) ||
  (isExecuted(node) &&
    node.kind !== 'code' &&
    !(node.kind === 'tool' && (isPureTool(node.tool_name) || isTimer(node.tool_name))));

/** The maximum number of items of a map that are listed one by one. */
const MAX_ITEMS = 100;

/** The effects of one node of the rest: one, or one for each item of the map around it. */
export function effectsAt(walked: Walked, at: number): Effect[] {
  const { layout, run, free, knowledge } = walked;
  const executions = free.executions[at]!;
  const mayAsk = asksFirst(walked, at);
  const isSure = (least: number): boolean =>
    executions.min >= least && !mayAsk && !canBeStopped(run);
  const around = layout.around[at]!;
  if (around.length === 0) {
    const certainty = isSure(1) ? 'certain' : 'conditional';
    return [{ ...effectOf(walked, at, knowledge), certainty }];
  }
  const items = knownItems(walked, at);
  const { id } = layout.nodes[around[0]!]!;
  const withinItem = (item: Json, index: number): Knowledge =>
    withPureSteps(withItem(knowledge, id, { item, index }), layout.nodes, walked.compute);
  if (items === undefined || items.length > MAX_ITEMS) {
    const node = layout.nodes[at]! as EffectNode;
    const known = (items ?? []).map((item, index) =>
      knownArguments(node, readNode(withinItem(item, index), at, node)),
    );
    const many = manyItems(known, walked.facts.digestOf);
    return [{ ...effectOf(walked, at, knowledge), certainty: 'per_item', executions, ...many }];
  }
  const certainty = isSure(items.length) ? 'certain' : 'conditional';
  return items.map((item, index) => {
    const step_key = keyOf(walked, at, index + 1);
    return { ...effectOf(walked, at, withinItem(item, index)), step_key, certainty };
  });
}

/** What is known in one item of a map. `value`: of the map's key in it; undefined if it only counts as known. */
export const withItem = (knowledge: Knowledge, id: string, value: Json | undefined): Knowledge => ({
  ...knowledge,
  at: (reader, key, apart) => {
    const found = knowledge.at(reader, key, apart);
    const isItem = key === id && !found.known && found.fields !== undefined;
    return isItem ? { known: true, value } : found;
  },
});

/** Whether a step may ask before it is executed. An agent begins, and asks for its calls. */
const asksFirst = ({ layout, free }: Walked, at: number): boolean =>
  free.examined[at]!.waits === 'maybe' && approvalOf(layout.nodes[at]!) !== undefined;

function effectOf(walked: Walked, at: number, known: Knowledge): Omit<Effect, 'certainty'> {
  const node = walked.layout.nodes[at]! as EffectNode;
  const given = knownArguments(node, readNode(known, at, node));
  return {
    node_id: node.id,
    step_key: keyOf(walked, at),
    label: nodeLabel(node),
    kind: node.kind,
    ...(node.kind === 'tool' ? { tool: node.tool_name } : {}),
    conditions: decidersOf(walked, at),
    ...(asksFirst(walked, at) ? { approval: approvalOf(node)?.when } : {}),
    ...given,
    ...outsideOf(walked, node, given),
    cost: walked.free.examined[at]!.cost,
  };
}

/** Whether a failure outside of the scope, in an item around its map, ends the scope. */
const canBeStopped = ({ item }: RunState): boolean =>
  item !== undefined && (isItemCaught(item.parent) || canBeStopped(item.parent));

function outsideOf(
  { facts: { request } }: Walked,
  node: EffectNode,
  given: KnownArguments,
): Pick<Effect, 'effect' | 'host' | 'may_call'> {
  if (node.kind === 'workflow') return { effect: 'write' };
  const isReadOnly = (tool: string) => customFacts(tool, request.customTools)?.readOnly === true;
  const [host] = hostsOf(
    node.kind === 'tool' ? { ...node, params: given.arguments } : node,
    request.customTools,
  );
  if (node.kind === 'tool') {
    const { method = 'GET' } = given.arguments;
    const onlyReads = isReadOnly(node.tool_name) || !writes(node.tool_name, method);
    const effect = onlyReads ? 'read' : 'write';
    return { effect, ...(host === undefined ? {} : { host }) };
  }
  const tools = agentToolsOf(node);
  if (tools.length === 0) return { effect: 'read' };
  const may_call = tools.map(({ name, approval = 'never' }) => ({ tool: name, approval }));
  const some = tools.some((tool) => canWrite(tool) && !isReadOnly(tool.name));
  return { effect: some ? 'write' : 'read', may_call };
}

export const canWrite = ({ name, fixed = {} }: AgentTool): boolean =>
  workflowOf(name) !== undefined || writes(name, fixed['method']);

/** The key of a node's step. `item`: of the map that is directly around it. */
function keyOf({ rest, whole }: Walked, at: number, item?: number): string {
  const { node, iteration } = rest.places[at]!;
  const { id } = rest.nodes[at]!;
  const known = item === undefined ? iteration : [...iteration, item];
  const all = whole.around[node]!.map((_, depth) => known[depth] ?? '*');
  return all.length === 0 ? id : `${id}#${all.join('.')}`;
}

/** The items of the map that is all there is around a node of the rest, if they are known. */
function knownItems(walked: Walked, at: number): readonly Json[] | undefined {
  const { layout, rest } = walked;
  const [head, ...others] = layout.around[at]!;
  const map = layout.nodes[head!]!;
  if (others.length > 0 || map.kind !== 'map') return undefined;
  const items = rest.places[head!]!.items ?? evaluatedItems(walked, head!, map);
  return Array.isArray(items) ? items : undefined;
}

function evaluatedItems({ facts, knowledge }: Walked, at: number, map: MapNode): Json | undefined {
  const reading = readNode(knowledge, at, map);
  if (reading.fit() !== 'known') return undefined;
  try {
    return evaluateExpression(map.items, reading.state, facts.budget);
  } catch (error) {
    if (error instanceof ExpressionError) return undefined;
    throw error;
  }
}

/** What decides whether a node is reached, nearest first. */
function decidersOf({ layout, free: { reached, examined } }: Walked, at: number): Decider[] {
  const found = new Map<string, Decider>();
  const add = (node: GraphNode, when: Decider['when']): void => {
    const expression =
      node.kind === 'condition' || node.kind === 'loop' ? { expression: node.expression } : {};
    found.set(`${node.id} ${when}`, { node_id: node.id, when, ...expression });
  };
  const seen = new Set<number>();
  const open = [at];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (seen.has(node)) continue;
    seen.add(node);
    for (const head of layout.around[node]!) {
      const loop = layout.nodes[head]!;
      if (loop.kind === 'loop' && (examined[head]?.rounds.min ?? 0) === 0) add(loop, 'true');
    }
    if (reached[node]!.sure) continue;
    for (const { from, when } of layout.into[node]!) {
      if (when === 'ended') continue;
      const decides = when !== undefined || examined[from]?.fails !== 'never';
      if (reached[from]!.may && decides) add(layout.nodes[from]!, when ?? 'success');
      if (!reached[from]!.sure) open.push(from);
    }
  }
  return [...found.values()];
}
