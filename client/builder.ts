import type { components } from './openapi.ts';
import type { CheckedNode, OutputKey, SchemaKeys } from './state-keys.ts';
import type { JsonObject } from './types.ts';

type Schemas = components['schemas'];
type GraphNode = Schemas['GraphNode'];
type GraphEdge = Schemas['GraphEdge'];
type Branch = NonNullable<GraphEdge['condition_value']>;
type Options<Kind extends GraphNode['kind']> = Omit<
  Extract<GraphNode, { kind: Kind }>,
  'id' | 'kind'
>;

/** The settings of a workflow other than its graph. */
export interface WorkflowSettings {
  description?: string;
  /** JSON Schema of the input. Its properties are the keys that the first templates can read. */
  input_schema?: JsonObject;
  run_cap_usd?: number;
  /** By default, a request whose maximum cost is known never exceeds the cap. */
  overrun?: 'none' | 'one_step';
  requires_experiment?: boolean;
  checks?: Schemas['EvaluationCheck'][];
}

/** A workflow as a file contains it, and as `createWorkflow` takes its name and graph. */
export interface BuiltWorkflow extends WorkflowSettings {
  name: string;
  graph: { nodes: GraphNode[]; edges: GraphEdge[] };
}

/** The end of a chain: the next node follows the source. */
interface End {
  source: string;
  condition_value?: Branch;
}

interface Drawing {
  nodes: GraphNode[];
  edges: GraphEdge[];
}

type AnyChain = Chain<string, string>;
/** Adds the nodes of a branch or body, and returns its end. */
type Body<Keys extends string, Ids extends string, Out> = (chain: Chain<Keys, Ids>) => Out;
type KeysOf<C> = C extends Chain<infer Keys, string> ? Keys : never;
type IdsOf<C> = C extends Chain<string, infer Ids> ? Ids : never;

/** An id that the graph does not have yet, or an error message that the compiler prints. */
type NewId<Id extends string, Ids extends string> = Id extends Ids
  ? `There is a node '${Id}' already`
  : Id;

/** The keys that an approver sends. Without a form, none are known. */
type FormKeys<Given> = Given extends { input_schema: infer Schema } ? SchemaKeys<Schema> : never;

/**
 * A graph that is built node by node; each node follows the previous ones. `Keys` are the keys of the state that
 * templates can read here, `Ids` the nodes so far. Continue with the chain that a method returns.
 */
export class Chain<Keys extends string, Ids extends string> {
  /** Only for the compiler, so that chains with different keys have different types. */
  declare readonly known?: { keys: Keys; ids: Ids };
  readonly #drawing: Drawing;
  /** What the next node follows; undefined at the start of the graph. */
  readonly #ends: readonly End[] | undefined;

  constructor(drawing: Drawing, ends: readonly End[] | undefined) {
    this.#drawing = drawing;
    this.#ends = ends;
  }

  /** `branches.error` is taken when all attempts have failed. There, `{<id>.error}` is `{message, kind, attempts}`. */
  agent<const Id extends string, const Given extends Options<'agent'>, Failed = never>(
    id: Id & NewId<Id, Ids>,
    options: Given & CheckedNode<Given, Options<'agent'>, Keys>,
    branches: { error?: Body<Keys | Id, Ids | Id, Failed> } = {},
  ): Chain<Keys | OutputKey<Id, Given> | KeysOf<Failed>, Ids | Id | IdsOf<Failed>> {
    return this.#add({ ...options, id, kind: 'agent' }, [{ source: id }], branches);
  }

  /** Like `agent`, for a built-in tool or `custom:<name>`. */
  tool<const Id extends string, const Given extends Options<'tool'>, Failed = never>(
    id: Id & NewId<Id, Ids>,
    options: Given & CheckedNode<Given, Options<'tool'>, Keys>,
    branches: { error?: Body<Keys | Id, Ids | Id, Failed> } = {},
  ): Chain<Keys | OutputKey<Id, Given> | KeysOf<Failed>, Ids | Id | IdsOf<Failed>> {
    return this.#add({ ...options, id, kind: 'tool' }, [{ source: id }], branches);
  }

