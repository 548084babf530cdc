import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { drawingOf } from '#console/src/graph/drawn.ts';
import { eventText, stepOfEvent } from '#console/src/pages/runs/event-texts.ts';
import { nodeStates, stepName, stepsByNode } from '#console/src/pages/runs/node-states.ts';
import {
  cancelFacts,
  namesText,
  resumeFacts,
  webAddress,
} from '#console/src/pages/runs/run-facts.ts';
import { rejectedGates, shownState } from '#console/src/pages/runs/steps/step-state.ts';
import { coalesce } from '#console/src/queries/coalesce.ts';
import { at, event, run, step } from './run-samples.ts';

const graph = {
  nodes: [
    { id: 'ask', kind: 'condition', expression: 'true' },
    { id: 'yes', kind: 'agent' },
    { id: 'no', kind: 'agent' },
    { id: 'again', kind: 'loop', expression: 'true' },
    { id: 'work', kind: 'agent' },
    { id: 'end', kind: 'merge' },
  ],
  edges: [
    { source: 'ask', target: 'yes', condition_value: 'true' },
    { source: 'ask', target: 'no', condition_value: 'false' },
    { source: 'yes', target: 'again' },
    { source: 'again', target: 'work', condition_value: 'true' },
    { source: 'work', target: 'again' },
    { source: 'again', target: 'end', condition_value: 'false' },
  ],
};
const drawing = drawingOf(graph);
const asked = step({ node_id: 'ask', kind: 'condition', output: { result: true } });
const yes = step({ node_id: 'yes' });
const no = step({ node_id: 'no', status: 'skipped' });

describe('node states', () => {
  test('show which branch a condition took, and which edges are still open', () => {
    const { taken } = nodeStates(run([asked, yes, no]), drawing);
    expect(taken({ source: 'ask', target: 'yes', conditionValue: 'true' })).toBe(true);
    expect(taken({ source: 'ask', target: 'no', conditionValue: 'false' })).toBe(false);
    expect(taken({ source: 'yes', target: 'again', conditionValue: undefined })).toBe(true);
    expect(taken({ source: 'work', target: 'again', conditionValue: undefined })).toBeUndefined();
    const ended = nodeStates(run([asked, yes, no], { status: 'failed' }), drawing);
    expect(ended.taken({ source: 'work', target: 'again', conditionValue: undefined })).toBe(false);
  });

  test('a caught error took the error edges, and a success took the others', () => {
    const catching = drawingOf({
      nodes: graph.nodes,
      edges: [
        { source: 'yes', target: 'end' },
        { source: 'yes', target: 'work', condition_value: 'error' },
      ],
    });
    const taken = (of: Parameters<typeof step>[0], open: string) =>
      catching.edges.map(nodeStates(run([step(of), step({ node_id: open })]), catching).taken);
    expect(taken({ node_id: 'yes', status: 'failed', caught: true }, 'work')).toEqual([
      false,
      true,
    ]);
    expect(taken({ node_id: 'yes' }, 'end')).toEqual([true, false]);
  });

  test('distinguish two branches of one condition to the same node', () => {
    const both = drawingOf({
      nodes: graph.nodes,
      edges: [
        { source: 'ask', target: 'end', condition_value: 'true' },
        { source: 'ask', target: 'end', condition_value: 'false' },
      ],
    });
    const { taken } = nodeStates(run([asked, step({ node_id: 'end' })]), both);
    expect(both.edges.map(taken)).toEqual([true, false]);
  });

  test('use the latest iteration of a node, in any order of steps', () => {
    const iterations = [10, 2, 1].map((iteration) =>
      step({ node_id: 'work', iteration: [iteration] }),
    );
    const loop = step({ node_id: 'again', kind: 'loop', status: 'running', finished_at: null });
    const states = nodeStates(run([asked, yes, no, loop, ...iterations]), drawing);
    expect(states.latestOf('work')?.step_key).toBe('work#10');
    expect(states.stepsOf('work').map(({ step_key }) => step_key)).toEqual([
      'work#1',
      'work#2',
      'work#10',
    ]);
    expect(states.iterationsOf('again')).toBe(10);
    expect(states.iterationsOf('work')).toBeUndefined();
    const { taken } = states;
    expect(taken({ source: 'again', target: 'work', conditionValue: 'true' })).toBe(true);
    expect(taken({ source: 'again', target: 'end', conditionValue: 'false' })).toBeUndefined();
  });

  test('recognize a loop that ended without an iteration', () => {
    const loop = step({ node_id: 'again', kind: 'loop', output: { iterations: 0 } });
    const unused = step({ node_id: 'work', status: 'skipped' });
    const { iterationsOf, taken } = nodeStates(run([asked, yes, no, loop, unused]), drawing);
    expect(iterationsOf('again')).toBe(0);
    expect(taken({ source: 'again', target: 'work', conditionValue: 'true' })).toBe(false);
    expect(taken({ source: 'again', target: 'end', conditionValue: 'false' })).toBe(true);
  });

  test('count the iterations of an inner loop within its outer iteration', () => {
    const nested = drawingOf({
      nodes: [
        { id: 'outer', kind: 'loop' },
        { id: 'inner', kind: 'loop' },
        { id: 'work', kind: 'agent' },
      ],
      edges: [
        { source: 'outer', target: 'inner', condition_value: 'true' },
        { source: 'inner', target: 'work', condition_value: 'true' },
        { source: 'work', target: 'inner' },
        { source: 'inner', target: 'outer', condition_value: 'false' },
      ],
    });
    const steps = [
      step({ node_id: 'outer', kind: 'loop', status: 'running' }),
      step({ node_id: 'inner', kind: 'loop', iteration: [1] }),
      step({ node_id: 'work', iteration: [1, 1] }),
      step({ node_id: 'work', iteration: [1, 2] }),
      step({ node_id: 'inner', kind: 'loop', iteration: [2], status: 'running' }),
    ];
    const begun = nodeStates(run(steps), nested);
    expect(begun.iterationsOf('outer')).toBe(2);
    expect(begun.iterationsOf('inner')).toBe(0);
    const more = nodeStates(run([...steps, step({ node_id: 'work', iteration: [2, 1] })]), nested);
    expect(more.iterationsOf('inner')).toBe(1);
    expect(stepName(step({ node_id: 'work', iteration: [2, 1] }))).toBe('work, iteration 2.1');
  });
});

