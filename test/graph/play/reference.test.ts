import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { after, failure, type Mock, play, type PlayOptions } from '#client/testing.ts';
import type { Graph, GraphNode } from '#shared/contract/workflows/graph.ts';
import type { JsonObject } from '#shared/json.ts';
import { childWorkflow, randomGraph, randomInput } from '#test/graph/generated/build.ts';
import { differences } from '#test/graph/generated/compare.ts';
import { referenceRun } from '#test/graph/generated/reference.ts';
import { hash, missesDeadline, type World, worldOf } from '#test/graph/generated/world.ts';

/** The outside world of a generated graph, as a test gives it. */
function optionsOf(graph: Graph, input: JsonObject, world: World): PlayOptions {
  const of = <Value>(pick: (node: GraphNode) => Value | undefined): Record<string, Value> =>
    Object.fromEntries(
      graph.nodes.flatMap((node) => {
        const value = pick(node);
        return value === undefined ? [] : [[node.id, value]];
      }),
    );
  return {
    input,
    mocks: { nodes: of((node) => mockOf(node, world)) },
    decisions: of((node) => {
      if (node.kind === 'agent' && node.tools !== undefined) {
        return ({ step_key }) => (hash(step_key) % 2 === 0 ? 'approve' : 'reject');
      }
      if (node.kind !== 'human_gate') return undefined;
      if (missesDeadline(node)) return 'timeout' as const;
      return ({ step_key, round }) => {
        const end = world.gate(node, step_key, round);
        if ('failed' in end) throw new Error(`${step_key} has a deadline`);
        return end;
      };
    }),
    ...(usesChild(graph) ? { workflows: { [childWorkflow.name]: childWorkflow } } : {}),
  };
}

function mockOf(node: GraphNode, world: World): Mock | undefined {
  if (node.kind === 'code') {
    return node.source.includes('throw') ? failure(node.id) : { by: node.id };
  }
  if (node.kind !== 'tool' || node.tool_name === 'json_transform') return undefined;
  if (node.tool_name === 'send_email') {
    return failure('refused', { error_kind: 'policy', retryable: false });
  }
  if (node.timeout_seconds !== undefined) return after(60, 'late');
  return (_args: JsonObject, { step_key, attempt }: { step_key: string; attempt: number }) =>
    attempt <= world.failingAttempts(node, step_key)
      ? failure('busy')
      : { status: 200, body: { by: step_key } };
}

const usesChild = (graph: Graph): boolean => JSON.stringify(graph).includes(childWorkflow.name);

type Case = [graph: Graph, input: JsonObject, salt: number];
const cases = [randomGraph, randomInput, fc.nat({ max: 10_000 })] as const;

/** The steps of a played case, and how they differ from those of the reference. */
async function compare(...[graph, input, salt]: Case) {
  const world = worldOf(salt);
  const reference = referenceRun(graph, input, world, false);
  const run = await play(graph, optionsOf(graph, input, world));
  const own = run.steps.filter(
    ({ parent_step_key, status }) => parent_step_key === undefined && status !== 'cancelled',
  );
  const observed = {
    failed: run.status === 'failed',
    steps: new Map(own.map(({ step_key, status }) => [step_key, status])),
    ...{ state: run.state, output: run.output ?? {} },
  };
  return { run, own, found: differences(observed, reference) };
}

describe('a generated graph that is played', () => {
  test('ends like the reference', async () => {
    await fc.assert(
      fc.asyncProperty(...cases, async (...each) => {
        const { run, found } = await compare(...each);
        expect(found).toEqual([]);
        expect(['success', 'failed']).toContain(run.status);
      }),
      { numRuns: 400 },
    );
  });

  test('has steps of each kind that succeed and fail', async () => {
    const seen = new Set<string>();
    for (const each of fc.sample(fc.tuple(...cases), { numRuns: 600, seed: 1 })) {
      const { own } = await compare(...each);
      for (const { kind, status } of own) seen.add(`${kind} ${status}`);
    }
    const kinds = ['agent', 'tool', 'code', 'workflow', 'human_gate', 'wait', 'map', 'loop'];
    expect(kinds.filter((kind) => !seen.has(`${kind} success`))).toEqual([]);
    const failing = ['agent', 'tool', 'human_gate', 'condition', 'map'];
    expect(failing.filter((kind) => !seen.has(`${kind} failed`))).toEqual([]);
  });
});
