import { z } from 'zod';
import { type Db, sql, statement } from '#shared/db/pool.ts';

/**
 * The channel that carries models' text as it arrives. While an answer is in progress, `answer_pieces` has its text, so
 * that a stream can read what it has missed.
 */
export const DELTAS_CHANNEL = 'agent_deltas';

const agentDelta = z.object({
  run_id: z.string(),
  /** The step of the agent. */
  step_key: z.string(),
  /** 1 for an agent without tools. */
  turn: z.int(),
  /** Another one each time that the answer starts again. Workers of 1.0.0 send neither this nor `place`. */
  answer: z.string().optional(),
  /** The length of the answer before this piece, in UTF-16 code units. */
  place: z.int().optional(),
  text: z.string(),
});
/** A piece of a model's answer, as another process sends it. */
export type ReceivedDelta = z.infer<typeof agentDelta>;
export type AgentDelta = Required<ReceivedDelta>;

/** An answer in progress. */
export type AnswerKey = Omit<AgentDelta, 'place' | 'text'>;

/** The length up to which the text of an answer is stored; pages do not show more of it before it has ended. */
const MAX_STORED = 100_000;
/** The maximum number of characters of a run's answers that are read at once. Only whole answers are read. */
const MAX_READ = 300_000;
/** What a worker that was killed has left behind is deleted after this time, in batches. */
const LEFT_BEHIND_HOURS = 24;
const LEFT_BEHIND_BATCH = 100;

/** NOTIFY rejects payloads of 8,000 bytes and more. */
const MAX_PAYLOAD_BYTES = 7_900;
/** Characters of a piece. JSON may need six bytes for one. */
const MAX_PIECE = 1_000;

/** Splits long pieces, so that each fits into a payload with its keys. */
function splitDelta(delta: AgentDelta): AgentDelta[] {
  const characters = [...delta.text];
  const pieces: AgentDelta[] = [];
  let { place } = delta;
  for (let at = 0; at < characters.length; at += MAX_PIECE) {
    const text = characters.slice(at, at + MAX_PIECE).join('');
    pieces.push({ ...delta, place, text });
    place += text.length;
  }
  return pieces;
}

/** The payloads that contain all pieces, in order. */
function payloadsOf(deltas: readonly AgentDelta[]): string[] {
  const payloads: string[] = [];
  let open: string[] = [];
  let bytes = 2;
  for (const delta of deltas.flatMap(splitDelta)) {
    const text = JSON.stringify(delta);
    const size = Buffer.byteLength(text) + 1;
    if (open.length > 0 && bytes + size > MAX_PAYLOAD_BYTES) {
      payloads.push(`[${open.join(',')}]`);
      open = [];
      bytes = 2;
    }
    open.push(text);
    bytes += size;
  }
  if (open.length > 0) payloads.push(`[${open.join(',')}]`);
  return payloads;
}

/** Sends pieces to every process that serves streams, stores them, and deletes the text of answers that have ended. */
export async function sendDeltas(
  db: Db,
  { deltas, ended }: { deltas: readonly AgentDelta[]; ended: readonly AnswerKey[] },
): Promise<void> {
  const over = new Set(ended.map(({ answer }) => answer));
  const stored = deltas.filter(({ answer, place }) => !over.has(answer) && place < MAX_STORED);
  await db.query(statement(z.object({ pg_notify: z.unknown() }))`
    WITH sent AS (
      SELECT * FROM ${sql.unnest(
        stored.map((piece) => [
          piece.run_id,
          piece.step_key,
          piece.turn,
          piece.answer,
          piece.place,
          piece.text,
        ]),
        ['text', 'text', 'int4', 'text', 'int4', 'text'],
      )} AS p (run_id, step_key, turn, answer, place, text)
    ), ended AS (
      SELECT * FROM ${sql.unnest(
        ended.map((key) => [key.run_id, key.step_key, key.turn, key.answer]),
        ['text', 'text', 'int4', 'text'],
      )} AS e (run_id, step_key, turn, answer)
    ), started_again AS (
      DELETE FROM answer_pieces a USING sent s
      WHERE s.place = 0 AND a.run_id = s.run_id AND a.step_key = s.step_key AND a.turn = s.turn AND a.answer <> s.answer
    ), stored AS (
      INSERT INTO answer_pieces (run_id, step_key, turn, answer, place, text) SELECT * FROM sent ON CONFLICT DO NOTHING
    ), deleted AS (
      DELETE FROM answer_pieces a USING ended e
      WHERE a.run_id = e.run_id AND a.step_key = e.step_key AND a.turn = e.turn AND a.answer = e.answer
    )
    SELECT pg_notify(${DELTAS_CHANNEL}, payload)
    FROM unnest(${sql.array(payloadsOf(deltas), 'text')}) WITH ORDINALITY AS p (payload, n) ORDER BY n
  `);
}

const nothing = z.object({});

/** Deletes what killed workers have left behind. */
export async function dropLeftPieces(db: Db): Promise<void> {
  await db.query(statement(nothing)`
    DELETE FROM answer_pieces WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM answer_pieces
      WHERE created_at < now() - ${LEFT_BEHIND_HOURS}::int * interval '1 hour'
      ORDER BY created_at LIMIT ${LEFT_BEHIND_BATCH} FOR UPDATE SKIP LOCKED))
  `);
}

const answerRow = z.object({
  step_key: z.string(),
  turn: z.number(),
  answer: z.string(),
  text: z.string(),
});
export type AnswerSoFar = z.infer<typeof answerRow>;

/** The answers in progress of a run, the shortest first, as far as they are not too long together. */
export async function readAnswers(db: Db, runId: string): Promise<readonly AnswerSoFar[]> {
  return db.any(statement(answerRow)`
    SELECT step_key, turn, answer, text FROM (
      SELECT step_key, turn, answer, text, sum(length(text)) OVER (ORDER BY length(text), step_key, turn) AS total
      FROM (
        SELECT step_key, turn, answer, string_agg(text, '' ORDER BY place) AS text
        FROM answer_pieces WHERE run_id = ${runId} GROUP BY step_key, turn, answer
        -- Without its beginning, it is what a lost attempt still says after the answer has started again.
        HAVING min(place) = 0
      ) a
    ) t WHERE total <= ${MAX_READ}
  `);
}

/** The pieces in a payload; none when another program sent it. */
export function readPayload(payload: string): ReceivedDelta[] {
  try {
    const { data } = z.array(agentDelta).safeParse(JSON.parse(payload));
    return data ?? [];
  } catch {
    return [];
  }
}
