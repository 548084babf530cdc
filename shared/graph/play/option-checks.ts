import type { Graph, GraphNode } from '#shared/contract/workflows/graph.ts';
import { calledBy } from '#shared/graph/children/called-workflows.ts';
import { canAsk } from '#shared/graph/node-approval.ts';
import { toolNamesOf } from '#shared/graph/node-tools.ts';
import { hint } from '#shared/graph/suggest.ts';
import { awaitsCallback } from '#shared/graph/waits/callbacks.ts';
import { secondsOf } from './answers.ts';
import type { PlayOptions } from './options.ts';
import { PlayError } from './play-error.ts';
import { keyOf, type PlayedWorkflow } from './playing.ts';

const OPTIONS = [
  'input',
  'mocks',
  'decisions',
  'events',
  'callbacks',
  'workflows',
  'tools',
  'clock',
];
const MOCKS = ['nodes', 'tools', 'agents'];

/** Checks the names of the options. Throws PlayError: a typo would otherwise change nothing, silently. */
export function checkOptions(options: PlayOptions): void {
  requireNames(options, OPTIONS, 'option');
  requireNames(options.mocks, MOCKS, 'kind of mocks');
  requireNames(options.clock, ['start'], 'setting of the clock');
  for (const [at, event] of (options.events ?? []).entries()) {
    const named = `events[${at}]`;
    requireNames(event, ['name', 'data', 'id', 'after_seconds'], `field of ${named}`);
    if (typeof event.name !== 'string') throw new PlayError(`${named} has no name`);
    if (event.after_seconds !== undefined) secondsOf(event.after_seconds, named);
  }
}

function requireNames(given: object | undefined, names: readonly string[], what: string): void {
  const unknown = Object.keys(given ?? {}).find((name) => !names.includes(name));
  if (unknown === undefined) return;
  const meant = hint(unknown, names) || `; there are ${names.join(', ')}`;
  throw new PlayError(`Unknown ${what} '${unknown}'${meant}`);
}

/** Graphs of a test, by the name in `workflows`; undefined for that of the run itself. */
type Graphs = readonly (readonly [string | undefined, Graph])[];

/** Checks that everything that the options name exists in the graphs, and takes part in the run. Throws PlayError. */
export function checkNames(
  options: PlayOptions,
  root: Graph,
  workflows: ReadonlyMap<string, PlayedWorkflow>,
): void {
  const graphs: Graphs = [
    [undefined, root],
    ...[...workflows].map(([name, { graph }]) => [name, graph] as const),
  ];
  const nodes = new Map(
    graphs.flatMap(([name, graph]) => graph.nodes.map((node) => [keyOf(name, node.id), node])),
  );
  const { mocks = {}, decisions, callbacks } = options;
  checkKeys(mocks.nodes, 'mocks.nodes', nodes, nodeMockProblem);
  checkKeys(mocks.agents, 'mocks.agents', nodes, ({ kind }) =>
    kind === 'agent' ? undefined : `${articled(kind)}, and only agents have turns: use mocks.nodes`,
  );
  checkKeys(decisions, 'decisions', nodes, decisionProblem);
  checkKeys(callbacks, 'callbacks', nodes, (node) =>
    awaitsCallback(node) ? undefined : `${articled(node.kind)} that waits for no callback`,
  );
  const both = Object.keys(mocks.agents ?? {}).find((key) => Object.hasOwn(mocks.nodes ?? {}, key));
  if (both !== undefined) {
    throw new PlayError(`'${both}' is in mocks.nodes and in mocks.agents: remove one of them`);
  }
  const tools = all(graphs, toolNamesOf);
  checkUsed(mocks.tools, 'mocks.tools', 'No node calls the tool', tools);
  const called = all(graphs, (node) => calledBy(node).map(({ workflow }) => workflow));
  checkUsed(options.workflows, 'workflows', 'No node runs the workflow', called);
}

function all(graphs: Graphs, namesOf: (node: GraphNode) => string[]): Set<string> {
  return new Set(graphs.flatMap(([, { nodes }]) => nodes.flatMap(namesOf)));
}

function checkKeys(
  given: object | undefined,
  named: string,
  nodes: ReadonlyMap<string, GraphNode>,
  problemOf: (node: GraphNode) => string | undefined,
): void {
  for (const key of Object.keys(given ?? {})) {
    const node = nodes.get(key);
    if (node === undefined) {
      const meant = hint(key, nodes.keys()) || `; there are ${[...nodes.keys()].join(', ')}`;
      throw new PlayError(`${named}: there is no node '${key}'${meant}`);
    }
    const problem = problemOf(node);
    if (problem !== undefined) throw new PlayError(`${named}: '${key}' is ${problem}`);
  }
}

function checkUsed(
  given: object | undefined,
  named: string,
  problem: string,
  used: ReadonlySet<string>,
): void {
  const unused = Object.keys(given ?? {}).find((name) => !used.has(name));
  if (unused === undefined) return;
  const custom = used.has(`custom:${unused}`) ? `; did you mean 'custom:${unused}'?` : '';
  throw new PlayError(`${named}: ${problem} '${unused}'${custom || hint(unused, used)}`);
}

function nodeMockProblem({ kind }: GraphNode): string | undefined {
  switch (kind) {
    case 'agent':
    case 'tool':
    case 'code':
    case 'workflow':
      return undefined;
    case 'human_gate':
      return 'a human_gate: decide it in decisions';
    case 'wait':
      return 'a wait: end it with events or callbacks';
    case 'condition':
    case 'loop':
    case 'map':
    case 'merge':
      return `${articled(kind)}, which is computed: it needs no mock`;
    default:
      return kind satisfies never;
  }
}

function decisionProblem(node: GraphNode): string | undefined {
  if (node.kind === 'human_gate' || (node.kind === 'agent' && node.tools !== undefined)) {
    return undefined;
  }
  if (canAsk(node)) {
    return node.approval === undefined ? `${articled(node.kind)} without an approval` : undefined;
  }
  return `${articled(node.kind)}, which asks no one`;
}

const articled = (kind: GraphNode['kind']): string => `${kind === 'agent' ? 'an' : 'a'} ${kind}`;