describe('an event', () => {
  const steps = [1, 2, 3].map((iteration) =>
    step({
      node_id: 'work',
      iteration: [iteration],
      started_at: at(iteration * 100),
      finished_at: at(iteration * 100 + 40),
    }),
  );
  const { stepsOf } = stepsByNode(steps);
  const keyOf = (ms: number, frame: Record<string, unknown>): string | undefined =>
    stepOfEvent(event(1, ms, frame), stepsOf)?.step_key;

  test('belongs to the step of its node that started or ended at that time', () => {
    const node = { node_id: 'work', label: 'Work' };
    expect(keyOf(100, { type: 'step_started', ...node })).toBe('work#1');
    expect(keyOf(201, { type: 'step_started', ...node })).toBe('work#2');
    expect(keyOf(239, { type: 'step_completed', ...node })).toBe('work#2');
    expect(keyOf(340, { type: 'step_completed', ...node })).toBe('work#3');
    expect(keyOf(9_999, { type: 'step_failed', ...node, error: 'x' })).toBe('work#3');
  });

  test('of the run or of an unknown node belongs to no step', () => {
    expect(keyOf(100, { type: 'run_completed' })).toBeUndefined();
    expect(keyOf(100, { type: 'step_completed', node_id: 'gone' })).toBeUndefined();
  });

  test('has a text, separate from user text', () => {
    const labelOf = (nodeId: string): string => `Label of ${nodeId}`;
    expect(eventText(event(1, 0, { type: 'run_evaluated', passed: 1, total: 2 }), labelOf)).toEqual(
      {
        text: 'Checks passed: 1 of 2',
        userText: undefined,
      },
    );
    const failed = event(1, 0, { type: 'run_failed', error: '<b>' });
    expect(eventText(failed, labelOf).userText).toBe('<b>');
    const completed = event(1, 0, { type: 'step_completed', node_id: 'a' });
    expect(eventText(completed, labelOf).userText).toBe('Label of a');
  });

  test('shows a rejected gate as rejected, also when the graph handles the rejection', () => {
    const by = { by: 'Ann', by_kind: 'member' } as const;
    const decision = { approved: false, ...by, at: at(1), reason: null };
    const gate = step({ node_id: 'gate', kind: 'human_gate', decision });
    expect(shownState(gate)).toBe('rejected');
    expect(shownState({ ...gate, status: 'failed' })).toBe('rejected');
    // The gate has opened again after a resume.
    expect(shownState({ ...gate, status: 'paused' })).toBe('paused');
    expect(shownState(step({ node_id: 'a' }))).toBe('success');
    expect(rejectedGates(run([gate, step({ node_id: 'a' })]))).toEqual(['gate']);
  });
});

