import { z } from 'zod';
import { type Pool, sql } from '../pool.ts';

/** Payloads that are too large for the event history, by the SHA-256 of their bytes in hexadecimal. */

/**
 * Stores a payload unless it is there. One that is stored again is in use again: its time is renewed, once a day so as
 * not to write each time. An update, also one that changes nothing, waits for a sweep that is deleting the row, and then
 * inserts it anew.
 */
export async function storePayload(db: Pool, digest: string, bytes: Buffer): Promise<void> {
  await db.query(sql.prepared('payload_store', z.object({}))`
    INSERT INTO payloads (digest, bytes) VALUES (${digest}, ${sql.binary(bytes)})
    ON CONFLICT (digest) DO UPDATE SET stored_at = now() WHERE payloads.stored_at < now() - interval '1 day'
  `);
}

/** The bytes of a payload; undefined when it is gone. */
export async function readPayload(db: Pool, digest: string): Promise<Buffer | undefined> {
  const row = await db.maybeOne(sql.prepared(
    'payload_load',
    z.object({ bytes: z.instanceof(Buffer) }),
  )`
    SELECT bytes FROM payloads WHERE digest = ${digest}
  `);
  return row?.bytes;
}
