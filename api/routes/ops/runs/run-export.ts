import { z } from 'zod';
import {
  runExportColumns,
  runExportQuery,
  runSummarySchema,
  type RunSummary,
} from '#shared/contract/runs/run.ts';
import { runPages } from '#shared/db/runs/run-list.ts';
import type { App, RouteContext } from '#api/deps.ts';
import { csvHeader, csvLine } from '#api/http/csv.ts';
import { createExportSlots, EXPORT_MS, sendExport } from '#api/http/export-stream.ts';
import { responses } from '#api/http/responses.ts';

/** The list of runs as a file. */
export function runExportRoutes(app: App, { db, config }: RouteContext): void {
  const slots = createExportSlots(config.database.poolSize);

  app.get('/api/runs/export', {
    schema: {
      operationId: 'exportRuns',
      summary: 'Export a list of runs as CSV or NDJSON',
      description:
        'All runs that the filters match, newest first, without payloads, as an attachment. CSV has nested values as JSON, ' +
        "and a `'` before anything a spreadsheet would read as a formula. The connection is closed after two minutes, or " +
        'when reading fails: a file without its end. Narrow a longer list with `since` and `until`.',
      querystring: runExportQuery,
      response: responses({
        200: {
          description: 'The runs, in the `format` of the request',
          content: {
            'text/csv': { schema: z.string().meta({ description: 'One line per run' }) },
            'application/x-ndjson': { schema: runSummarySchema },
          },
        },
      }),
    },
    config: { capability: 'view', headers: ['Content-Disposition'] },
    handlerTimeout: EXPORT_MS,
    handler: async ({ actor: { workspaceId }, query: { format, ...filter } }, reply) => {
      const release = await slots.take(workspaceId);
      try {
        const pages = runPages(db, { workspaceId, ...filter });
        // Its errors are reported as such, for example a search that takes too long.
        const first = await pages.next();
        const text = textOf(format, first.done === true ? [] : first.value, pages);
        await sendExport(reply, { name: 'runs', format, text });
      } finally {
        release();
      }
      return reply;
    },
  });
}

const lines = {
  csv: (run: RunSummary) => csvLine(runExportColumns.map((column) => run[column])),
  ndjson: (run: RunSummary) => `${JSON.stringify(run)}\n`,
};

async function* textOf(
  format: keyof typeof lines,
  first: readonly RunSummary[],
  others: AsyncGenerator<RunSummary[]>,
): AsyncGenerator<string> {
  if (format === 'csv') yield csvHeader(runExportColumns);
  yield first.map(lines[format]).join('');
  for await (const runs of others) yield runs.map(lines[format]).join('');
}
