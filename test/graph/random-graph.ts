import fc from 'fast-check';
import { graphSchema, type Graph, type GraphInput } from '../../shared/contract/graph.ts';
import type { JsonObject } from '../../shared/json.ts';

/** A part of a graph with one entry and one exit. */
type Block =
  | { type: 'work'; kind: 'agent' | 'tool' | 'human_gate'; key: string | undefined; label: boolean }
  /** A node with error edges. The handler and what follows the node can join. */
  | {
      type: 'catch';
      kind: 'agent' | 'tool' | 'human_gate';
      key: string | undefined;
      then: Block | undefined;
      handler: Block | undefined;
    }
  | { type: 'sequence'; blocks: Block[] }
  | { type: 'fork'; blocks: Block[]; merge: boolean }
  | {
      type: 'branch';
      gate: boolean;
      answer: Answer;
      yes: Block;
      no: Block | undefined;
      always: Block | undefined;
    }
  | {
      type: 'loop';
      rounds: number;
      max: number;
      body: Block;
      breakAt: number;
      tail: Block | undefined;
    }
  | {
      type: 'map';
      size: number;
      concurrency: number;
      collect: boolean;
      body: Block;
      handler: Block | undefined;
    };

/** What decides a condition: the input, or the iterations of the loop around it. */
type Answer = 'yes' | 'no' | 'early';

const work = fc.record({
  type: fc.constant('work' as const),
  kind: fc.constantFrom('agent', 'agent', 'tool', 'human_gate'),
  // Few keys, so that nodes write the same ones.
  key: fc.constantFrom(undefined, undefined, 'shared', 'other'),
  label: fc.boolean(),
});

const { block } = fc.letrec<{ block: Block }>((tie) => ({
  block: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    work,
    fc.record({
      type: fc.constant('catch' as const),
      kind: fc.constantFrom('agent', 'tool', 'human_gate'),
      key: fc.constantFrom(undefined, 'shared'),
      then: fc.option(tie('block'), { nil: undefined }),
      handler: fc.option(tie('block'), { nil: undefined }),
    }),
    fc.record({
      type: fc.constant('sequence' as const),
      blocks: fc.array(tie('block'), { minLength: 2, maxLength: 3 }),
    }),
    fc.record({
      type: fc.constant('fork' as const),
      blocks: fc.array(tie('block'), { minLength: 1, maxLength: 3 }),
      merge: fc.boolean(),
    }),
    fc.record({
      type: fc.constant('branch' as const),
      gate: fc.boolean(),
      answer: fc.constantFrom<Answer>('yes', 'no', 'early'),
      yes: tie('block'),
      no: fc.option(tie('block'), { nil: undefined }),
      always: fc.option(tie('block'), { nil: undefined, freq: 4 }),
    }),
    fc.record({
      type: fc.constant('loop' as const),
      rounds: fc.integer({ min: 0, max: 3 }),
      max: fc.integer({ min: 1, max: 3 }),
      body: tie('block'),
      breakAt: fc.integer({ min: 1, max: 5 }),
      tail: fc.option(tie('block'), { nil: undefined }),
    }),
    fc.record({
      type: fc.constant('map' as const),
      size: fc.integer({ min: 0, max: 3 }),
      concurrency: fc.integer({ min: 1, max: 3 }),
      collect: fc.boolean(),
      body: tie('block'),
      handler: fc.option(tie('block'), { nil: undefined }),
    }),
  ) as fc.Arbitrary<Block>,
}));

type NodeInput = NonNullable<GraphInput['nodes']>[number];
type EdgeInput = NonNullable<GraphInput['edges']>[number];

