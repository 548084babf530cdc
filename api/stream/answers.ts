import type { AgentDeltaFrame } from '#shared/contract/runs/stream.ts';
import { readAnswers, type ReceivedDelta } from '#shared/db/agents/deltas.ts';
import type { Db } from '#shared/db/pool.ts';
import type { Logger } from '#shared/platform/logger.ts';

interface Known {
  answer: string;
  /** The length of what was delivered. */
  to: number;
}

interface Piece {
  delta: ReceivedDelta;
  encoded: Buffer;
}

export function encodeDelta({
  run_id,
  step_key,
  turn,
  text,
  place: offset,
}: Omit<ReceivedDelta, 'answer'>): Buffer {
  const frame: AgentDeltaFrame = { type: 'agent_delta', run_id, step_key, turn, text, offset };
  return Buffer.from(JSON.stringify(frame));
}

/**
 * Delivers the answers in progress of a run to one socket, each from its beginning and without a gap: what a socket has
 * missed is read from the database, when it opens and when a piece does not continue what was delivered. An answer that
 * is too long to be read is not delivered at all.
 */
export class RunAnswers {
  readonly #deps: { db: Db; log: Logger; runId: string };
  readonly #deliver: (frame: Buffer) => void;
  readonly #known = new Map<string, Known>();
  /** Answers that could not be read: they are too long, or have started again. */
  readonly #unknown = new Set<string>();
  /** What has arrived during a read. */
  #waiting: Piece[] | undefined;

  constructor(deps: { db: Db; log: Logger; runId: string }, deliver: (frame: Buffer) => void) {
    this.#deps = deps;
    this.#deliver = deliver;
  }

  /** Delivers the answers so far. Pieces that arrive meanwhile follow them. */
  begin(): void {
    if (this.#waiting === undefined) void this.#catchUp([]);
  }

  /** `encoded`: the whole piece as a frame. */
  take(delta: ReceivedDelta, encoded: Buffer): void {
    const piece = { delta, encoded };
    if (this.#waiting !== undefined) this.#waiting.push(piece);
    else if (!this.#place(piece)) void this.#catchUp([piece]);
  }

  async #catchUp(waiting: Piece[]): Promise<void> {
    this.#waiting = waiting;
    try {
      await this.#read();
    } catch (error) {
      this.#deps.log.warn({ err: error }, 'could not read answers in progress');
    }
    this.#waiting = undefined;
    for (const piece of waiting) this.#placeAnyway(piece);
  }

  async #read(): Promise<void> {
    const { db, runId } = this.#deps;
    for (const { text, answer, ...of } of await readAnswers(db, runId)) {
      const to = this.#lengthOf(of, answer);
      if (text.length <= to) continue;
      this.#known.set(keyOf(of), { answer, to: text.length });
      this.#deliver(encodeDelta({ ...of, run_id: runId, place: to, text: text.slice(to) }));
    }
  }

  /** Returns false if something before the piece is missing. */
  #place({ delta, encoded }: Piece): boolean {
    const { answer, place: from, text } = delta;
    if (answer === undefined || from === undefined) {
      this.#deliver(encoded);
      return true;
    }
    if (this.#unknown.has(answer)) return true;
    const to = this.#lengthOf(delta, answer);
    if (from > to) return false;
    if (from + text.length <= to) return true;
    this.#known.set(keyOf(delta), { answer, to: from + text.length });
    this.#deliver(
      from === to ? encoded : encodeDelta({ ...delta, place: to, text: text.slice(to - from) }),
    );
    return true;
  }

  /** After a read: a piece that still does not continue its answer is left out, or ends a gap that stays. */
  #placeAnyway(piece: Piece): void {
    if (this.#place(piece)) return;
    const { answer = '', place: from = 0, text } = piece.delta;
    if (this.#known.get(keyOf(piece.delta))?.answer !== answer) {
      this.#unknown.add(answer);
      return;
    }
    this.#known.set(keyOf(piece.delta), { answer, to: from + text.length });
    this.#deliver(piece.encoded);
  }

  /** The length of what was delivered of this answer. */
  #lengthOf(of: Place, answer: string): number {
    const known = this.#known.get(keyOf(of));
    return known?.answer === answer ? known.to : 0;
  }
}

type Place = Pick<ReceivedDelta, 'step_key' | 'turn'>;

const keyOf = ({ step_key, turn }: Place): string => `${turn} ${step_key}`;
