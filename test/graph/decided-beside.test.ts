import { expect, test } from '@jest/globals';
import { graphSchema } from '#shared/contract/workflows/graph.ts';
import { compileGraph } from '#shared/graph/compile.ts';
import { refusal } from '#shared/graph/gates/rejection.ts';
import { prepareStep } from '#shared/graph/prepare/step.ts';
import { createScheduler } from '#shared/graph/schedule/scheduler.ts';
import { NO_CALLBACKS } from '#shared/graph/waits/callbacks.ts';
import { approvedEffects } from './asked-gate.ts';

test('a text with the error of a gate that was rejected beside is the one that is sent', () => {
  const graph = graphSchema.parse({
    nodes: [
      { id: 'review', kind: 'human_gate' },
      { id: 'other', kind: 'human_gate' },
      { id: 'after', kind: 'tool', tool_name: 'json_transform', params: { expression: 'other' } },
      { id: 'write', kind: 'agent', model: 'mock', prompt: 'Because of {other}' },
    ],
    edges: [
      { source: 'review', target: 'write', condition_value: 'true' },
      { source: 'other', target: 'after', condition_value: 'error' },
    ],
  });
  const compiled = compileGraph(graph);
  const scheduler = createScheduler(compiled, { other: 'open' });
  scheduler.takeReady(Infinity);
  const decision = { step_key: 'other', round: 1, approved: false, reason: 'too late' };
  const [shown] = approvedEffects(graph, scheduler, {}, [decision]);

  scheduler.decide('other', decision);
  scheduler.catchFailure('other', refusal('other', decision));
  scheduler.complete('after', null);
  const write = graph.nodes.find(({ id }) => id === 'write')!;
  if (write.kind !== 'agent') throw new Error('write is no agent');
  const { prompt } = prepareStep(write, scheduler.state('write'), NO_CALLBACKS).params;
  expect(prompt).toContain('Rejected at gate');
  expect(shown).toMatchObject({ arguments: { prompt }, unknown: [] });
});
