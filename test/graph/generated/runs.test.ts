import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Graph } from '#shared/contract/workflows/graph.ts';
import { errorKinds } from '#shared/graph/caught-error.ts';
import { compileGraph } from '#shared/graph/compile.ts';
import { nodeKinds } from '#shared/graph/kinds.ts';
import { checkGraph } from '#shared/graph/graph-check.ts';
import type { JsonObject } from '#shared/json.ts';
import { generatedTools, randomGraph, randomInput } from './build.ts';
import { differences } from './compare.ts';
import { leadsBack, planOf } from './plan.ts';
import { referenceRun, type ReferenceRun } from './reference.ts';
import { type Observed, runInShell } from './shell.ts';
import { worldOf } from './world.ts';

/** `GRAPHS` sets the number of graphs. The report of a failure has a seed and a path, which repeat it. */
const { GRAPHS, GRAPH_SEED, GRAPH_PATH } = process.env;
const settings = (numRuns: number) => ({
  numRuns: GRAPHS === undefined ? numRuns : Number(GRAPHS),
  ...(GRAPH_SEED === undefined ? {} : { seed: Number(GRAPH_SEED) }),
  ...(GRAPH_PATH === undefined ? {} : { path: GRAPH_PATH }),
});

/** A graph, its input, the order of events, and the outside world. */
type Case = [graph: Graph, input: JsonObject, picks: number[], salt: number];
const cases: [
  fc.Arbitrary<Graph>,
  fc.Arbitrary<JsonObject>,
  fc.Arbitrary<number[]>,
  fc.Arbitrary<number>,
] = [
  randomGraph,
  randomInput,
  fc.array(fc.nat({ max: 1000 }), { minLength: 1, maxLength: 30 }),
  fc.nat({ max: 10_000 }),
];

function run([graph, input, picks, salt]: Case, resumes = true) {
  const world = worldOf(salt);
  const reference = referenceRun(graph, input, world, resumes);
  const observed = runInShell(compileGraph(graph), input, world, { picks, resumes });
  return { reference, observed };
}

/** The steps with another number of rounds than in the reference. */
function wrongRounds({ steps }: ReferenceRun, { rounds }: Observed): string[] {
  return [...rounds].flatMap(([key, count]) => {
    const step = steps.get(key);
    return step?.certain === true && step.rounds !== count
      ? [`${key} had ${count} rounds, not ${step.rounds}`]
      : [];
  });
}

describe('runs of generated graphs', () => {
  test('have valid graphs', () => {
    fc.assert(
      fc.property(randomGraph, (graph) => {
        expect(checkGraph(graph, { tools: generatedTools, customTools: new Map() }).errors).toEqual(
          [],
        );
      }),
      { numRuns: 300 },
    );
  });

  test('end like the reference, in any order, with resumes and continue-as-new', () => {
    fc.assert(
      fc.property(...cases, (...each) => {
        const { reference, observed } = run(each);
        expect(differences(observed, reference)).toEqual([]);
        expect(wrongRounds(reference, observed)).toEqual([]);
      }),
      settings(400),
    );
  });

  test('fail like the reference, without what waits for the failed steps', () => {
    fc.assert(
      fc.property(...cases, (...each) => {
        const { reference, observed } = run(each, false);
        expect(differences(observed, reference)).toEqual([]);
      }),
      settings(200),
    );
  });

  test('never start a node before all its inputs of the same iteration are settled', () => {
    fc.assert(
      fc.property(...cases, (...each) => {
        const { ended } = run(each).observed;
        const [graph] = each;
        const { body } = planOf(graph);
        const place = new Map(ended.map((key, at) => [key, at]));
        for (const [key, at] of place) {
          const [id, iteration] = key.split('#');
          for (const edge of graph.edges) {
            // A body waits for its loop or map to start, not to end.
            if (edge.target !== id || leadsBack(body, edge) || body.get(id) === edge.source) {
              continue;
            }
            const source = [edge.source, ...(iteration === undefined ? [] : [iteration])];
            expect(place.get(source.join('#'))).toBeLessThan(at);
          }
        }
      }),
      { numRuns: 150 },
    );
  });

  test('contain every kind of node, of error and of restart', () => {
    const seen = new Set<string>();
    const restarts = { snapshot: 0, ledger: 0 };
    let resumed = 0;
    for (const each of fc.sample(fc.tuple(...cases), { numRuns: 1_500, seed: 1 })) {
      const { reference, observed } = run(each);
      for (const { kind, status } of reference.steps.values()) seen.add(`${kind} ${status}`);
      for (const [, kind] of JSON.stringify(observed.state).matchAll(/"kind":"(\w+)"/g)) {
        seen.add(`error ${kind}`);
      }
      restarts.snapshot += observed.restarts.snapshot;
      restarts.ledger += observed.restarts.ledger;
      if ([...observed.rounds.values()].some((rounds) => rounds > 1)) resumed += 1;
    }
    const expected = [
      ...nodeKinds.flatMap((kind) => [`${kind} success`, `${kind} skipped`]),
      ...['agent', 'tool', 'human_gate', 'condition', 'loop', 'map'].map(
        (kind) => `${kind} failed`,
      ),
      // A generated step has no connection to sign in to: see test/engine/connections.test.ts.
      ...errorKinds.flatMap((kind) => (kind === 'connection' ? [] : [`error ${kind}`])),
    ];
    expect(expected.filter((each) => !seen.has(each))).toEqual([]);
    expect([restarts.snapshot > 500, restarts.ledger > 50, resumed > 100]).toEqual([
      true,
      true,
      true,
    ]);
  });
});
