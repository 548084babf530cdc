import { z } from 'zod';
import { offsetQuery } from '#shared/contract/common.ts';
import {
  managedFeedDetailSchema,
  feedInput,
  managedFeedSchema,
  feedUpdate,
} from '#shared/contract/data/feed.ts';
import { createFeed, deleteFeed, listFeeds, readFeed, updateFeed } from '#shared/db/data/feeds.ts';
import { compareChangesSoon } from '#shared/operations/events/events.ts';
import { idParams, nothing, responses } from '#api/http/responses.ts';
import { type EditedRecord, idOf } from '#api/http/conditional.ts';
import type { App, RouteContext } from '#api/deps.ts';

const record: EditedRecord = {
  noun: 'feed',
  schema: managedFeedDetailSchema,
  read: (db, { actor, params }) =>
    readFeed(db, { workspaceId: actor.workspaceId, feedId: idOf(params) }),
};

export function dataFeedRoutes(app: App, context: RouteContext): void {
  const { db } = context;
  app.get('/api/data/feeds', {
    schema: {
      operationId: 'listFeeds',
      summary: 'List feeds, newest first, including archived ones',
      querystring: offsetQuery,
      response: responses({ 200: z.array(managedFeedSchema) }),
    },
    config: { capability: 'view' },
    handler: async ({ actor: { workspaceId }, query }) => [
      ...(await listFeeds(db, { workspaceId, archived: true }, query)),
    ],
  });

  app.post('/api/data/feeds', {
    schema: {
      operationId: 'createFeed',
      summary: 'Create a feed',
      description: 'A stream of records. All are live or, with `is_demo`, all are demo records.',
      body: feedInput,
      response: responses({ 201: managedFeedDetailSchema }, 'conflict'),
    },
    config: { capability: 'manage_workspace', headers: ['Location'] },
    handler: async ({ actor, body }, reply) => {
      const feed = await createFeed(db, actor, body);
      return reply.code(201).header('location', `/api/data/feeds/${feed.id}`).send(feed);
    },
  });

  app.get('/api/data/feeds/:id', {
    schema: {
      operationId: 'getFeed',
      summary: 'Read a feed with its specification',
      params: idParams,
      response: responses({ 200: managedFeedDetailSchema }),
    },
    config: { capability: 'view', record },
    handler: async ({ actor, params }) =>
      readFeed(db, { workspaceId: actor.workspaceId, feedId: params.id }),
  });

  app.put('/api/data/feeds/:id', {
    schema: {
      operationId: 'updateFeed',
      summary: 'Change a feed',
      description:
        'Changes the fields in the body. A changed status is sent to webhooks as `feed.status_changed`. Records keep ' +
        'types that are removed from `entity_types`.',
      params: idParams,
      body: feedUpdate,
      response: responses({ 200: managedFeedDetailSchema }),
    },
    config: { capability: 'manage_workspace', record },
    handler: async ({ writes, actor, params, body }) => {
      const feed = await updateFeed(writes, actor, params.id, body);
      compareChangesSoon(context, actor.workspaceId);
      return feed;
    },
  });

  app.delete('/api/data/feeds/:id', {
    schema: {
      operationId: 'deleteFeed',
      summary: 'Delete a feed and all its records',
      description:
        'With very many records some may be left when the response is 503; delete it again.',
      params: idParams,
      response: responses({ 204: nothing }),
    },
    config: { capability: 'manage_workspace', record },
    handler: async ({ writes, actor, params }, reply) => {
      await deleteFeed(writes, actor, params.id);
      return reply.code(204).send();
    },
  });
}
