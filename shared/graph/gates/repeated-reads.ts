import type { Graph, GraphNode, ToolNode } from '#shared/contract/workflows/graph.ts';
import { type CompiledGraph, compileGraph, outputKey } from '#shared/graph/compile.ts';
import { pathsReadBy, type ReadPath } from '#shared/graph/expression/read-paths.ts';
import { type NodeText, nodeTexts } from '#shared/graph/node-texts.ts';
import { callbackSentBy } from '#shared/graph/waits/callbacks.ts';
import { isPureTool, isTimer } from '#shared/tools.ts';

/** A finished step of a run. */
export interface FinishedStep {
  step_key: string;
  node_id: string;
  iteration: readonly number[];
  /** For a gate: the keys of its approvers' input. */
  keys?: readonly string[];
}

/** A read whose output a gate depends on. */
export interface RepeatedRead {
  step_key: string;
  node_id: string;
  tool: string;
  /** What was read of its output; an empty path is the whole output. */
  paths: ReadPath[];
}

/** A step that a gate depends on and that cannot be repeated. */
interface NotRepeated {
  step_key: string;
  node_id: string;
  kind: 'agent' | 'tool' | 'code' | 'workflow';
}

/** What a gate depends on. */
export interface GateReads {
  reads: RepeatedRead[];
  not_repeated: NotRepeated[];
}

/** An effect of the gate's approval, and the texts of its arguments that are not known yet. */
interface ShownArguments {
  node_id: string;
  step_key: string;
  unknown: readonly { path: readonly (string | number)[] }[];
}

export interface ReadsRequest {
  graph: Graph;
  gate: { node_id: string; iteration: readonly number[] };
  effects: readonly ShownArguments[];
  steps: readonly FinishedStep[];
  /** The ids of the nodes whose tools only read. */
  reading: readonly string[];
}

/** The maximum number of reads of one gate; more are not repeated. */
const MAX_READS = 20;
/** The maximum number of steps that are named as not repeated. */
const MAX_NAMED = 100;
/** The maximum number of paths of one read; beyond it, the whole output counts. */
const MAX_PATHS = 50;

/** Where a text is rendered: at a node, in an iteration. Undefined iterations are not known. */
interface Reader {
  at: number;
  iteration: readonly (number | undefined)[];
}

/**
 * The reads that the prompt of an open gate and the known arguments of its approval's effects depend on: each key leads to
 * the step that wrote it last, and steps that only compute lead to what they read. Throws ExpressionError, GraphError.
 */
export function gateReads(request: ReadsRequest): GateReads {
  const compiled = compileGraph(request.graph);
  const search = new Search(compiled, request);
  const { gate, effects } = request;
  const at = compiled.nodes.findIndex(({ id }) => id === gate.node_id);
  for (const text of nodeTexts(compiled.nodes[at]!)) {
    search.read(text, { at, iteration: gate.iteration });
  }
  for (const effect of effects) {
    const position = compiled.nodes.findIndex(({ id }) => id === effect.node_id);
    if (position === -1) continue;
    const reader = { at: position, iteration: iterationOf(effect.step_key) };
    for (const text of knownTexts(compiled.nodes[position]!, effect)) search.read(text, reader);
  }
  return search.found();
}

const iterationOf = (stepKey: string): (number | undefined)[] => {
  const [, iteration = ''] = stepKey.split('#');
  if (iteration === '') return [];
  return iteration.split('.').map((each) => (each === '*' ? undefined : Number(each)));
};

/** The texts of an effect's arguments, without those that are not known yet. */
function knownTexts(node: GraphNode, { unknown }: ShownArguments): NodeText[] {
  const prefix = node.kind === 'tool' ? 'params' : node.kind === 'workflow' ? 'input' : '';
  const names = new Set(
    unknown.map(({ path }) =>
      path.reduce<string>(
        (name, key) =>
          typeof key === 'number' ? `${name}[${key}]` : name === '' ? key : `${name}.${key}`,
        prefix,
      ),
    ),
  );
  const texts = nodeTexts(node).filter(({ path }) => !names.has(path));
  return node.kind === 'agent'
    ? texts.filter(({ path }) => path === 'prompt' || path === 'system_prompt')
    : texts;
}

