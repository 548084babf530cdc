import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Graph } from '#shared/contract/workflows/graph.ts';
import { type CompiledGraph, compileGraph } from '#shared/graph/compile.ts';
import { planFork } from '#shared/graph/forks/plan.ts';
import type { RecordedRun } from '#shared/graph/forks/play.ts';
import { planRehearsal } from '#shared/graph/forks/rehearsal.ts';
import type { JsonObject } from '#shared/json.ts';
import { draw } from '#test/graph/drawing.ts';
import { randomGraph, randomInput } from './build.ts';
import { differences } from './compare.ts';
import { referenceRun } from './reference.ts';
import { type Ended, runInShell } from './shell.ts';
import { worldOf } from './world.ts';

/** `GRAPHS` sets the number of graphs. The report of a failure has a seed and a path, which repeat it. */
const { GRAPHS = '150', GRAPH_SEED, GRAPH_PATH } = process.env;
const settings = {
  numRuns: Number(GRAPHS),
  ...(GRAPH_SEED === undefined ? {} : { seed: Number(GRAPH_SEED) }),
  ...(GRAPH_PATH === undefined ? {} : { path: GRAPH_PATH }),
};

/** Forks of one graph, at steps that are spread over the run. */
const STEPS_PER_GRAPH = Number(process.env['GRAPH_STEPS'] ?? 8);

function recordedOf(
  graph: Graph,
  input: JsonObject,
  ledger: ReadonlyMap<string, Ended>,
): RecordedRun {
  const recorded: RecordedRun = {
    ...{ graph, input, laid: {}, outputs: {}, caught: {}, decisions: {} },
    failed: [],
    order: [...ledger.keys()],
  };
  for (const [key, ended] of ledger) {
    if ('output' in ended) recorded.outputs[key] = ended.output;
    else if ('caught' in ended) recorded.caught[key] = ended.caught;
    else if (!('failed' in ended.decided)) {
      recorded.decisions[key] = { ...ended.decided, by_kind: 'member' };
    }
  }
  return recorded;
}

/** The nodes that follow a node at any distance, and the node itself. The end of a body is followed by its loop or map. */
function following({ nodes, edges, regions }: CompiledGraph, nodeId: string): Set<string> {
  const found = new Set([nodes.findIndex(({ id }) => id === nodeId)]);
  for (const node of found) {
    if (regions[node] !== -1) found.add(regions[node]!);
    for (const { from, to } of edges) if (from === node) found.add(to);
  }
  return new Set([...found].map((node) => nodes[node]!.id));
}

/** The gates outside of loops and maps whose decision is taken over, although something behind them is executed. */
function keptBeforeWork(
  graph: CompiledGraph,
  { rounds }: { rounds: ReadonlyMap<string, unknown> },
  known: ReadonlyMap<string, unknown>,
): string[] {
  const executed = new Set(
    [...rounds.keys()].filter((key) => !known.has(key)).map((key) => key.split('#')[0]!),
  );
  const works = graph.nodes.filter(
    ({ id, kind }) => executed.has(id) && kind !== 'human_gate' && kind !== 'wait',
  );
  return graph.nodes
    .filter(
      ({ id, kind }, at) => kind === 'human_gate' && graph.regions[at] === -1 && known.has(id),
    )
    .filter(({ id }) => works.some((work) => following(graph, id).has(work.id)))
    .map(({ id }) => id);
}

/** Whether an error edge has taken a failure, also one that the ledger does not have: of a condition in a map. */
const caught = ({ edges }: Graph, steps: ReadonlyMap<string, string>): boolean => {
  const catching = new Set(
    edges.filter(({ condition_value }) => condition_value === 'error').map(({ source }) => source),
  );
  return [...steps].some(
    ([key, status]) => status === 'failed' && catching.has(key.split('#')[0]!),
  );
};

