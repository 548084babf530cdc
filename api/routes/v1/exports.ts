import { envelopeOf } from '#shared/contract/data/envelope.ts';
import { entitySchema } from '#shared/contract/data/entity.ts';
import { intelligenceEventSchema } from '#shared/contract/data/event.ts';
import { type ExportRequest, exportRequest } from '#shared/contract/data/export.ts';
import { z } from 'zod';
import { recordAudit } from '#shared/db/audit/audit.ts';
import { type ExportSet, withExportSet } from '#shared/db/data/exports.ts';
import { queueEvents } from '#shared/db/webhooks/outbound-events.ts';
import type { Tx } from '#shared/db/pool.ts';
import { newId } from '#shared/crypto/ids.ts';
import { responses } from '#api/http/responses.ts';
import type { App, DataCaller, RouteContext } from '#api/deps.ts';
import { csvOf, jsonOf } from '#api/data/export-rows.ts';
import { createExportSlots, EXPORT_MS, sendExport } from '#api/http/export-stream.ts';

const rowSchema = z
  .union([entitySchema, intelligenceEventSchema])
  .meta({ id: 'ExportedRow', description: 'All rows of an export are of the same kind' });
const exportedSchema = envelopeOf(z.array(rowSchema));
const csvText = z
  .string()
  .meta({ description: 'A header row and a row for each record or event (RFC 4180)' });

export function dataExportRoutes(app: App, { db, meter, config }: RouteContext): void {
  const slots = createExportSlots(config.database.poolSize);

  app.post('/v1/exports', {
    schema: {
      operationId: 'createExport',
      summary: 'Export records or events as JSON or CSV',
      description:
        'The newest 10,000 rows at most, one credit each, all taken before the first is sent. The header ' +
        '`X-Export-Truncated: true` says that there were more. CSV comes as an attachment: a header row, nested values ' +
        "as JSON, and a `'` before anything a spreadsheet would read as a formula.",
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
      headers: ['Content-Disposition', 'X-Export-Truncated'],
    },
    handlerTimeout: EXPORT_MS,
    handler: async (request, reply) => {
      const { caller } = request.dataCall;
      const { kind, format, feed_id } = request.body;
      const release = await slots.take(caller.workspaceId);
      try {
        await withExportSet(db, caller, { kind, feedId: feed_id }, async (set) => {
          const cost = { operation: 'createExport', credits: set.rows, records: set.rows };
          await meter.chargeWith(request, cost, (tx) =>
            recordExport(tx, caller, request.body, set),
          );
          if (set.truncated) reply.header('x-export-truncated', 'true');
          const text = format === 'csv' ? csvOf(kind, set) : jsonOf(request, set);
          await sendExport(reply, { name: kind, format, text });
        });
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

/** The record of an export, together with its charge. */
async function recordExport(
  tx: Tx,
  { workspaceId, keyName, isDemo }: DataCaller,
  { kind, format, feed_id }: ExportRequest,
  { rows, truncated }: ExportSet,
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