class Search {
  readonly #graph: CompiledGraph;
  readonly #reading: ReadonlySet<string>;
  readonly #positions: Map<string, number>;
  readonly #writers = new Map<string, { step: FinishedStep; at: number }[]>();
  readonly #byNode = new Map<string, FinishedStep[]>();
  readonly #computed = new Map<string, number[]>();
  readonly #seen = new Set<string>();
  readonly #reads = new Map<string, { node: ToolNode; step: FinishedStep; paths: ReadPath[] }>();
  readonly #notRepeated = new Map<string, NotRepeated>();

  constructor(graph: CompiledGraph, request: ReadsRequest) {
    this.#graph = graph;
    this.#reading = new Set(request.reading);
    this.#positions = new Map(graph.nodes.map(({ id }, at) => [id, at]));
    for (const step of request.steps) {
      const at = this.#positions.get(step.node_id);
      if (at === undefined) continue;
      const keys = step.keys ?? [outputKey(graph.nodes[at]!)];
      for (const key of keys) push(this.#writers, key, { step, at });
      push(this.#byNode, step.node_id, step);
    }
    graph.nodes.forEach((node, at) => {
      if (computes(node)) push(this.#computed, outputKey(node), at);
    });
  }

  read(text: NodeText, reader: Reader): void {
    for (const path of pathsReadBy(text)) this.#follow(path, reader);
  }

  found(): GateReads {
    const all = [...this.#reads.values()];
    const reads = all.slice(0, MAX_READS).map(({ node, step, paths }) => ({
      ...{ step_key: step.step_key, node_id: step.node_id, tool: node.tool_name },
      paths: shortest(paths),
    }));
    const others = all.slice(MAX_READS).map(({ step }) => placeOf(step, 'tool'));
    const named = [...this.#notRepeated.values(), ...others];
    return { reads, not_repeated: named.slice(0, MAX_NAMED) };
  }

  #follow(path: ReadPath, reader: Reader): void {
    const key = String(path[0]);
    const around = this.#around(reader.at).find((loop) => this.#graph.nodes[loop]!.id === key);
    if (around !== undefined) {
      const node = this.#graph.nodes[around]!;
      // The item of a map comes from its list; the number of an iteration from nowhere.
      if (node.kind === 'map' && path[1] !== 'index') this.#texts(around, reader.iteration);
      return;
    }
    const writer = this.#lastWriter(key, reader);
    if (writer !== undefined) {
      this.#take(writer.step, path.slice(1));
      return;
    }
    // Computed after the gate, from what is known.
    for (const at of this.#computed.get(key) ?? []) {
      if (this.#byNode.has(this.#graph.nodes[at]!.id)) continue;
      this.#texts(at, reader.iteration);
    }
  }

  /** The texts of a node that only computes. */
  #texts(at: number, iteration: Reader['iteration']): void {
    const node = this.#graph.nodes[at]!;
    const own = iteration.slice(0, this.#around(at).length);
    if (!this.#isNew(node.id, own)) return;
    for (const text of nodeTexts(node)) this.read(text, { at, iteration: own });
  }

  /** Follows a part of the output of a finished step. */
  #take(step: FinishedStep, rest: ReadPath): void {
    if (!this.#isNew(step.step_key, ['step', ...rest])) return;
    const at = this.#positions.get(step.node_id)!;
    const node = this.#graph.nodes[at]!;
    switch (node.kind) {
      case 'agent':
      case 'code':
      case 'workflow':
        this.#notRepeated.set(step.step_key, placeOf(step, node.kind));
        return;
      case 'tool':
        if (isPureTool(node.tool_name)) this.#texts(at, step.iteration);
        else if (!isTimer(node.tool_name)) this.#call(node, step, rest);
        return;
      case 'condition':
      case 'loop':
        this.#texts(at, step.iteration);
        return;
      case 'map':
        this.#items(at, step, rest);
        return;
      case 'merge':
        this.#parents(at, step, rest);
        return;
      case 'human_gate':
      case 'wait':
        // What a person or someone outside wrote.
        return;
    }
  }

  #call(node: ToolNode, step: FinishedStep, rest: ReadPath): void {
    // Repeating it would send an address that no step waits at.
    if (!this.#reading.has(node.id) || callbackSentBy(node, this.#graph) !== undefined) {
      this.#notRepeated.set(step.step_key, placeOf(step, 'tool'));
      return;
    }
    const known = this.#reads.get(step.step_key);
    if (known === undefined) this.#reads.set(step.step_key, { node, step, paths: [rest] });
    else known.paths.push(rest);
  }

  /** The output of a map is the list of its items' results. */
  #items(map: number, { iteration }: FinishedStep, rest: ReadPath): void {
    const ends = this.#graph.edges.filter(({ to, back }) => to === map && back === true);
    const [index] = rest;
    const item = typeof index === 'number' ? index + 1 : undefined;
    for (const { from } of ends) {
      for (const step of this.#byNode.get(this.#graph.nodes[from]!.id) ?? []) {
        if (!startsWith(step.iteration, [...iteration, item])) continue;
        this.#take(step, item !== undefined && ends.length === 1 ? rest.slice(1) : []);
      }
    }
  }

  /** The output of a merge has the outputs of its parents by their ids. */
  #parents(merge: number, { iteration }: FinishedStep, rest: ReadPath): void {
    for (const { from, to, back } of this.#graph.edges) {
      if (to !== merge || back === true) continue;
      const { id } = this.#graph.nodes[from]!;
      if (rest.length > 0 && rest[0] !== id) continue;
      const steps = this.#byNode.get(id)?.filter((step) => startsWith(step.iteration, iteration));
      const last = steps?.at(-1);
      if (last !== undefined) this.#take(last, rest.slice(1));
    }
  }

  /** The step whose write to a key counts for a reader: the last one in graph order. */
  #lastWriter(key: string, reader: Reader): { step: FinishedStep } | undefined {
    const seen = (this.#writers.get(key) ?? []).filter(({ step, at }) =>
      this.#isVisible(step, at, reader),
    );
    return seen.reduce<{ step: FinishedStep; at: number } | undefined>(
      (last, next) => (last === undefined || this.#comesAfter(next, last) ? next : last),
      undefined,
    );
  }

  /** What an item of a map writes is visible only in that item. */
  #isVisible({ iteration }: FinishedStep, at: number, reader: Reader): boolean {
    const own = this.#around(at);
    const others = this.#around(reader.at);
    return own.every((loop, depth) => {
      if (this.#graph.nodes[loop]!.kind !== 'map') return true;
      const index = reader.iteration[depth];
      return others[depth] === loop && (index === undefined || index === iteration[depth]);
    });
  }

  #comesAfter(
    one: { step: FinishedStep; at: number },
    other: { step: FinishedStep; at: number },
  ): boolean {
    const [own, others] = [this.#rank(one), this.#rank(other)];
    const differs = own.findIndex((part, at) => part !== others[at]);
    if (differs === -1) return false;
    return own[differs]! > (others[differs] ?? -1);
  }

  #rank({ step, at }: { step: FinishedStep; at: number }): number[] {
    return [...this.#around(at).flatMap((loop, depth) => [loop, step.iteration[depth] ?? 0]), at];
  }

  /** The loops and maps around a node, outermost first. */
  #around(at: number): number[] {
    const around: number[] = [];
    for (let loop = this.#graph.regions[at]!; loop !== -1; loop = this.#graph.regions[loop]!) {
      around.unshift(loop);
    }
    return around;
  }

  #isNew(place: string, details: readonly unknown[]): boolean {
    const key = JSON.stringify([place, ...details]);
    if (this.#seen.has(key)) return false;
    this.#seen.add(key);
    return true;
  }
}

/** Whether a node only computes over the state. */
const computes = (node: GraphNode): boolean =>
  node.kind === 'condition' || (node.kind === 'tool' && isPureTool(node.tool_name));

const placeOf = ({ step_key, node_id }: FinishedStep, kind: NotRepeated['kind']): NotRepeated => ({
  step_key,
  node_id,
  kind,
});

const startsWith = (
  iteration: readonly number[],
  start: readonly (number | undefined)[],
): boolean => start.every((each, at) => each === undefined || each === iteration[at]);

/** The paths that no other path contains. */
function shortest(paths: readonly ReadPath[]): ReadPath[] {
  const kept: ReadPath[] = [];
  for (const path of paths.toSorted((a, b) => a.length - b.length)) {
    if (!kept.some((start) => start.every((key, at) => key === path[at]))) kept.push(path);
  }
  return kept.length > MAX_PATHS ? [[]] : kept;
}

function push<Value>(map: Map<string, Value[]>, key: string, value: Value): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}
