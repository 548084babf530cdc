import type { FastifyReply, FastifyRequest } from 'fastify';
import { envelopeOf } from '#shared/contract/data/envelope.ts';
import { entitySchema } from '#shared/contract/data/entity.ts';
import { intelligenceEventSchema } from '#shared/contract/data/event.ts';
import { type ExportRequest, exportRequest } from '#shared/contract/data/export.ts';
import { z } from 'zod';
import { recordAudit } from '#shared/db/audit/audit.ts';
import { type ExportSet, withExportSet, withRowsAgain } from '#shared/db/data/exports.ts';
import { AnsweredMeanwhile, type AnswerKey, takeKey } from '#shared/db/idempotency.ts';
import { queueEvents } from '#shared/db/webhooks/outbound-events.ts';
import type { Tx } from '#shared/db/pool.ts';
import { newId } from '#shared/crypto/ids.ts';
import { responses } from '#api/http/responses.ts';
import type { App, DataCaller, RouteContext } from '#api/deps.ts';
import type { DescribedCall } from '#api/data/envelope.ts';
import { csvOf, jsonOf } from '#api/data/export-rows.ts';
import { earlierAnswer, keepAnswer, keyOfRequest, markReplayed } from '#api/http/idempotency.ts';
import { createExportSlots, EXPORT_MS, sendExport } from '#api/http/export-stream.ts';

const rowSchema = z
  .union([entitySchema, intelligenceEventSchema])
  .meta({ id: 'ExportedRow', description: 'All rows of an export are of the same kind' });
const exportedSchema = envelopeOf(z.array(rowSchema));
const csvText = z
  .string()
  .meta({ description: 'A header row and a row for each record or event (RFC 4180)' });

/** The largest export that is stored with its key, in bytes. Of a larger one, the ids of its rows are. */
const STORED_BYTES = 1_048_576;

/** What a repeated request gets: the text of the export, or its rows, as they are then. */
const storedExport = z.object({
  request_id: z.string(),
  credits: z.number(),
  truncated: z.boolean(),
  text: z.string().optional(),
  ids: z.array(z.string()).optional(),
});
type StoredExport = z.infer<typeof storedExport>;

export function dataExportRoutes(app: App, context: RouteContext): void {
  const slots = createExportSlots(context.config.database.poolSize);

  app.post('/v1/exports', {
    schema: {
      operationId: 'createExport',
      summary: 'Export records or events as JSON or CSV',
      description:
        'The newest 10,000 rows at most, one credit each, all taken before the first is sent. The header ' +
        '`X-Export-Truncated: true` says that there were more. CSV comes as an attachment: a header row, nested values ' +
        "as JSON, and a `'` before anything a spreadsheet would read as a formula. A repeated request with the same " +
        '`Idempotency-Key` costs no credits and gets the same export again; one of more than 1 MB has the same rows, as ' +
        'they are then.',
      body: exportRequest,
      response: responses(
        {
          200: {
            description: 'The rows, in the `format` of the request',
            content: {
              'application/json': { schema: exportedSchema },
              'text/csv': { schema: csvText },
            },
          },
        },
        'not_found',
        'credits_exhausted',
      ),
    },
    config: {
      scope: 'exports:create',
      idempotent: true,
      headers: ['Content-Disposition', 'X-Export-Truncated'],
    },
    handlerTimeout: EXPORT_MS,
    handler: async (request, reply) => {
      const key = keyOfRequest(request);
      const earlier = key === undefined ? undefined : await earlierAnswer(context, key);
      const release = await slots.take(request.dataCall.caller.workspaceId);
      const call = { context, request, reply };
      try {
        if (earlier === undefined) await sendOnce(call, key);
        else await sendAgain(call, storedExport.parse(earlier));
      } catch (error) {
        // The response has started, so an error can no longer be returned. The end of the snapshot does not affect the
        // reader.
        if (!reply.raw.headersSent) throw error;
        request.log.error({ err: error }, 'export not ended');
        reply.raw.destroy();
      } finally {
        release();
      }
      return reply;
    },
  });
}

interface ExportCall {
  context: RouteContext;
  request: FastifyRequest<{ Body: ExportRequest }>;
  reply: FastifyReply;
}