  /** Waits for a person. Without `branches.false` or `.error`, a rejection fails the run. */
  gate<
    const Id extends string,
    const Given extends Options<'human_gate'>,
    Approved = never,
    Rejected = never,
    Failed = never,
  >(
    id: Id & NewId<Id, Ids>,
    options: Given & CheckedNode<Given, Options<'human_gate'>, Keys>,
    branches: {
      true?: Body<Keys | Id | FormKeys<Given>, Ids | Id, Approved>;
      false?: Body<Keys | Id | FormKeys<Given>, Ids | Id, Rejected>;
      error?: Body<Keys | Id, Ids | Id, Failed>;
    } = {},
  ): Chain<
    Keys | Id | FormKeys<Given> | KeysOf<Approved | Rejected | Failed>,
    Ids | Id | IdsOf<Approved | Rejected | Failed>
  > {
    const plain = branches.true === undefined && branches.false === undefined;
    const approved: End[] = plain
      ? [{ source: id }]
      : branches.true === undefined
        ? [{ source: id, condition_value: 'true' }]
        : [];
    return this.#add({ ...options, id, kind: 'human_gate' }, approved, branches);
  }

  /** Takes one of two branches. A result without a branch continues with the next node. */
  condition<const Id extends string, Yes = never, No = never>(
    id: Id & NewId<Id, Ids>,
    options: string | Options<'condition'>,
    branches: {
      true?: Body<Keys | Id, Ids | Id, Yes>;
      false?: Body<Keys | Id, Ids | Id, No>;
    },
  ): Chain<Keys | Id | KeysOf<Yes | No>, Ids | Id | IdsOf<Yes | No>> {
    const given = typeof options === 'string' ? { expression: options } : options;
    const open = (['true', 'false'] as const).filter((value) => branches[value] === undefined);
    const ends = open.map((value) => ({ source: id, condition_value: value }));
    return this.#add({ ...given, id, kind: 'condition' }, ends, branches);
  }

  /** Repeats its body while the expression is true. In the body, `{<id>.iterations}` is the number of the iteration. */
  loop<const Id extends string, Out>(
    id: Id & NewId<Id, Ids>,
    options: string | Options<'loop'>,
    body: Body<Keys | Id, Ids | Id, Out>,
  ): Chain<Keys | Id | KeysOf<Out>, Ids | Id | IdsOf<Out>> {
    const given = typeof options === 'string' ? { expression: options } : options;
    return this.#add({ ...given, id, kind: 'loop' }, [{ source: id }], {}, body);
  }

  /**
   * Runs its body for each item of a list, several items concurrently. The body can read `{<id>.item}` and
   * `{<id>.index}`. What the body sets cannot be read after it. The output is the list of the body's outputs.
   */
  map<const Id extends string, const Given extends Options<'map'>, Out, Failed = never>(
    id: Id & NewId<Id, Ids>,
    options: Given & CheckedNode<Given, Options<'map'>, Keys>,
    body: Body<Keys | Id, Ids | Id, Out>,
    branches: { error?: Body<Keys | Id, Ids | Id | IdsOf<Out>, Failed> } = {},
  ): Chain<Keys | OutputKey<Id, Given> | KeysOf<Failed>, Ids | Id | IdsOf<Out> | IdsOf<Failed>> {
    return this.#add({ ...options, id, kind: 'map' }, [{ source: id }], branches, body);
  }

  /** Joins branches, and collects the outputs of those that ran. */
  merge<const Id extends string>(
    id: Id & NewId<Id, Ids>,
    options: Options<'merge'> = {},
  ): Chain<Keys | Id, Ids | Id> {
    return this.#add({ ...options, id, kind: 'merge' }, [{ source: id }], {});
  }

  /** Concurrent branches. The next node waits for all of them. */
  parallel<Outs extends readonly unknown[]>(
    ...branches: { [At in keyof Outs]: Body<Keys, Ids, Outs[At]> }
  ): Chain<Keys | KeysOf<Outs[number]>, Ids | IdsOf<Outs[number]>> {
    const bodies = branches as readonly Body<Keys, Ids, unknown>[];
    return this.#at(bodies.flatMap((body) => endsOf(body(this.#at(this.#ends)))));
  }

