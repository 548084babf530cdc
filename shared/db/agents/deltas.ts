import { z } from 'zod';
import { type Db, sql, statement } from '#shared/db/pool.ts';

/**
 * The channel that carries models' text as it arrives. None of it is stored, and a lost notification is not repeated.
 */
export const DELTAS_CHANNEL = 'agent_deltas';

/** A piece of a model's answer. */
const agentDelta = z.object({
  run_id: z.string(),
  step_key: z.string(),
  turn: z.int(),
  text: z.string(),
});
export type AgentDelta = z.infer<typeof agentDelta>;

/** NOTIFY rejects payloads of 8,000 bytes and more. */
const MAX_PAYLOAD_BYTES = 7_900;
/** Characters of a piece. JSON may need six bytes for one. */
const MAX_PIECE = 1_000;

/** Splits long pieces, so that each fits into a payload with its keys. */
function splitDelta(delta: AgentDelta): AgentDelta[] {
  const characters = [...delta.text];
  const pieces: AgentDelta[] = [];
  for (let at = 0; at < characters.length; at += MAX_PIECE) {
    pieces.push({ ...delta, text: characters.slice(at, at + MAX_PIECE).join('') });
  }
  return pieces;
}

/** The payloads that contain all pieces, in order. */
export function payloadsOf(deltas: readonly AgentDelta[]): string[] {
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

/** Sends pieces to every process that serves streams. */
export async function notifyDeltas(db: Db, payloads: readonly string[]): Promise<void> {
  await db.query(statement(z.object({ pg_notify: z.unknown() }))`
    SELECT pg_notify(${DELTAS_CHANNEL}, payload)
    FROM unnest(${sql.array([...payloads], 'text')}) WITH ORDINALITY AS p (payload, n) ORDER BY n
  `);
}

/** The pieces in a payload; none when another program sent it. */
export function readPayload(payload: string): AgentDelta[] {
  try {
    const { data } = z.array(agentDelta).safeParse(JSON.parse(payload));
    return data ?? [];
  } catch {
    return [];
  }
}
