import { describe, expect, test } from '@jest/globals';
import { evaluationChecksSchema } from '#shared/contract/workflows/evaluation-check.ts';
import { checkGraph } from '#shared/graph/graph-check.ts';
import { builtinTools } from '#shared/tools.ts';
import { examples } from '#scripts/seed/index.ts';

const tools = { tools: builtinTools, customTools: new Map() };

describe.each(examples)('the example "$name"', ({ graph, checks, runs, description }) => {
  test('has no errors or warnings', () => {
    const { valid, errors, warnings } = checkGraph(graph, tools);
    expect({ valid, errors, warnings }).toEqual({ valid: true, errors: [], warnings: [] });
  });

  test.each(runs)('reads only keys in the input of $key', ({ input }) => {
    // Keys that only other inputs have are read behind a condition or with a default.
    const given = Object.keys(input);
    const { warnings } = checkGraph(graph, { ...tools, inputKeys: given });
    const optional = warnings.filter(({ message }) => !/'(amount_usd|order_id)'/.test(message));
    expect(optional).toEqual([]);
  });

  test('describes the keys of its input', () => {
    for (const key of runs.flatMap((run) => Object.keys(run.input))) {
      expect(description).toContain(key);
    }
  });

  test('has a label and a separate position for every node', () => {
    const places = graph.nodes!.map(({ position }) => `${position?.x},${position?.y}`);
    expect(new Set(places).size).toBe(places.length);
    expect(graph.nodes!.filter(({ label }) => (label ?? '') === '')).toEqual([]);
  });

  test('uses only the mock model', () => {
    const models = graph.nodes!.flatMap((node) =>
      node.kind === 'agent' ? [node.model ?? 'mock', ...(node.fallback_models ?? [])] : [],
    );
    expect(new Set(models)).toEqual(new Set(['mock']));
  });

  test('has valid checks', () => {
    expect(checks.length).toBeGreaterThan(0);
    expect(evaluationChecksSchema.parse(checks)).toEqual(checks);
  });
});

describe('all examples', () => {
  test('cover these kinds of nodes, and every state of a run', () => {
    const kinds = new Set(examples.flatMap(({ graph }) => graph.nodes!.map(({ kind }) => kind)));
    expect([...kinds].sort()).toEqual([
      'agent',
      'condition',
      'human_gate',
      'loop',
      'merge',
      'tool',
      'wait',
    ]);
    const ends = new Set(examples.flatMap(({ runs }) => runs.map((run) => run.ends)));
    expect([...ends].sort()).toEqual(['failed', 'paused', 'pending', 'running', 'success']);
  });

  test('have unique names and keys', () => {
    const names = examples.map(({ name }) => name);
    const keys = examples.flatMap(({ runs }) => runs.map(({ key }) => key));
    expect(new Set(names).size).toBe(names.length);
    expect(new Set(keys).size).toBe(keys.length);
  });
});
