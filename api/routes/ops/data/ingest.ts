import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { ingestAnswerSchema, ingestBody, ingestQuery } from '#shared/contract/data/ingest.ts';
import { AppError } from '#shared/errors.ts';
import { compareChangesSoon } from '#shared/operations/events/events.ts';
import { ingestRecords, ingestStream } from '#shared/operations/data/ingest.ts';
import { responses } from '#api/http/responses.ts';
import { boundBySilence } from '#api/http/connections.ts';
import type { App, RouteContext } from '#api/deps.ts';
import { readNdjson } from '#api/http/ndjson.ts';

const STREAM = 'application/x-ndjson';
/** A stream has no length limit; this is the maximum of a timer. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;
/** Also covers the writing of a batch, which takes at most a statement timeout. */
const SILENCE_MS = 60_000;

export function dataIngestRoutes(app: App, context: RouteContext): void {
  const { db } = context;
  const onChange = (workspaceId: string) => compareChangesSoon(context, workspaceId);
  app.register(async (plugin) => {
    const scope = plugin.withTypeProvider<ZodTypeProvider>();
    // Not parsed: the handler reads the stream.
    scope.addContentTypeParser(STREAM, async () => undefined);
    scope.route({
      method: 'POST',
      url: '/api/data/ingest',
      handlerTimeout: NO_TIMEOUT_MS,
      schema: {
        tags: ['Data'],
        operationId: 'ingestRecords',
        summary: 'Send records and events to a feed',
        description:
          'JSON with at most 1,000 records, or a stream of any length of `application/x-ndjson` with one record per ' +
          'line and `?feed_id=`. An unchanged record creates no version and no change; a refused record is not ' +
          'stored, while the others are. An interrupted stream keeps what it has sent so far: send ' +
          'all of it again. A change names an attribute directly, or as `attributes.<name>` where a field of the ' +
          'record has that name.',
        querystring: ingestQuery,
        body: ingestBody,
        response: responses({ 200: ingestAnswerSchema }, 'not_found', 'conflict'),
      },
      config: { capability: 'manage_workspace' },
      handler: async ({ actor, query, body, mediaType, raw }, reply) => {
        if (mediaType === STREAM) {
          if (query.feed_id === undefined) {
            throw invalid('query: feed_id is required with a stream');
          }
          boundBySilence(raw, reply.raw, SILENCE_MS);
          return ingestStream({ db, onChange }, actor, query.feed_id, readNdjson(raw));
        }
        if (body == null) throw invalid('body: feed_id and records are required');
        const sent = body.records.map((value, index) => ({ line: index + 1, value }));
        return ingestRecords({ db, onChange }, actor, body.feed_id, sent);
      },
    });
  });
}

const invalid = (what: string): AppError => new AppError('invalid', `Invalid ${what}`);
