import { describe, expect, test } from '@jest/globals';
import { type AgentAction, type AgentLoop, createAgentLoop } from '#shared/agents/loop.ts';
import type { OpenCall } from '#shared/agents/turn-record.ts';

type Event = Parameters<AgentLoop['asked']>[0] | { approved: number } | { settled: number };

const open = (index: number, needs_approval = false): OpenCall => ({
  index,
  tool: 'custom:t',
  needs_approval,
});
const ask = (turn: number, tools = true): AgentAction => ({ do: 'ask', turn, tools });
const call = (turn: number, index: number): AgentAction => ({
  do: 'call',
  turn,
  call: open(index),
});
const wait = (turn: number, index: number): AgentAction => ({
  do: 'await',
  turn,
  call: open(index, true),
});
const used = (turns: string): AgentAction => ({
  do: 'fail',
  error: `The agent used its ${turns} without an answer`,
});

function apply(loop: AgentLoop, event: Event): AgentAction[] {
  if ('approved' in event) return loop.approved(event.approved);
  if ('settled' in event) return loop.settled(event.settled);
  return loop.asked(event);
}

/** Events, each with the actions that must follow. */
type Story = [Event, AgentAction[]][];

const stories: [string, Parameters<typeof createAgentLoop>[0], Story][] = [
  ['an answer in the first turn', {}, [[{ answer: 'x' }, [{ do: 'answer', output: 'x' }]]]],
  ['null is an answer like any other', {}, [[{ answer: null }, [{ do: 'answer', output: null }]]]],
  [
    'calls of a turn at the same time, then the next turn',
    {},
    [
      [{ calls: [open(1), open(2)] }, [call(1, 1), call(1, 2)]],
      [{ settled: 2 }, []],
      [{ settled: 1 }, [ask(2)]],
      [{ answer: 1 }, [{ do: 'answer', output: 1 }]],
    ],
  ],
  ['a turn whose calls were all refused', {}, [[{ calls: [] }, [ask(2)]]]],
  [
    'an approved call is made, a rejected one is settled',
    {},
    [
      [{ calls: [open(1, true), open(2, true)] }, [wait(1, 1), wait(1, 2)]],
      [{ approved: 1 }, [{ do: 'call', turn: 1, call: open(1, true) }]],
      [{ settled: 2 }, []],
      [{ settled: 1 }, [ask(2)]],
    ],
  ],
  [
    'repeated and unknown results change nothing',
    {},
    [
      [{ calls: [open(1), open(2)] }, [call(1, 1), call(1, 2)]],
      [{ settled: 1 }, []],
      [{ settled: 1 }, []],
      [{ approved: 1 }, []],
      [{ settled: 7 }, []],
      [{ settled: 2 }, [ask(2)]],
      [{ settled: 2 }, []],
    ],
  ],
  [
    'the last turn has no use for calls',
    { max_turns: 2 },
    [
      [{ calls: [open(1)] }, [call(1, 1)]],
      [{ settled: 1 }, [ask(2)]],
      [{ calls: [open(1)] }, [used('2 turns')]],
    ],
  ],
  ['one turn', { max_turns: 1 }, [[{ calls: [open(1)] }, [used('1 turn')]]]],
  [
    'one more turn, without tools, to answer',
    { max_turns: 1, on_max_turns: 'answer' },
    [
      [{ calls: [open(1)] }, [call(1, 1)]],
      [{ settled: 1 }, [ask(2, false)]],
      [{ answer: 'x' }, [{ do: 'answer', output: 'x' }]],
    ],
  ],
  [
    'a model that calls although it has to answer',
    { max_turns: 1, on_max_turns: 'answer' },
    [
      [{ calls: [] }, [ask(2, false)]],
      [{ calls: [open(1)] }, [used('1 turn')]],
    ],
  ],
];

describe('the turns of an agent', () => {
  test.each(stories)('%s', (_, node, story) => {
    const loop = createAgentLoop(node);
    expect(loop.start()).toEqual([ask(1)]);
    for (const [event, actions] of story) expect(apply(loop, event)).toEqual(actions);
  });

  test('restarts at a turn, and repeats its actions', () => {
    const loop = createAgentLoop({ max_turns: 3 }, 3);
    expect(loop.start()).toEqual([ask(3)]);
    expect(loop.turn).toBe(3);
    expect(loop.asked({ calls: [open(1)] })).toEqual([used('3 turns')]);
  });

  test('has ten turns by default', () => {
    const loop = createAgentLoop({});
    loop.start();
    for (let turn = 2; turn <= 10; turn += 1) {
      expect(loop.asked({ calls: [] })).toEqual([ask(turn)]);
    }
    expect(loop.asked({ calls: [] })).toEqual([used('10 turns')]);
  });
});
