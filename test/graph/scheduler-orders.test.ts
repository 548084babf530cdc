import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Graph, GraphNode } from '../../shared/contract/graph.ts';
import { isExecuted } from '../../shared/graph/kinds.ts';
import { compileGraph, type CompiledGraph } from '../../shared/graph/compile.ts';
import {
  createScheduler,
  type ReadyNode,
  type Scheduler,
} from '../../shared/graph/schedule/scheduler.ts';
import { checkGraph } from '../../shared/graph-check.ts';
import { failedNodes } from './drawing.ts';
import type { JsonObject } from '../../shared/json.ts';
import { modelRun, type ModelRun, type World } from './model.ts';
import { randomGraph, randomInput } from './random-graph.ts';

const tools = new Set(['delay']);

function hash(text: string): number {
  let value = 7;
  for (let at = 0; at < text.length; at += 1) value = (value * 31 + text.charCodeAt(at)) >>> 0;
  return value;
}

/** Results that depend only on the step. Rejects only where a graph has an edge for it. */
function worldOf(graph: Graph): World {
  const rejectable = new Set(
    graph.edges.filter((edge) => edge.condition_value === 'false').map((edge) => edge.source),
  );
  const { nodes, regions } = compileGraph(graph);
  const isCaught = (at: number): boolean => {
    if (graph.edges.some((e) => e.source === nodes[at]?.id && e.condition_value === 'error')) {
      return true;
    }
    let map = regions[at] ?? -1;
    while (map !== -1 && nodes[map]!.kind !== 'map') map = regions[map]!;
    const around = nodes[map];
    return around?.kind === 'map' && (around.on_item_error === 'collect' || isCaught(map));
  };
  const works = ({ kind }: GraphNode): boolean =>
    isExecuted({ kind } as GraphNode) || kind === 'human_gate';
  const catching = new Set(
    nodes.filter((node, at) => works(node) && isCaught(at)).map(({ id }) => id),
  );
  return {
    fails: (key) =>
      catching.has(key.split('#')[0]!) && hash(key) % 3 === 1
        ? { message: 'no', kind: 'node', attempts: 1 }
        : undefined,
    work: (key) => ({ by: key }),
    approve: (key) => {
      const approved = !rejectable.has(key.split('#')[0]!) || hash(key) % 2 === 0;
      return { approved, ...(hash(key) % 3 === 0 && { input: { shared: `from ${key}` } }) };
    },
  };
}

interface Observed {
  steps: Map<string, string>;
  begun: string[];
  /** Steps in the order they were settled. */
  ended: string[];
}

function observe(observed: Observed, scheduler: Scheduler): void {
  for (const { step_key, status } of scheduler.takeControlSteps()) {
    if (status === 'running') {
      observed.begun.push(step_key);
      continue;
    }
    expect(observed.steps.has(step_key)).toBe(false);
    observed.steps.set(step_key, status);
    observed.ended.push(step_key);
  }
}

function carryOut(scheduler: Scheduler, world: World, node: ReadyNode): void {
  const error = world.fails(node.step_key);
  if (error !== undefined) {
    scheduler.fail(node.step_key);
    expect(scheduler.catchFailure(node.step_key, error)).toBe(true);
  } else if (node.kind === 'human_gate') {
    scheduler.decide(node.step_key, world.approve(node.step_key));
  } else {
    scheduler.complete(node.step_key, world.work(node.step_key));
  }
}

/** Runs a graph; each turn finishes one of the open steps, chosen by `picks`. `between` may replace the scheduler. */
function runInOrder(
  compiled: CompiledGraph,
  input: JsonObject,
  world: World,
  picks: readonly number[],
  between: (scheduler: Scheduler, turn: number, open: ReadyNode[]) => Scheduler = (scheduler) =>
    scheduler,
): { scheduler: Scheduler; observed: Observed } {
  let scheduler = createScheduler(compiled, input);
  const observed: Observed = { steps: new Map(), begun: [], ended: [] };
  const open: ReadyNode[] = [];
  for (let turn = 0; turn < 20_000; turn += 1) {
    open.push(...scheduler.takeReady(1 + (picks[turn % picks.length]! % 3)));
    scheduler = between(scheduler, turn, open);
    observe(observed, scheduler);
    if (open.length === 0) {
      open.push(...scheduler.takeReady());
      if (open.length === 0) break;
    }
    const [next] = open.splice(picks[turn % picks.length]! % open.length, 1);
    expect(observed.steps.has(next!.step_key)).toBe(false);
    carryOut(scheduler, world, next!);
    if (world.fails(next!.step_key) !== undefined) continue;
    observed.steps.set(next!.step_key, 'success');
    observed.ended.push(next!.step_key);
  }
  observe(observed, scheduler);
  return { scheduler, observed };
}

