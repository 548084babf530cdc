import type { Json } from '#shared/json.ts';
import type { OpenCall, TurnProgress } from './turn-record.ts';

export const DEFAULT_MAX_TURNS = 10;
/** Calls that one turn can make. More are refused. */
export const MAX_CALLS_PER_TURN = 100;
/** If a turn requests more calls than it can make, up to this many are refused. The rest is ignored. */
export const MAX_REQUESTED_CALLS = 2 * MAX_CALLS_PER_TURN;
/** Characters of a result or an error that a model reads. */
export const MAX_RESULT_CHARACTERS = 100_000;

/** What an agent does next. */
export type AgentAction =
  /** Call the model. Without `tools`, it must answer. */
  | { do: 'ask'; turn: number; tools: boolean }
  | { do: 'call'; turn: number; call: OpenCall }
  /** Wait for a person to approve or reject the call. */
  | { do: 'await'; turn: number; call: OpenCall }
  | { do: 'answer'; output: Json }
  | { do: 'fail'; error: string };

/**
 * The turns of one agent. It calls the model, makes the calls of the turn concurrently, and calls the model again with
 * their results until it answers. It executes nothing: the caller executes the returned actions and reports the
 * results. An agent that restarts at a turn repeats that turn's actions, whose results are in the ledger.
 */
export interface AgentLoop {
  /** The turn that is waiting for the model, or whose calls are in progress. */
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
      // No turn would read the results of these calls, so they are not made.
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
