import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';
import { AppError } from '#shared/errors.ts';

const exportTypes = {
  json: 'application/json; charset=utf-8',
  ndjson: 'application/x-ndjson; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
};

/** The maximum duration of an export, and so of its snapshot. */
const READ_MS = 120_000;
/**
 * The timeout of an export's handler. It is longer than the reader's limit, so that the reader's limit applies first.
 */
export const EXPORT_MS = READ_MS + 35_000;
/** Concurrent exports of one organization in one process. */
const EXPORTS_OF_ONE = 2;
/** How often an export waits for a slot, and for how long. */
const SLOT_WAITS = 10;
const SLOT_WAIT_MS = 20;

/** Limits the concurrent exports of a process, because each may hold a connection to the database. */
export function createExportSlots(poolSize: number) {
  const atMost = Math.max(1, Math.floor(poolSize / 4));
  const taken = new Map<string, number>();
  let all = 0;
  return {
    /**
     * Returns a function that releases the slot. Waits a moment for one, since a slot is released shortly after the reader
     * has received the last byte. Throws AppError `unavailable` when there is none.
     */
    take: async (workspaceId: string): Promise<() => void> => {
      const own = (): number => taken.get(workspaceId) ?? 0;
      const isFull = (): boolean => all >= atMost || own() >= EXPORTS_OF_ONE;
      for (let waits = 0; isFull() && waits < SLOT_WAITS; waits += 1) await sleep(SLOT_WAIT_MS);
      if (isFull()) throw new AppError('unavailable', 'Too many concurrent exports; try again');
      all += 1;
      taken.set(workspaceId, own() + 1);
      return () => {
        all -= 1;
        const left = (taken.get(workspaceId) ?? 1) - 1;
        if (left === 0) taken.delete(workspaceId);
        else taken.set(workspaceId, left);
      };
    },
  };
}

/**
 * Sends an export and waits until the reader has received it, so that its snapshot lasts exactly that long. Closes the
 * connection when the reader disconnects or is too slow, or when reading rows fails: the response has already started,
 * so there is no other way to report an error.
 */
export async function sendExport(
  reply: FastifyReply,
  {
    name,
    format,
    text,
  }: { name: string; format: keyof typeof exportTypes; text: AsyncGenerator<string> },
): Promise<void> {
  // At most one batch ahead of the reader.
  const stream = Readable.from(text, { highWaterMark: 1 });
  const timer = setTimeout(() => stream.destroy(new Error('export not read in time')), READ_MS);
  reply.type(exportTypes[format]);
  if (format !== 'json') {
    reply.header('content-disposition', `attachment; filename="${name}.${format}"`);
  }
  try {
    reply.send(stream);
    await finished(stream);
  } catch (error) {
    reply.log.warn({ err: error }, 'export not sent completely');
    reply.raw.destroy();
  } finally {
    clearTimeout(timer);
    // Its last statement may still be running, and must end before the transaction.
    await text.return(undefined).catch(() => undefined);
  }
}
