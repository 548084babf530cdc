import { evidenceLineSchema, evidenceQuery } from '#shared/contract/evidence/evidence.ts';
import { withEvidence } from '#shared/operations/evidence/evidence.ts';
import type { App, RouteContext } from '#api/deps.ts';
import { createExportSlots, EXPORT_MS, sendExport } from '#api/http/export-stream.ts';
import { idParams, responses } from '#api/http/responses.ts';
import { seesArguments, shownEvidenceGate, shownSteps } from '#api/identity/shown-gates.ts';

/** What proves how a run went, as a file. */
export function evidenceRoutes(app: App, { db, config }: RouteContext): void {
  const slots = createExportSlots(config.database.poolSize);

  app.get('/api/runs/:id/evidence', {
    schema: {
      operationId: 'exportEvidence',
      summary: 'Export the evidence of a run, which can be verified without the service',
      description:
        'One JSON object per line, as of one moment: the run, its graph, its steps with digests of their inputs and outputs, ' +
        'gates with what they showed and who decided, verdicts of policies, and the entries of the audit log about it with ' +
        'their seals. `ops evidence verify` verifies it. A run that has not ended has evidence, too: of what has happened so ' +
        'far. The connection is closed after two minutes, or when reading fails: then the last line is missing. Arguments ' +
        'at gates are null for a caller without the capability approve_gates.',
      params: idParams,
      querystring: evidenceQuery,
      response: responses({
        200: {
          description: 'The evidence',
          content: { 'application/x-ndjson': { schema: evidenceLineSchema } },
        },
      }),
    },
    config: { capability: 'view', headers: ['Content-Disposition'] },
    handlerTimeout: EXPORT_MS,
    handler: async ({ actor, params: { id: runId }, query }, reply) => {
      const { workspaceId } = actor;
      const release = await slots.take(workspaceId);
      try {
        const request = {
          ...{ workspaceId, runId, contents: query.contents === 'true' },
          hides: !seesArguments(actor),
          shownSteps: (steps: Parameters<typeof shownSteps>[1]) => shownSteps(actor, steps),
          shownGate: (gate: Parameters<typeof shownEvidenceGate>[1]) =>
            shownEvidenceGate(actor, gate),
        };
        await withEvidence(db, request, (text) =>
          sendExport(reply, { name: `${runId}.evidence`, format: 'ndjson', text }),
        );
      } finally {
        release();
      }
      return reply;
    },
  });
}
