import { z } from 'zod';
import { dataPageQuery, envelopeOf } from '#shared/contract/data/envelope.ts';
import { feedDetailSchema, feedSchema } from '#shared/contract/data/feed.ts';
import { listFeeds, readFeed } from '#shared/db/data/feeds.ts';
import { responses } from '#api/http/responses.ts';
import { answerData } from '#api/data/envelope.ts';
import { openPage, pageOfWhole } from '#api/data/page.ts';
import type { App, RouteContext } from '#api/deps.ts';

export function feedReadRoutes(app: App, { db, dataCursors }: RouteContext): void {
  app.get('/v1/feeds', {
    schema: {
      operationId: 'listFeeds',
      summary: 'List the feeds that are not archived, newest first',
      description: 'Costs no credits.',
      querystring: dataPageQuery,
      response: responses({ 200: envelopeOf(z.array(feedSchema)) }),
    },
    config: { scope: 'feeds:read' },
    handler: async (request) => {
      const { caller } = request.dataCall;
      const { page, next } = openPage(dataCursors, caller, 'feeds', request.query);
      const { workspaceId, isDemo } = caller;
      const feeds = await listFeeds(db, { workspaceId, isDemo, archived: false });
      const { rows, end } = pageOfWhole(feeds, page);
      return answerData(request, rows, next(end));
    },
  });

  app.get('/v1/feeds/:feed_id', {
    schema: {
      operationId: 'readFeed',
      summary: 'Read a feed with its specification',
      description: 'Costs no credits.',
      params: z.strictObject({ feed_id: z.string().min(1) }),
      querystring: z.strictObject({}),
      response: responses({ 200: envelopeOf(feedDetailSchema) }),
    },
    config: { scope: 'feeds:read' },
    handler: async (request) => {
      const { workspaceId, isDemo } = request.dataCall.caller;
      const feed = await readFeed(db, { workspaceId, isDemo, feedId: request.params.feed_id });
      return answerData(request, feed);
    },
  });
}