interface Building {
  nodes: NodeInput[];
  edges: EdgeInput[];
  /** What tells the iterations around apart, innermost last. */
  loops: string[];
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

function addWork(
  building: Building,
  { kind, key }: Pick<Extract<Block, { type: 'work' }>, 'kind' | 'key'>,
  ends: readonly End[],
): string {
  return addNode(building, ends, (id) => {
    if (kind === 'human_gate') return { id, kind, prompt: '' };
    return kind === 'agent'
      ? { id, kind, output_key: key }
      : { id, kind, tool_name: 'delay', params: { seconds: 0 }, output_key: key };
  });
}

function expressionOf(building: Building, answer: Answer): string {
  const around = building.loops.at(-1);
  if (answer === 'early' && around !== undefined) return `${around} < 2`;
  return answer === 'yes' ? 'yes' : 'missing';
}

function build(building: Building, block: Block, ends: readonly End[]): End[] {
  switch (block.type) {
    case 'work':
      return [{ source: addWork(building, block, ends) }];
    case 'catch': {
      const source = addWork(building, block, ends);
      const onError: End = { source, condition_value: 'error' };
      return [
        ...(block.then === undefined ? [{ source }] : build(building, block.then, [{ source }])),
        ...(block.handler === undefined ? [onError] : build(building, block.handler, [onError])),
      ];
    }
    case 'sequence':
      return block.blocks.reduce((open: End[], next) => build(building, next, open), [...ends]);
    case 'fork': {
      const from: End[] = [{ source: addNode(building, ends, (id) => ({ id, kind: 'agent' })) }];
      const open = block.blocks.flatMap((next) => build(building, next, from));
      const kind = block.merge ? 'merge' : 'agent';
      return [{ source: addNode(building, open, (id) => ({ id, kind })) }];
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
  block: Extract<Block, { type: 'branch' }>,
  ends: readonly End[],
): End[] {
  const source = addNode(building, ends, (id) =>
    block.gate
      ? { id, kind: 'human_gate', prompt: '' }
      : { id, kind: 'condition', expression: expressionOf(building, block.answer) },
  );
  const open = build(building, block.yes, [{ source, condition_value: 'true' }]);
  // A gate without an edge for a rejection would block the run, which other tests cover.
  if (block.no !== undefined) {
    open.push(...build(building, block.no, [{ source, condition_value: 'false' }]));
  } else open.push({ source, condition_value: 'false' });
  if (block.always !== undefined) open.push(...build(building, block.always, [{ source }]));
  return open;
}

function buildLoop(
  building: Building,
  block: Extract<Block, { type: 'loop' }>,
  ends: readonly End[],
): End[] {
  const loop = addNode(building, ends, (id) => ({
    id,
    kind: 'loop',
    expression: `${id}.iterations < ${block.rounds}`,
    max_iterations: block.max,
  }));
  building.loops.push(`${loop}.iterations`);
  const body = build(building, block.body, [{ source: loop, condition_value: 'true' }]);
  // Continues except in the iteration that breaks; the break may have more nodes.
  const source = addNode(building, body, (id) => ({
    id,
    kind: 'condition',
    expression: `${loop}.iterations != ${block.breakAt}`,
  }));
  building.edges.push({ source, target: loop, condition_value: 'true' });
  if (block.tail !== undefined) build(building, block.tail, [{ source, condition_value: 'false' }]);
  building.loops.pop();
  return [{ source: loop, ...(block.rounds % 2 === 0 && { condition_value: 'false' as const }) }];
}

function buildMap(
  building: Building,
  block: Extract<Block, { type: 'map' }>,
  ends: readonly End[],
): End[] {
  const items = Array.from({ length: block.size }, (_, at) => at * 10);
  const source = addNode(building, ends, (id) => ({
    id,
    kind: 'map',
    items: JSON.stringify(items),
    concurrency: block.concurrency,
    on_item_error: block.collect ? 'collect' : 'fail',
  }));
  building.loops.push(`${source}.index + 1`);
  const body = build(building, block.body, [{ source, condition_value: 'true' }]);
  for (const end of body) building.edges.push({ ...end, target: source });
  building.loops.pop();
  const onError: End = { source, condition_value: 'error' };
  return [
    { source },
    ...(block.handler === undefined ? [] : build(building, block.handler, [onError])),
  ];
}

export const randomInput: fc.Arbitrary<JsonObject> = fc.constantFrom<JsonObject>(
  { yes: true },
  { yes: false, shared: 'in' },
);

/** Valid graphs of at most 60 nodes: loops and branches at any nesting, in one or two separate parts. */
export const randomGraph: fc.Arbitrary<Graph> = fc
  .array(block, { minLength: 1, maxLength: 2 })
  .map((blocks) => {
    const building: Building = { nodes: [], edges: [], loops: [] };
    for (const part of blocks) build(building, part, []);
    return graphSchema.parse({ nodes: building.nodes, edges: building.edges });
  })
  .filter((graph) => graph.nodes.length <= 60);
