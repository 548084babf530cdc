import { expect, test } from '@jest/globals';
import { graphSchema } from '#shared/contract/workflows/graph.ts';
import { compileGraph } from '#shared/graph/compile.ts';
import { createScheduler, laidAt } from '#shared/graph/schedule/scheduler.ts';
import type { JsonObject } from '#shared/json.ts';
import { approvedEffects } from './asked-gate.ts';

const graph = graphSchema.parse({
  nodes: [
    { id: 'review', kind: 'human_gate' },
    { id: 'each', kind: 'map', items: 'parts' },
    { id: 'first', kind: 'condition', expression: 'true' },
    {
      ...{ id: 'pay', kind: 'tool', tool_name: 'http_request' },
      params: { url: 'https://bank.test/', method: 'POST', body: '{amount}' },
    },
  ],
  edges: [
    { source: 'review', target: 'each', condition_value: 'true' },
    { source: 'each', target: 'first', condition_value: 'true' },
    { source: 'first', target: 'pay' },
    { source: 'pay', target: 'each' },
  ],
});

/** What is known of the payments of each item, in a fork that merges this into the state. */
function paidWith(laid: Record<string, JsonObject>): unknown[] {
  const compiled = compileGraph(graph);
  const input = { parts: [1, 2], amount: 5 };
  const scheduler = createScheduler(compiled, input, undefined, { arrivals: laidAt(laid) });
  scheduler.takeReady(Infinity);
  return approvedEffects(graph, scheduler, laid).map(({ arguments: args, unknown }) =>
    unknown.length > 0 ? 'unknown' : args['body'],
  );
}

test('the state of a fork is known where it was merged, and not where it is merged later', () => {
  expect(paidWith({})).toEqual([5, 5]);
  expect(paidWith({ review: { amount: 7 } })).toEqual([7, 7]);
  expect(paidWith({ 'pay#1': { amount: 7 } })).toEqual(['unknown', 'unknown']);
});

test('state that is merged within an item, before a computed step, is not known there', () => {
  expect(paidWith({ 'first#1': { amount: 7 } })).toEqual(['unknown', 'unknown']);
});

test('state that is merged in a later iteration of a loop is not known beside it', () => {
  const step = (id: string) => ({
    ...{ id, kind: 'tool', tool_name: 'http_request' },
    params: { url: `https://steps.test/${id}` },
  });
  const body = '{amount}';
  const params = { url: 'https://bank.test/', method: 'POST', body };
  const beside = graphSchema.parse({
    nodes: [
      { id: 'review', kind: 'human_gate' },
      { id: 'pay', kind: 'tool', tool_name: 'http_request', params },
      { id: 'again', kind: 'loop', expression: 'true', max_iterations: 2 },
      step('fast'),
      step('slow'),
    ],
    edges: [
      { source: 'review', target: 'pay', condition_value: 'true' },
      { source: 'again', target: 'fast', condition_value: 'true' },
      { source: 'again', target: 'slow', condition_value: 'true' },
      { source: 'fast', target: 'again' },
      { source: 'slow', target: 'again' },
    ],
  });
  const laid = { 'fast#2': { amount: 7 } };
  const arrivals = laidAt(laid);
  const scheduler = createScheduler(compileGraph(beside), { amount: 5 }, undefined, { arrivals });
  const paid = (): unknown[] =>
    approvedEffects(beside, scheduler, laid).map(({ arguments: args, unknown }) =>
      unknown.length > 0 ? 'unknown' : args['body'],
    );
  scheduler.takeReady(Infinity);
  expect(paid()).toEqual(['unknown']);
  // In the first iteration, the step has ended, and the other one has not.
  scheduler.complete('fast#1', null);
  expect(paid()).toEqual(['unknown']);
  scheduler.complete('slow#1', null);
  expect(paid()).toEqual([7]);
});