/** Sends a new export, or that of a request with the same key that has ended meanwhile. */
async function sendOnce(call: ExportCall, key: AnswerKey | undefined): Promise<void> {
  try {
    await sendNew(call, key);
  } catch (error) {
    if (key === undefined || !(error instanceof AnsweredMeanwhile)) throw error;
    await sendAgain(call, storedExport.parse(await earlierAnswer(call.context, key)));
  }
}

async function sendNew(call: ExportCall, key: AnswerKey | undefined): Promise<void> {
  const { context, request } = call;
  const { caller } = request.dataCall;
  const { kind, feed_id: feedId } = request.body;
  await withExportSet(context.db, caller, { kind, feedId }, async (set) => {
    const credits = set.ids.length;
    const cost = { operation: 'createExport', credits, records: credits };
    const rest = textOf(call, set, { id: request.id, dataCall: { credits } });
    const beginning = key === undefined ? undefined : await beginningOf(rest);
    await context.meter.chargeWith(request, cost, async (tx) => {
      if (key !== undefined) await takeKey(tx, key);
      await recordExport(tx, caller, request.body, set);
      if (key === undefined || beginning === undefined) return;
      const { parts, complete } = beginning;
      await keepAnswer(context, tx, key, {
        ...{ request_id: request.id, credits, truncated: set.truncated },
        ...(complete ? { text: parts.join('') } : { ids: set.ids }),
      });
    });
    await send(call, set, joined(beginning?.parts ?? [], rest));
  });
}

async function sendAgain(call: ExportCall, stored: StoredExport): Promise<void> {
  const { context, request, reply } = call;
  const { truncated, text, ids = [] } = stored;
  markReplayed(reply);
  if (text !== undefined) return send(call, { truncated }, joined([text]));
  const { kind } = request.body;
  const { caller } = request.dataCall;
  const first = { id: stored.request_id, dataCall: { credits: stored.credits } };
  return withRowsAgain(context.db, caller, { kind, ids, truncated }, (set) =>
    send(call, set, textOf(call, set, first)),
  );
}

const textOf = (
  { request: { body } }: ExportCall,
  set: ExportSet,
  described: DescribedCall,
): AsyncGenerator<string> =>
  body.format === 'csv' ? csvOf(body.kind, set) : jsonOf(described, set);

async function send(
  { request, reply }: ExportCall,
  { truncated }: Pick<ExportSet, 'truncated'>,
  text: AsyncGenerator<string>,
): Promise<void> {
  const { kind, format } = request.body;
  if (truncated) reply.header('x-export-truncated', 'true');
  await sendExport(reply, { name: kind, format, text });
}

/** The beginning of a text that may be too large to be stored. */
interface Beginning {
  parts: string[];
  /** Whether this is all of it. */
  complete: boolean;
}

/** Reads a text until it ends, or is too large. */
async function beginningOf(text: AsyncGenerator<string>): Promise<Beginning> {
  const parts: string[] = [];
  let bytes = 0;
  while (bytes <= STORED_BYTES) {
    const next = await text.next();
    if (next.done === true) return { parts, complete: true };
    parts.push(next.value);
    bytes += Buffer.byteLength(next.value);
  }
  return { parts, complete: false };
}

async function* joined(
  parts: readonly string[],
  rest?: AsyncGenerator<string>,
): AsyncGenerator<string> {
  yield* parts;
  if (rest !== undefined) yield* rest;
}

/** The record of an export, together with its charge. */
async function recordExport(
  tx: Tx,
  { workspaceId, keyName, isDemo }: DataCaller,
  { kind, format, feed_id }: ExportRequest,
  { ids: { length: rows }, truncated }: ExportSet,
): Promise<void> {
  const exportId = newId('export');
  const details = { kind, format, feed_id: feed_id ?? null, rows, truncated };
  await recordAudit(
    tx,
    { workspaceId, id: null, name: keyName },
    { action: 'data_export', targetType: 'export', targetId: exportId, details },
  );
  const data = { export_id: exportId, ...details };
  await queueEvents(tx, workspaceId, [{ type: 'export.completed', isDemo, data }]);
}
