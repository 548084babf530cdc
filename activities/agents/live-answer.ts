import { randomUUID } from 'node:crypto';
import type { AnswerKey } from '#shared/db/agents/deltas.ts';
import type { DeltaNotifier } from './delta-notifier.ts';

/** The text of one attempt at an answer, for the streams of its run. */
export interface LiveAnswer {
  /** Sends a piece of a model's text. After one model has failed, the next starts again. */
  onText: (text: string, model: string) => void;
  /** Resolves when everything is sent. Call it when the answer has ended or failed, before recording that. */
  end: () => Promise<void>;
}

/** `of`: the step of the agent and the turn, 1 for an agent without tools. */
export function createLiveAnswer(deltas: DeltaNotifier, of: Omit<AnswerKey, 'answer'>): LiveAnswer {
  let current: { model: string; key: AnswerKey; place: number } | undefined;
  return {
    onText: (text, model) => {
      if (current?.model !== model) {
        current = { model, key: { ...of, answer: randomUUID() }, place: 0 };
      }
      // Postgres stores no NUL in a text.
      deltas.push({ ...current.key, place: current.place, text: text.replaceAll('\0', '\ufffd') });
      current.place += text.length;
    },
    end: async () => {
      if (current !== undefined) await deltas.end(current.key);
    },
  };
}