test('a fork after any step ends like its source, and executes only what follows', () => {
  let forks = 0;
  let reused = 0;
  fc.assert(
    fc.property(
      randomGraph,
      randomInput,
      fc.array(fc.nat({ max: 1000 }), { minLength: 1, maxLength: 30 }),
      fc.nat({ max: 10_000 }),
      (graph, input, picks, salt) => {
        const world = worldOf(salt);
        const compiled = compileGraph(graph);
        const source = runInShell(compiled, input, world, { picks });
        const reference = referenceRun(graph, input, world);
        const recorded = recordedOf(graph, input, source.ledger);
        const stride = Math.ceil(source.steps.size / STEPS_PER_GRAPH);
        for (const [at, [from, status]] of [...source.steps].entries()) {
          if ((at + salt) % stride !== 0) continue;
          if (status === 'skipped') continue;
          const { kept, not_reused, others, problem } = planFork({ recorded, from });
          // An item that another one stops may end before this step.
          const ordered = reference.steps.get(from)?.certain === true;
          if (ordered) expect([from, problem]).toEqual([from, undefined]);
          if (problem !== undefined) continue;
          expect(kept).not.toContain(from);
          const known = new Map(kept.map((key) => [key, source.ledger.get(key)!]));
          const fork = runInShell(compiled, input, world, { picks, known });
          expect([from, differences(fork, reference)]).toEqual([from, []]);
          expect([...fork.rounds.keys()].filter((key) => known.has(key))).toEqual([]);
          const follows = following(compiled, from.split('#')[0]!);
          const named = new Set(not_reused.map(({ step_key }) => step_key));
          const missing = [...source.ledger.keys()].filter(
            (key) =>
              !known.has(key) &&
              !Object.hasOwn(others, key) &&
              !follows.has(key.split('#')[0]!) &&
              !named.has(key),
          );
          expect([from, missing]).toEqual([from, []]);
          // Only where the order of failures decides.
          const notAsked = not_reused.filter(({ reason }) => !reason.includes('asked again'));
          if (ordered && !caught(graph, source.steps)) expect(notAsked).toEqual([]);
          expect([from, keptBeforeWork(compiled, fork, known)]).toEqual([from, []]);
          forks += 1;
          reused += kept.length;
        }
      },
    ),
    settings,
  );
  expect([forks > 3 * Number(GRAPHS), reused > 5 * Number(GRAPHS)]).toEqual([true, true]);
});

describe('a step that an error kept from starting', () => {
  const failed = { message: 'Down', kind: 'node', attempts: 1 } as const;
  const approved = { approved: true, by_kind: 'member' } as const;
  const recordedAs = (text: string, map: object, rest: Partial<RecordedRun>): RecordedRun => ({
    ...{
      graph: draw(text, { p: map as never }),
      input: { items: [1, 2, 3] },
      laid: {},
      failed: [],
    },
    ...{ outputs: {}, caught: {}, decisions: {}, order: [], ...rest },
  });

  test('does not start in the fork either, so no gate is asked again', () => {
    const order = ['g', 't', 'a#2', 'a#1', 'e', 'u'];
    const recorded = recordedAs(
      'g -true-> p -true-> a -> p -error-> e\nt -> u',
      { concurrency: 2 },
      {
        outputs: { t: 1, 'a#1': 1, e: 1, u: 1 },
        caught: { 'a#2': failed },
        decisions: { g: approved },
        order,
      },
    );
    const { kept, not_reused, problem } = planFork({ recorded, from: 'u' });
    expect([kept, not_reused, problem]).toEqual([order.slice(0, -1), [], undefined]);
    const ended = (key: string): Ended => {
      if (key === 'g') return { decided: approved };
      return key === 'a#2' ? { caught: failed } : { output: 1 };
    };
    const known = new Map(kept.map((key) => [key, ended(key)]));
    for (const pick of [0, 1, 2, 3]) {
      const { rounds } = runInShell(compileGraph(recorded.graph), recorded.input, worldOf(1), {
        ...{ picks: [pick, 1, 2], known },
      });
      expect([...rounds.keys()]).toEqual(['u']);
    }
  });

  test('starts if a gate before the error is asked again, so its own gate is, too', () => {
    const recorded = recordedAs(
      `
      p -true-> a -> g1 -true-> b -> d -> p
      a -> g2 -true-> e -> p
      g2 -true-> i -> j -> p
      a -> h -> j`,
      { on_item_error: 'collect' },
      {
        input: { items: [1] },
        outputs: { 'a#1': 1, 'h#1': 1, 'b#1': 1, 'i#1': 1 },
        caught: { 'e#1': failed },
        decisions: { 'g1#1': approved, 'g2#1': approved },
        // The error ends the item: d#1 does not start.
        order: ['a#1', 'h#1', 'g1#1', 'g2#1', 'i#1', 'e#1', 'b#1'],
      },
    );
    const { kept, not_reused, problem } = planFork({ recorded, from: 'h#1' });
    expect(problem).toBeUndefined();
    expect(not_reused.map(({ step_key }) => step_key)).toEqual(
      expect.arrayContaining(['g1#1', 'g2#1']),
    );
    expect(kept).toEqual(['a#1']);
  });
});

