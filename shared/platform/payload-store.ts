import { createHash } from 'node:crypto';
import { type Payload, type PayloadCodec, ValueError } from '@temporalio/common';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { Pool } from '#shared/db/pool.ts';
import { isPayloadStored, readPayload, storePayload } from '#shared/db/runs/payloads.ts';
import { UNSTORED } from '#shared/execution.ts';

/**
 * Larger payloads go to Postgres and are sent as a reference, so that histories stay small, far below the limit of 2
 * MiB.
 */
const MAX_INLINE_BYTES = 64 * 1024;

/**
 * The bytes of payloads that a process caches. A result is stored and read back within milliseconds by the same worker,
 * and Postgres would send megabytes as text.
 */
const KEPT_BYTES = 16 * 1024 * 1024;

const ENCODING = 'binary/stored';
const utf8 = new TextEncoder();
const text = new TextDecoder();

/**
 * Keeps large payloads out of the event history. It is content-addressed, so retries and replays store nothing twice.
 * Runs outside the workflow sandbox, on both sides of every call; workflow code never sees a reference.
 */
export function createPayloadStore(db: Pool): PayloadCodec {
  const kept = new LRUCache<string, Uint8Array>({
    maxSize: KEPT_BYTES,
    sizeCalculation: ({ byteLength }) => Math.max(byteLength, 1),
  });
  return {
    // Almost all payloads pass unchanged, and every promise here is created once per payload of every call.
    encode: async (payloads) =>
      payloads.some(isLarge)
        ? Promise.all(payloads.map((payload) => store(db, kept, payload)))
        : payloads,
    decode: async (payloads) =>
      payloads.some(isReference)
        ? Promise.all(payloads.map((payload) => load(db, kept, payload)))
        : payloads,
  };
}

const isLarge = ({ data, metadata }: Payload): boolean =>
  (data?.byteLength ?? 0) > MAX_INLINE_BYTES && metadata?.[UNSTORED] === undefined;

function isReference(payload: Payload): boolean {
  const encoding = payload.metadata?.['encoding'];
  return encoding?.length === ENCODING.length && text.decode(encoding) === ENCODING;
}

type Kept = LRUCache<string, Uint8Array>;

async function store(db: Pool, kept: Kept, payload: Payload): Promise<Payload> {
  if (!isLarge(payload) || payload.data == null) return payload;
  const bytes = Buffer.from(payload.data);
  const digest = createHash('sha256').update(bytes).digest('hex');
  // Forks of a run have the same ledger.
  if (!kept.has(digest) || !(await isPayloadStored(db, digest))) {
    await storePayload(db, digest, bytes);
  }
  kept.set(digest, bytes);
  const encoding = payload.metadata?.['encoding'];
  return {
    metadata: {
      encoding: utf8.encode(ENCODING),
      ...(encoding == null ? {} : { 'stored-encoding': encoding }),
    },
    data: utf8.encode(JSON.stringify({ digest, bytes: bytes.byteLength })),
  };
}

const reference = z.object({ digest: z.string() });

/** Undefined for anything but a reference, even for an invalid one, which cannot be decoded either. */
function digestIn(payload: Payload): string | undefined {
  if (!isReference(payload)) return undefined;
  try {
    return reference.parse(JSON.parse(text.decode(payload.data ?? new Uint8Array()))).digest;
  } catch {
    return undefined;
  }
}

async function load(db: Pool, kept: Kept, payload: Payload): Promise<Payload> {
  const digest = digestIn(payload);
  if (digest === undefined) return payload;
  const bytes: Uint8Array | undefined = kept.get(digest) ?? (await readPayload(db, digest));
  if (bytes === undefined) throw new ValueError(`Stored payload ${digest} was deleted`);
  kept.set(digest, bytes);
  const inner = payload.metadata?.['stored-encoding'];
  return { metadata: inner == null ? {} : { encoding: inner }, data: bytes };
}
