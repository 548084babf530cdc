import fc from 'fast-check';
import { graphSchema, type Graph, type GraphInput } from '#shared/contract/workflows/graph.ts';
import type { JsonObject } from '#shared/json.ts';
import { block, type Answer, type Block, type Work } from './blocks.ts';

type NodeInput = NonNullable<GraphInput['nodes']>[number];
type EdgeInput = NonNullable<GraphInput['edges']>[number];

/** Where tools are; the tests of the engine replace it by a server of their own. */
export const TOOLS_URL = 'http://tools.test';

/** The workflow that generated graphs run, and their agents offer: its output is `{child: at}`. */
export const childWorkflow = {
  name: 'Child',
  input_schema: { type: 'object', properties: { at: {} } },
  graph: graphSchema.parse({
    nodes: [
      { id: 'child', kind: 'tool', tool_name: 'json_transform', params: { expression: 'at' } },
    ],
    edges: [],
  }),
};

/** The tools in generated graphs. */
export const generatedTools = new Set(['json_transform', 'http_request', 'send_email']);

/** The name of the events that generated graphs wait for. */
export const AWAITED = 'generated.event';

/** The deadline of gates that no one decides in time. */
const SHORT_DEADLINE = 0.2;
/** The same if a resume asks again and someone must be fast enough then. */
const SHORT_DEADLINE_ONCE = 1.5;
const LONG_DEADLINE = 3_600;

interface Building {
  nodes: NodeInput[];
  edges: EdgeInput[];
  /** The loops and maps around, outermost first: what tells their iterations apart. */
  around: { id: string; counter: string }[];
  /** Whether an item of a map around catches errors. */
  caught: boolean;
}

/** Open ends to connect the next part to. */
type End = Pick<EdgeInput, 'source' | 'condition_value'>;

function addNode(
  building: Building,
  ends: readonly End[],
  node: (id: string) => NodeInput,
): string {
  const id = `n${building.nodes.length}`;
  building.nodes.push(node(id));
  for (const end of ends) {
    const edge = { ...end, target: id };
    if (!building.edges.some((other) => JSON.stringify(other) === JSON.stringify(edge))) {
      building.edges.push(edge);
    }
  }
  return id;
}

const gateFields = ({ deadline, onTimeout, approvers }: Work['gate'], caught: boolean) => ({
  ...(approvers === 1 ? {} : { required: approvers }),
  ...(deadline === 'none'
    ? {}
    : {
        on_timeout: onTimeout,
        timeout_seconds:
          deadline === 'long'
            ? LONG_DEADLINE
            : caught || onTimeout === 'approve'
              ? SHORT_DEADLINE
              : SHORT_DEADLINE_ONCE,
      }),
});

/** Keys whose values are the same in any order: those of the parents, and what the loops and maps around give. */
function readable({ around }: Building, ends: readonly End[]): string[] {
  return [...new Set([...ends.map(({ source }) => source), ...around.map(({ id }) => id)])];
}

/** For a time, or for an event or a callback that does not come before a deadline. */
const waitFields = (id: string, deadline: Work['gate']['deadline'], caught: boolean) => {
  if (deadline === 'none') return { kind: 'wait' as const, seconds: 0.01 };
  if (deadline === 'long') return { kind: 'wait' as const, until: '2020-01-31' };
  // By the id, so that both occur in the same graphs each time.
  const awaited =
    id.length % 2 === 0
      ? { callback: true as const }
      : { event: { name: AWAITED, match: `event.data.node == '${id}'` } };
  return {
    ...{ kind: 'wait' as const, ...awaited, timeout_seconds: SHORT_DEADLINE },
    on_timeout: caught ? ('fail' as const) : ('continue' as const),
  };
};

