import { z } from 'zod';
import type { ToolNode } from '#shared/contract/workflows/graph.ts';
import { dataPageQuery } from '#shared/contract/data/envelope.ts';
import { feedInput } from '#shared/contract/data/feed.ts';
import { listFeeds } from '#shared/db/data/feeds.ts';
import type { Pool } from '#shared/db/pool.ts';
import type { NodeRunner } from '#activities/nodes/node.ts';
import { numberOf, parseParams, storable } from './params.ts';

export const feedListParams = z.strictObject({
  name: feedInput.shape.name.optional(),
  limit: numberOf(dataPageQuery.shape.limit),
});

/**
 * `{name?, limit?}` to `{data, has_more}`: the workspace's own feeds with their status, newest first, without archived
 * ones.
 */
export const createFeedList =
  (db: Pool): NodeRunner<ToolNode> =>
  async ({ params, workspaceId }) => {
    const { name, limit } = parseParams('feed_list', feedListParams, storable(params));
    // One more row shows whether there are more.
    const page = { limit: limit + 1, offset: 0 };
    const feeds = await listFeeds(db, { workspaceId, name, archived: false }, page);
    return {
      output: { data: feeds.slice(0, limit), has_more: feeds.length > limit },
      costMicros: 0,
    };
  };