test('a gate is asked again if the state of the fork makes another branch execute something behind it', () => {
  const recorded: RecordedRun = {
    graph: draw('g -true-> p -true-> a -> p\nt -> u', { p: { concurrency: 2 } as never }),
    ...{ input: { items: [] }, laid: {}, failed: [], outputs: { t: 1, u: 1 }, caught: {} },
    ...{ decisions: { g: { approved: true, by_kind: 'member' } }, order: [] },
  };
  const asked = (order: string[], state: JsonObject) =>
    planFork({ recorded: { ...recorded, order }, from: 'u', state }).not_reused;
  expect(asked(['t', 'g', 'u'], {})).toEqual([]);
  expect(asked(['t', 'g', 'u'], { other: 1 })).toEqual([]);
  expect(asked(['t', 'g', 'u'], { items: [1, 2] })).toMatchObject([{ step_key: 'g' }]);
  // The map has ended before.
  expect(asked(['g', 't', 'u'], { items: [1, 2] })).toEqual([]);
});

test('a rehearsal of any run, from any step, ends like it and executes nothing without a record', () => {
  let rehearsals = 0;
  fc.assert(
    fc.property(
      randomGraph,
      randomInput,
      fc.array(fc.nat({ max: 1000 }), { minLength: 1, maxLength: 30 }),
      fc.nat({ max: 10_000 }),
      fc.boolean(),
      (graph, input, picks, salt, resumes) => {
        const world = worldOf(salt);
        const compiled = compileGraph(graph);
        const source = runInShell(compiled, input, world, { picks, resumes });
        const reference = referenceRun(graph, input, world);
        const recorded = recordedOf(graph, input, source.ledger);
        const failed = [...source.steps]
          .filter(([key, status]) => status === 'failed' && !source.ledger.has(key))
          .map(([key]) => key);
        const run = { ...recorded, failed };
        const same = {
          ...{ recorded: run, graph, input, decided: [], effects: false, pinned: [] },
          retries: false,
        };
        const places = [...source.steps]
          .filter(([, status]) => status !== 'skipped')
          .map(([key]) => key);
        for (const from of [undefined, ...places]) {
          const { kept, problem } = planRehearsal({ ...same, from });
          if (problem !== undefined) {
            expect([from, reference.steps.get(from ?? '')?.certain]).not.toEqual([from, true]);
            continue;
          }
          const known = new Map(kept.map((key) => [key, source.ledger.get(key)!]));
          const rehearsal = runInShell(compiled, input, world, {
            picks,
            known,
            resumes,
            failed,
          });
          expect([from, rehearsal.failed]).toEqual([from, source.failed]);
          if (!source.failed) expect([from, differences(rehearsal, reference)]).toEqual([from, []]);
          const executed = [...rehearsal.rounds.keys()].filter((key) => !known.has(key));
          // Those that had failed: their failures are in the record.
          const allowed = new Set(source.failed ? failed : []);
          expect([from, executed.filter((key) => !allowed.has(key))]).toEqual([from, []]);
          rehearsals += 1;
        }
      },
    ),
    settings,
  );
  expect(rehearsals).toBeGreaterThan(3 * Number(GRAPHS));
});

test('the same graph and input with changes elsewhere reuse the same steps', () => {
  fc.assert(
    fc.property(randomGraph, randomInput, fc.nat({ max: 10_000 }), (graph, input, salt) => {
      const source = runInShell(compileGraph(graph), input, worldOf(salt), { picks: [1] });
      const recorded = recordedOf(graph, input, source.ledger);
      const renamed = {
        ...graph,
        nodes: graph.nodes.map((node) => ({ ...node, label: `${node.id} renamed` })),
      };
      for (const [from, status] of [...source.steps].slice(0, 5)) {
        if (status === 'skipped') continue;
        const changed = { graph: renamed, input };
        expect(planFork({ recorded, from, changed })).toEqual(planFork({ recorded, from }));
      }
    }),
    { ...settings, numRuns: Math.min(300, settings.numRuns) },
  );
});
