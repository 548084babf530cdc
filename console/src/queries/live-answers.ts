import { useSyncExternalStore } from 'react';
import type { AgentDeltaFrame } from '#client/index.ts';

/** The maximum number of displayed characters of an answer while it arrives; the stored message has all. */
const MOST_CHARACTERS = 100_000;

/** The answer of an agent's current turn, as far as it has arrived. */
export interface LiveAnswer {
  turn: number;
  text: string;
}

/** The answers that arrive over a run's stream, by the step of the agent. */
export interface LiveAnswers {
  add: (delta: Pick<AgentDeltaFrame, 'step_key' | 'turn' | 'text'>) => void;
  of: (stepKey: string) => LiveAnswer | undefined;
  subscribe: (listener: () => void) => () => void;
}

export function createLiveAnswers(): LiveAnswers {
  const answers = new Map<string, LiveAnswer>();
  const listeners = new Set<() => void>();
  return {
    add: ({ step_key, turn, text }) => {
      const known = answers.get(step_key);
      const before = known?.turn === turn ? known.text : '';
      answers.set(step_key, { turn, text: (before + text).slice(0, MOST_CHARACTERS) });
      for (const listener of listeners) listener();
    },
    of: (stepKey) => answers.get(stepKey),
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

export const useLiveAnswer = (answers: LiveAnswers, stepKey: string): LiveAnswer | undefined =>
  useSyncExternalStore(answers.subscribe, () => answers.of(stepKey));