  /**
   * Makes the next node follow these nodes instead of the last one, each regardless of its result or with one of its
   * results.
   */
  after(...sources: (Ids | readonly [Ids, Branch])[]): Chain<Keys, Ids> {
    return this.#at(
      sources.map((each) =>
        typeof each === 'string' ? { source: each } : { source: each[0], condition_value: each[1] },
      ),
    );
  }

  /** Adds an edge between two existing nodes. */
  edge(source: Ids, target: Ids, condition?: Branch): this {
    this.#connect({ source, ...(condition && { condition_value: condition }) }, target);
    return this;
  }

  /** Ends the branch: no node follows. */
  end(): Chain<Keys, Ids> {
    return this.#at([]);
  }

  /**
   * Declares keys that come from elsewhere: from the input of a workflow without a schema, from an approver without a
   * form, or from an earlier iteration. After it, templates are checked. It adds nothing to the graph.
   */
  reads<const Key extends string>(
    ..._keys: Key[]
  ): Chain<string extends Keys ? Key : Keys | Key, Ids> {
    return this.#at(this.#ends);
  }

  /** The ends of a branch. */
  static endsOf(chain: AnyChain): readonly End[] {
    return chain.#ends ?? [];
  }

  #at<K extends string, I extends string>(ends: readonly End[] | undefined): Chain<K, I> {
    return new Chain(this.#drawing, ends);
  }

  #connect({ source, condition_value: value }: End, target: string): void {
    const edge = { source, target };
    this.#drawing.edges.push(value === undefined ? edge : { ...edge, condition_value: value });
  }

  /** Adds a node after the ends. `plain` are the node's own ends, in addition to those of its branches. */
  #add<K extends string, I extends string>(
    node: GraphNode,
    plain: readonly End[],
    branches: { [Value in Branch]?: Body<never, never, unknown> },
    body?: Body<never, never, unknown>,
  ): Chain<K, I> {
    const { nodes } = this.#drawing;
    if (nodes.some(({ id }) => id === node.id)) {
      throw new TypeError(`There are two nodes '${node.id}'`);
    }
    if (this.#ends?.length === 0) {
      throw new TypeError(`Node '${node.id}' follows nothing: what is before it ends`);
    }
    nodes.push(node);
    for (const end of this.#ends ?? []) this.#connect(end, node.id);
    const branch = (value: Branch, add: Body<never, never, unknown> | undefined): readonly End[] =>
      add === undefined ? [] : endsOf(add(this.#at([{ source: node.id, condition_value: value }])));
    for (const end of branch('true', body)) this.#connect(end, node.id);
    const ends = (['true', 'false', 'error'] as const).map((each) => branch(each, branches[each]));
    return this.#at([...plain, ...ends.flat()]);
  }
}

function endsOf(chain: unknown): readonly End[] {
  if (!(chain instanceof Chain)) throw new TypeError('A branch must return its chain');
  return Chain.endsOf(chain);
}

type Build<Keys extends string> = (chain: Chain<Keys, never>) => AnyChain;

/**
 * Builds a workflow. With an `input_schema`, templates can read its properties and the outputs of earlier nodes; any
 * other key is a compiler error. Without it, or where keys are unknown, templates are not checked; `reads` declares
 * them. The result is what a file of `ops apply` contains: `console.log(JSON.stringify(workflow(...)))`.
 */
export function workflow(name: string, build: Build<string>): BuiltWorkflow;
export function workflow<const Settings extends WorkflowSettings>(
  name: string,
  settings: Settings,
  build: Build<Settings extends { input_schema: infer Schema } ? SchemaKeys<Schema> : string>,
): BuiltWorkflow;
export function workflow(
  name: string,
  ...given: [Build<string>] | [WorkflowSettings, Build<string>]
): BuiltWorkflow {
  const [settings, build] = given.length === 1 ? [{}, given[0]] : given;
  const graph: Drawing = { nodes: [], edges: [] };
  build(new Chain(graph, undefined));
  return { name, ...settings, graph };
}