function workNode(building: Building, block: Work, ends: readonly End[], caught: boolean) {
  const { kind, key, attempts, fails, gate } = block;
  const counters = building.around.map(({ counter }) => `{${counter}}`);
  const retry = { max_attempts: attempts, initial_interval_seconds: 0.01 };
  const tool = (tool_name: string, params: JsonObject, rest: object = {}) => ({
    ...{ kind: 'tool' as const, tool_name, params, output_key: key },
    ...rest,
  });
  return (id: string): NodeInput => {
    const url = [TOOLS_URL, id, ...counters].join('/');
    switch (caught ? kind : neverFails(kind)) {
      case 'agent': {
        const mock = { output: { by: id, at: counters }, fail_times: fails };
        return { id, kind: 'agent', output_key: key, retry, mock };
      }
      case 'assistant': {
        const child = { tool: `workflow:${childWorkflow.name}`, arguments: { at: [id] } };
        const sum = { tool: 'json_transform', arguments: { expression: '1' } };
        const calls = attempts > 1 ? [sum, child, child] : [sum];
        const mock = { output: { by: id, at: counters }, turns: [{ calls }] };
        const approval = gate.approvers === 2 ? 'always' : 'never';
        const tools = ['json_transform', child.tool].map((name) => ({ name, approval }));
        return { id, kind: 'agent', output_key: key, mock, tools };
      }
      case 'transform': {
        const expression = `[${readable(building, ends).join(', ')}]`;
        return { id, ...tool('json_transform', { expression }) };
      }
      case 'http':
        return { id, ...tool('http_request', { url, method: 'POST' }, { retry }) };
      case 'child': {
        const input = { at: [id, ...counters] };
        return { id, kind: 'workflow', workflow: childWorkflow.name, input, output_key: key };
      }
      case 'gate':
        return { id, kind: 'human_gate', prompt: `Go on? ${id}`, ...gateFields(gate, caught) };
      case 'wait':
        return { id, output_key: key, ...waitFields(id, gate.deadline, caught) };
      case 'code': {
        const result = caught && fails > 1 ? `{ throw new Error('${id}'); }` : `({ by: '${id}' })`;
        return { id, kind: 'code', source: `export default () => ${result};`, output_key: key };
      }
      case 'broken':
        return { id, ...tool('json_transform', { expression: '1 / 0' }) };
      case 'slow':
        return { id, ...tool('http_request', { url: `${url}?slow` }, { timeout_seconds: 0.1 }) };
      case 'refused':
        return { id, ...tool('send_email', { to: 'a@example.com', subject: 'x', text: 'y' }) };
      case 'merge':
        return { id, kind: 'merge' };
    }
  };
}

const plainAgent: Work = {
  ...{ kind: 'agent', key: undefined, attempts: 1, fails: 0 },
  gate: { deadline: 'none', onTimeout: 'fail', approvers: 1 },
};

/** The kind of work where nothing catches its errors. */
const neverFails = (kind: Work['kind']): Work['kind'] =>
  kind === 'broken' || kind === 'slow' || kind === 'refused' ? 'http' : kind;

function expressionOf({ around, caught }: Building, answer: Answer): string {
  const counter = around.at(-1)?.counter;
  if (answer === 'early' && counter !== undefined) return `${counter} < 2`;
  if (answer === 'broken' && caught) return `"text" < 1`;
  return answer === 'no' ? 'missing' : 'yes';
}

function build(building: Building, block: Block, ends: readonly End[]): End[] {
  switch (block.type) {
    case 'work':
      return [
        { source: addNode(building, ends, workNode(building, block, ends, building.caught)) },
      ];
    case 'catch': {
      const kind = block.kind === 'merge' ? 'http' : block.kind;
      // Without a handler it depends on what follows whether there is an error edge.
      const caught = building.caught || block.handler !== undefined;
      const node = workNode(building, { ...block, kind }, ends, caught);
      const source = addNode(building, ends, node);
      const onError: End = { source, condition_value: 'error' };
      return [
        ...(block.then === undefined ? [{ source }] : build(building, block.then, [{ source }])),
        ...(block.handler === undefined ? [onError] : build(building, block.handler, [onError])),
      ];
    }
    case 'sequence':
      return block.blocks.reduce((open: End[], next) => build(building, next, open), [...ends]);
    case 'fork': {
      const agent = (from: readonly End[]) => workNode(building, plainAgent, from, false);
      const from: End[] = [{ source: addNode(building, ends, agent(ends)) }];
      const open = block.blocks.flatMap((next) => build(building, next, from));
      const join = block.merge ? (id: string) => ({ id, kind: 'merge' as const }) : agent(open);
      return [{ source: addNode(building, open, join) }];
    }
    case 'branch':
      return buildBranch(building, block, ends);
    case 'loop':
      return buildLoop(building, block, ends);
    case 'map':
      return buildMap(building, block, ends);
  }
}

