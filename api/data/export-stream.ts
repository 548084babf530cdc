import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ExportKind } from '../../shared/contract/data/export.ts';
import { exportColumns, type ExportSet } from '../../shared/db/data/exports.ts';
import { AppError } from '../../shared/errors.ts';
import { csvLine } from '../http/csv.ts';
import { answerData } from './envelope.ts';

/** Maximum duration of an export; its snapshot is kept that long. */
const READ_MS = 120_000;
/** The timeout of an export's handler. Above the reader's limit, so that the reader's limit ends it. */
export const EXPORT_MS = READ_MS + 35_000;
/** Concurrent exports of one organization in one process. */
const EXPORTS_OF_ONE = 2;

/** Limits the concurrent exports of a process. Each holds a connection to the database. */
export function createExportSlots(poolSize: number) {
  const atMost = Math.max(1, Math.floor(poolSize / 4));
  const taken = new Map<string, number>();
  let all = 0;
  return {
    /** Returns a function that releases the slot. Throws AppError `unavailable` when there is none. */
    take: (workspaceId: string): (() => void) => {
      const own = taken.get(workspaceId) ?? 0;
      if (all >= atMost || own >= EXPORTS_OF_ONE) {
        throw new AppError('unavailable', 'Too many concurrent exports; try again');
      }
      all += 1;
      taken.set(workspaceId, own + 1);
      return () => {
        all -= 1;
        const left = (taken.get(workspaceId) ?? 1) - 1;
        if (left === 0) taken.delete(workspaceId);
        else taken.set(workspaceId, left);
      };
    },
  };
}

/** As CSV, in batches. */
export async function* csvOf(kind: ExportKind, set: ExportSet): AsyncGenerator<string> {
  const columns = exportColumns[kind];
  yield csvLine(columns);
  for await (const batch of set.batches('texts')) {
    yield batch.map((row) => csvLine(columns.map((column) => row[column]))).join('');
  }
}

/** In the envelope, in batches. */
export async function* jsonOf(
  request: Pick<FastifyRequest, 'id' | 'dataCall'>,
  set: ExportSet,
): AsyncGenerator<string> {
  const { data: _none, ...rest } = answerData(request, []);
  let separator = '{"data":[';
  for await (const batch of set.batches('values')) {
    yield separator + batch.map((row) => JSON.stringify(row)).join(',');
    separator = ',';
  }
  const opened = separator === ',' ? '' : separator;
  yield `${opened}],${JSON.stringify(rest).slice(1)}`;
}

/**
 * Sends an export and waits until the reader has it, so that its snapshot lasts exactly that long. Closes the
 * connection when the reader disconnects or is too slow, or when reading rows fails: the response has started, so there
 * is no other way to report an error.
 */
export async function sendExport(
  reply: FastifyReply,
  {
    kind,
    format,
    text,
  }: { kind: ExportKind; format: 'json' | 'csv'; text: AsyncGenerator<string> },
): Promise<void> {
  // At most one batch ahead of the reader.
  const stream = Readable.from(text, { highWaterMark: 1 });
  const timer = setTimeout(() => stream.destroy(new Error('export not read in time')), READ_MS);
  if (format === 'json') reply.type('application/json; charset=utf-8');
  else {
    reply.type('text/csv; charset=utf-8');
    reply.header('content-disposition', `attachment; filename="${kind}.csv"`);
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
