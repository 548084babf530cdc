import { createContext, use, useSyncExternalStore } from 'react';
import type { AgentDeltaFrame } from '#client/index.ts';

/** The maximum number of displayed characters of an answer while it arrives; the stored message has all. */
const MOST_CHARACTERS = 100_000;
/** Models write about four characters per token. */
const CHARACTERS_PER_TOKEN = 4;
/** A speed over a shorter time would jump. */
const LEAST_SECONDS = 1;

/** The answer of an agent's current turn, as far as it has arrived. */
export interface LiveAnswer {
  turn: number;
  text: string;
  /** Its whole length, also beyond `text`. */
  length: number;
  /** When it began to arrive here, in ms, and its length then: a page that opens late gets the text so far at once. */
  since: { at: number; length: number };
  /** When its last piece arrived. */
  at: number;
}

/** The answers that arrive over a run's stream, by the step of the agent. */
export interface LiveAnswers {
  add: (delta: Pick<AgentDeltaFrame, 'step_key' | 'turn' | 'text' | 'offset'>) => void;
  of: (stepKey: string) => LiveAnswer | undefined;
  subscribe: (listener: () => void) => () => void;
}

/** `now`: the time in ms. */
export function createLiveAnswers(now = () => performance.now()): LiveAnswers {
  const answers = new Map<string, LiveAnswer>();
  const listeners = new Set<() => void>();
  return {
    add: ({ step_key, turn, text, offset }) => {
      const known = answers.get(step_key);
      const before = known?.turn === turn ? known : undefined;
      const place = offset ?? before?.length ?? 0;
      const length = place + text.length;
      const at = now();
      answers.set(step_key, {
        turn,
        text: ((before?.text ?? '').slice(0, place) + text).slice(0, MOST_CHARACTERS),
        length,
        since: before === undefined || place === 0 ? { at, length } : before.since,
        at,
      });
      for (const listener of listeners) listener();
    },
    of: (stepKey) => answers.get(stepKey),
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** About how many tokens a second the model writes; undefined until that is known. */
export function tokensPerSecond({ since, at, length }: LiveAnswer): number | undefined {
  const seconds = (at - since.at) / 1_000;
  if (seconds < LEAST_SECONDS) return undefined;
  return (length - since.length) / CHARACTERS_PER_TOKEN / seconds;
}

/** The answers of the run that the page shows. */
export const LiveAnswersContext = createContext<LiveAnswers>(createLiveAnswers());

export function useLiveAnswer(stepKey: string): LiveAnswer | undefined {
  const answers = use(LiveAnswersContext);
  return useSyncExternalStore(answers.subscribe, () => answers.of(stepKey));
}
