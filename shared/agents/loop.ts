import type { Json } from '#shared/json.ts';
import type { OpenCall, TurnProgress } from './turn-record.ts';

export const DEFAULT_MAX_TURNS = 10;
/** Calls that one turn can make. More are refused. */
export const MAX_CALLS_PER_TURN = 100;
/** Of more calls than a turn can make, up to twice as many are refused; the rest is ignored. */
export const MAX_REQUESTED_CALLS = 2 * MAX_CALLS_PER_TURN;
/** Characters of a result, or of an error, that a model reads. */
export const MAX_RESULT_CHARACTERS = 100_000;

/** What an agent does next. */
export type AgentAction =
  /** Ask the model. Without `tools` it has to answer. */
  | { do: 'ask'; turn: number; tools: boolean }
  | { do: 'call'; turn: number; call: OpenCall }
  /** Wait for a person, who approves or rejects the call. */
  | { do: 'await'; turn: number; call: OpenCall }
  | { do: 'answer'; output: Json }
  | { do: 'fail'; error: string };

/**
 * The turns of one agent: asks the model, makes the calls of its turn at the same time, and asks again with their
 * results until the model answers. It executes nothing; the caller reports what happened and carries out the returned
 * actions. An agent that starts again at a turn repeats that turn's actions: the ledger has their results.
 */
export interface AgentLoop {
  /** The turn that is asked, or whose calls are open. */
  readonly turn: number;
  /** Starts, or continues at `turn`. */
  start: () => AgentAction[];
  /** The model has answered the current turn. */
  asked: (progress: TurnProgress) => AgentAction[];
  /** A person has approved a call of the current turn. */
  approved: (index: number) => AgentAction[];
  /** A call of the current turn has its result: an output, an error, or a rejection. */
  settled: (index: number) => AgentAction[];
}

export function createAgentLoop(
  node: { max_turns?: number | undefined; on_max_turns?: 'fail' | 'answer' | undefined },
  turn = 1,
): AgentLoop {
  const most = node.max_turns ?? DEFAULT_MAX_TURNS;
  const mayAnswer = node.on_max_turns === 'answer';
  const used = `The agent used its ${most} ${most === 1 ? 'turn' : 'turns'} without an answer`;
  let current = turn;
  let open = new Map<number, OpenCall>();

  const ask = (): AgentAction[] => [{ do: 'ask', turn: current, tools: current <= most }];

  function next(): AgentAction[] {
    if (open.size > 0) return [];
    current += 1;
    return ask();
  }

  return {
    get turn() {
      return current;
    },
    start: ask,
    asked: (progress) => {
      if ('answer' in progress) return [{ do: 'answer', output: progress.answer }];
      // Calls whose results no turn would read are not made.
      if (current > most || (current === most && !mayAnswer)) return [{ do: 'fail', error: used }];
      open = new Map(progress.calls.map((call) => [call.index, call]));
      const turn = current;
      return open.size === 0
        ? next()
        : progress.calls.map((call) => ({
            do: call.needs_approval ? 'await' : 'call',
            turn,
            call,
          }));
    },
    approved: (index) => {
      const call = open.get(index);
      return call === undefined ? [] : [{ do: 'call', turn: current, call }];
    },
    settled: (index) => (open.delete(index) ? next() : []),
  };
}