function buildBranch(
  building: Building,
  { gate, answer, yes, no, always }: Extract<Block, { type: 'branch' }>,
  ends: readonly End[],
): End[] {
  const source = addNode(building, ends, (id) =>
    gate === undefined
      ? { id, kind: 'condition', expression: expressionOf(building, answer) }
      : gate === 'wait'
        ? { id, ...waitFields(id, 'short', false) }
        : { id, kind: 'human_gate', ...gateFields(gate, building.caught) },
  );
  const open = build(building, yes, [{ source, condition_value: 'true' }]);
  const otherwise: End = { source, condition_value: 'false' };
  open.push(...(no === undefined ? [otherwise] : build(building, no, [otherwise])));
  if (always !== undefined) open.push(...build(building, always, [{ source }]));
  return open;
}

function buildLoop(
  building: Building,
  block: Extract<Block, { type: 'loop' }>,
  ends: readonly End[],
): End[] {
  const loop = addNode(building, ends, (id) => ({
    ...{ id, kind: 'loop', expression: `${id}.iterations < ${block.rounds}` },
    max_iterations: block.max,
  }));
  building.around.push({ id: loop, counter: `${loop}.iterations` });
  const body = build(building, block.body, [{ source: loop, condition_value: 'true' }]);
  // Continues except in the iteration that breaks; the break may have more nodes.
  const source = addNode(building, body, (id) => ({
    ...{ id, kind: 'condition', expression: `${loop}.iterations != ${block.breakAt}` },
  }));
  building.edges.push({ source, target: loop, condition_value: 'true' });
  if (block.direct) for (const end of body) building.edges.push({ ...end, target: loop });
  if (block.tail !== undefined) build(building, block.tail, [{ source, condition_value: 'false' }]);
  building.around.pop();
  return [{ source: loop, ...(block.rounds % 2 === 0 && { condition_value: 'false' as const }) }];
}

function itemsOf({ size }: Extract<Block, { type: 'map' }>, caught: boolean): string {
  if (size === 'list') return 'list';
  if (size === 'none') return caught ? 'yes' : '[]';
  return JSON.stringify(Array.from({ length: size }, (_, at) => at * 10));
}

function buildMap(
  building: Building,
  block: Extract<Block, { type: 'map' }>,
  ends: readonly End[],
): End[] {
  const { caught: caughtAround } = building;
  const caught = caughtAround || block.handler !== undefined;
  const source = addNode(building, ends, (id) => ({
    ...{ id, kind: 'map', items: itemsOf(block, caught), output_key: block.key },
    ...{ concurrency: block.concurrency, on_item_error: block.collect ? 'collect' : 'fail' },
  }));
  building.around.push({ id: source, counter: `${source}.index` });
  building.caught = caught || block.collect;
  const body = build(building, block.body, [{ source, condition_value: 'true' }]);
  for (const end of body) building.edges.push({ ...end, target: source });
  building.around.pop();
  building.caught = caughtAround;
  const onError: End = { source, condition_value: 'error' };
  return [
    { source },
    ...(block.handler === undefined ? [] : build(building, block.handler, [onError])),
  ];
}

export const randomInput: fc.Arbitrary<JsonObject> = fc.constantFrom<JsonObject>(
  { yes: true, list: ['a', 'b', 'c'] },
  { yes: false, list: [], shared: 'in' },
  { yes: true, list: [[1, 2], null], other: 'in' },
);

/** Valid graphs of all kinds: loops, maps and branches at any nesting, in one or two parts. */
export const randomGraphOf = (minNodes: number, maxNodes: number): fc.Arbitrary<Graph> =>
  fc
    .array(block, { minLength: 1, maxLength: 2 })
    .map((blocks) => {
      const building: Building = { nodes: [], edges: [], around: [], caught: false };
      for (const part of blocks) build(building, part, []);
      return graphSchema.parse({ nodes: building.nodes, edges: building.edges });
    })
    .filter((graph) => graph.nodes.length >= minNodes && graph.nodes.length <= maxNodes);

export const randomGraph = randomGraphOf(1, 60);
