import { z } from 'zod';
import { type Pool, sql, statement } from '#shared/db/pool.ts';

/** Payloads that are too large for the event history, by the SHA-256 of their bytes in hexadecimal. */

/**
 * Stores a payload unless it exists. Storing it again renews its timestamp, at most once a day to avoid a write each
 * time. An update, even without a change, waits for a sweep that is deleting the row, and then inserts it again.
 */
export async function storePayload(db: Pool, digest: string, bytes: Buffer): Promise<void> {
  await db.query(statement(z.object({}))`
    INSERT INTO payloads (digest, bytes) VALUES (${digest}, ${sql.binary(bytes)})
    ON CONFLICT (digest) DO UPDATE SET stored_at = now() WHERE payloads.stored_at < now() - interval '1 day'
  `);
}

/** Whether a payload was stored within the last day. A sweep only deletes older ones, so it need not be sent again. */
export const isPayloadStored = (db: Pool, digest: string): Promise<boolean> =>
  db.exists(statement(z.object({}))`
    SELECT FROM payloads WHERE digest = ${digest} AND stored_at >= now() - interval '1 day'
  `);

/** The bytes of a payload; undefined when it was deleted. */
export async function readPayload(db: Pool, digest: string): Promise<Buffer | undefined> {
  const row = await db.maybeOne(statement(z.object({ bytes: z.instanceof(Buffer) }))`
    SELECT bytes FROM payloads WHERE digest = ${digest}
  `);
  return row?.bytes;
}