/** The steps of a run are those of the model, except in maps with failed items. */
function expectSteps(
  { nodes, regions }: CompiledGraph,
  observed: Observed,
  { steps, partial }: ModelRun,
): void {
  const isPartial = (key: string): boolean => {
    const [id, numbers = ''] = key.split('#');
    const iteration = numbers === '' ? [] : numbers.split('.').map(Number);
    const around: number[] = [];
    const start = nodes.findIndex((node) => node.id === id);
    for (let at = regions[start]!; at !== -1; at = regions[at]!) around.push(at);
    return partial.some(
      ({ map, iteration: outer }) =>
        around.includes(map) && outer.every((number, depth) => iteration[depth] === number),
    );
  };
  const whole = (all: Map<string, string>) =>
    new Map([...all].filter(([key]) => !isPartial(key)).sort());
  expect(whole(observed.steps)).toEqual(whole(steps));
}

/** Without the contents of errors: which of two parallel nodes of an item fails first depends on the order. */
const settled = ({ output, state }: Pick<ModelRun, 'output' | 'state'>): unknown =>
  JSON.parse(
    JSON.stringify({ output, state }).replace(
      /\{"message":"[^"]*","kind":"[^"]*","attempts":1\}/g,
      '"error"',
    ),
  );

const orders = fc.array(fc.nat({ max: 1000 }), { minLength: 1, maxLength: 30 });

describe('runs of random graphs', () => {
  test('are generated from valid graphs', () => {
    fc.assert(
      fc.property(randomGraph, (graph) => {
        expect(checkGraph(graph, { tools, customTools: new Map() }).errors).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  test('end with the steps, state and output of the reference model, in any completion order', () => {
    fc.assert(
      fc.property(randomGraph, randomInput, orders, (graph, input, picks) => {
        const compiled = compileGraph(graph);
        const world = worldOf(graph);
        const expected = modelRun(compiled, input, world);
        const { scheduler, observed } = runInOrder(compiled, input, world, picks);
        expect(scheduler.done).toBe(true);
        expectSteps(compiled, observed, expected);
        expect(settled(scheduler.result())).toEqual(settled(expected));
      }),
      { numRuns: 600 },
    );
  });

  test('never start a node before all its inputs of the same iteration are settled', () => {
    fc.assert(
      fc.property(randomGraph, randomInput, orders, (graph, input, picks) => {
        const compiled = compileGraph(graph);
        const { observed } = runInOrder(compiled, input, worldOf(graph), picks);
        const place = new Map(observed.ended.map((key, at) => [key, at]));
        for (const [key, at] of place) {
          const [id, rounds = ''] = key.split('#');
          for (const edge of compiled.edges) {
            const source = compiled.nodes[edge.from]!.id;
            // A body waits for its loop to start, not to end.
            if (
              edge.back ||
              compiled.nodes[edge.to]!.id !== id ||
              compiled.regions[edge.to] === edge.from
            ) {
              continue;
            }
            expect(place.get(rounds === '' ? source : `${source}#${rounds}`)).toBeLessThan(at);
          }
        }
      }),
      { numRuns: 150 },
    );
  });

  test('continue unchanged from a snapshot at any time', () => {
    fc.assert(
      fc.property(
        randomGraph,
        randomInput,
        orders,
        fc.nat({ max: 7 }),
        (graph, input, picks, every) => {
          const compiled = compileGraph(graph);
          const world = worldOf(graph);
          const expected = modelRun(compiled, input, world);
          const { scheduler, observed } = runInOrder(
            compiled,
            input,
            world,
            picks,
            (current, turn, open) => {
              if (turn % (every + 1) !== 0) return current;
              const text = JSON.stringify([compiled, current.snapshot()]);
              const [graphAgain, snapshot] = JSON.parse(text) as [
                CompiledGraph,
                ReturnType<Scheduler['snapshot']>,
              ];
              const restored = createScheduler(graphAgain, {}, snapshot);
              // The restored scheduler returns steps in flight again, so the runner drops its own.
              open.length = 0;
              open.push(...restored.takeReady());
              return restored;
            },
          );
          expect(settled(scheduler.result())).toEqual(settled(expected));
          expectSteps(compiled, observed, expected);
        },
      ),
      { numRuns: 200 },
    );
  });

  test('end the same with failures and retries', () => {
    fc.assert(
      fc.property(randomGraph, randomInput, orders, (graph, input, picks) => {
        const compiled = compileGraph(graph);
        const world = worldOf(graph);
        const { scheduler } = runInOrder(compiled, input, world, picks, (current, turn, open) => {
          const [victim] = open;
          if (victim === undefined || turn % 3 !== 0) return current;
          current.fail(victim.step_key);
          expect([failedNodes(current, graph), current.done]).toEqual([[victim.node_id], false]);
          current.retry(victim.step_key);
          open.shift();
          open.push(...current.takeReady());
          return current;
        });
        const inOrder = runInOrder(compiled, input, world, [0]).scheduler.result();
        expect(settled(scheduler.result())).toEqual(settled(inOrder));
      }),
      { numRuns: 150 },
    );
  });
});