describe('the effect of an action', () => {
  test('resume retries failed steps and keeps finished ones', () => {
    const steps = [
      yes,
      step({ node_id: 'book', status: 'failed' }),
      step({ node_id: 'again', kind: 'loop', status: 'running' }),
      no,
    ];
    expect(resumeFacts(run(steps, { failure: { kind: 'node', node_id: 'book' } }))).toEqual({
      again: ['book'],
      kept: 1,
      after: 'other',
    });
    const stopped = resumeFacts(run([], { failure: { kind: 'budget' } }));
    expect(stopped).toEqual({ again: [], kept: 0, after: 'budget' });
  });

  test('cancel stops active steps and closes open gates', () => {
    const steps = [yes, step({ node_id: 'slow', status: 'running' })];
    const gate = {
      kind: 'human_gate' as const,
      node_id: 'g',
      step_key: 'g',
      label: 'Gate',
      title: 'Gate',
      prompt: '',
      since: at(0),
    };
    expect(cancelFacts(run(steps, { pending_gates: [gate] }))).toEqual({
      stopped: ['slow'],
      kept: 1,
      gates: 1,
    });
  });

  test('lists a few names and counts the rest', () => {
    expect(namesText([])).toBe('');
    expect(namesText(['a'])).toBe('“a”');
    expect(namesText(['a', 'b'])).toBe('“a” and “b”');
    expect(namesText(['a', 'b', 'c', 'd', 'e'])).toBe('“a”, “b”, “c” and 2 more');
  });

  test('only web addresses become links', () => {
    expect(webAddress('https://temporal.example/x')).toBe('https://temporal.example/x');
    expect(webAddress('javascript:alert(1)')).toBeUndefined();
    expect(webAddress('//evil.example')).toBeUndefined();
  });
});

describe('coalesced requests', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });
  const soon = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms);

  test('run immediately, and once more for all requests in the meantime', async () => {
    let count = 0;
    const { ask, stop } = coalesce(async () => {
      count += 1;
    }, 60);
    for (let times = 0; times < 50; times += 1) ask();
    expect(count).toBe(1);
    await soon(200);
    expect(count).toBe(2);
    ask();
    ask();
    await soon(20);
    expect(count).toBe(3);
    await soon(200);
    expect(count).toBe(4);
    ask();
    ask();
    stop();
    await soon(200);
    expect(count).toBe(5);
  });

  test('never run in parallel, and continue after a failure', async () => {
    let under = 0;
    let most = 0;
    let count = 0;
    const { ask } = coalesce(async () => {
      under += 1;
      most = Math.max(most, under);
      await new Promise((resolve) => setTimeout(resolve, 30));
      under -= 1;
      count += 1;
      throw new Error('away');
    }, 5);
    for (let times = 0; times < 10; times += 1) {
      ask();
      await soon(10);
    }
    await soon(100);
    expect(most).toBe(1);
    expect(count).toBeGreaterThan(2);
  });
});
