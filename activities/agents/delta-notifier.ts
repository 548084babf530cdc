import {
  type AgentDelta,
  type AnswerKey,
  dropLeftPieces,
  sendDeltas,
} from '#shared/db/agents/deltas.ts';
import type { Pool } from '#shared/db/pool.ts';
import type { Logger } from '#shared/platform/logger.ts';

export interface DeltaNotifier {
  /** Sends a piece of a model's answer after a short delay. Never fails. */
  push: (delta: AgentDelta) => void;
  /**
   * Sends all waiting pieces, and forgets the text of the answer; resolves when they are sent. Call it before writing
   * anything that must come after them.
   */
  end: (answer: AnswerKey) => Promise<void>;
  /** Resolves when nothing is in progress. */
  close: () => Promise<void>;
}

/** Pieces are sent at most this often. The first piece after a pause is sent immediately. */
const EVERY_MS = 100;
/**
 * The maximum number of waiting characters. A worker that cannot send fast enough drops the rest, but the answer itself
 * is stored.
 */
const MAX_WAITING = 200_000;

/**
 * Sends the pieces of all turns of this worker together: ten statements a second, no matter how many models are
 * answering.
 */
export function createDeltaNotifier(db: Pool, log: Logger): DeltaNotifier {
  const waiting = new Map<string, AgentDelta>();
  let ended: AnswerKey[] = [];
  let dropping: Promise<void> | undefined;
  let size = 0;
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<void> | undefined;

  async function send(): Promise<void> {
    const pieces = { deltas: [...waiting.values()], ended };
    if (pieces.deltas.length === 0 && ended.length === 0) return;
    waiting.clear();
    ended = [];
    size = 0;
    try {
      await sendDeltas(db, pieces);
      dropping ??= drop();
    } catch (error) {
      log.warn({ err: error }, 'could not send pieces of answers');
    }
  }

  /** Once per worker, since another one was probably killed before it started. */
  async function drop(): Promise<void> {
    try {
      await dropLeftPieces(db);
    } catch (error) {
      log.warn({ err: error }, 'could not delete pieces of answers');
    }
  }

  function sendAndPause(): void {
    timer = setTimeout(() => {
      timer = undefined;
      if (waiting.size > 0) sendAndPause();
    }, EVERY_MS);
    timer.unref();
    void sendNext();
  }

  async function sendNext(): Promise<void> {
    sending = (sending ?? Promise.resolve()).then(send);
    await sending;
  }

  return {
    push: (delta) => {
      if (size + delta.text.length > MAX_WAITING) return;
      size += delta.text.length;
      const before = waiting.get(delta.answer);
      const next = before === undefined ? delta : { ...before, text: before.text + delta.text };
      waiting.set(delta.answer, next);
      if (timer === undefined) sendAndPause();
    },
    end: async (answer) => {
      ended.push(answer);
      await sendNext();
    },
    close: async () => {
      clearTimeout(timer);
      await sendNext();
      await dropping;
    },
  };
}
