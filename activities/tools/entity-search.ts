import { z } from 'zod';
import type { ToolNode } from '#shared/contract/workflows/graph.ts';
import { entityListQuery } from '#shared/contract/data/entity.ts';
import { entityRecordFields } from '#shared/contract/data/ingest.ts';
import { searchEntities } from '#shared/db/data/entities.ts';
import type { Pool } from '#shared/db/pool.ts';
import type { NodeRunner } from '#activities/nodes/node.ts';
import { numberOf, parseParams, storable } from './params.ts';

const { limit, confidence_min, cursor: _pages, ...filters } = entityListQuery.shape;

/** The query of `GET /v1/entities` without pagination, plus the key of a record. */
export const entitySearchParams = z.strictObject({
  ...filters,
  external_key: entityRecordFields.external_key.optional(),
  confidence_min: numberOf(confidence_min),
  limit: numberOf(limit),
});

/**
 * `{feed_id?, external_key?, entity_type?, geography?, confidence_min?, updated_since?, created_since?, limit?}` to
 * `{data, has_more}`: live and demo records of the workspace's own feeds, newest first, each with its `external_key`.
 */
export const createEntitySearch =
  (db: Pool): NodeRunner<ToolNode> =>
  async ({ params, workspaceId }) => {
    const { limit: most, ...filter } = parseParams(
      'entity_search',
      entitySearchParams,
      storable(params),
    );
    const page = { limit: most, after: undefined };
    const { rows, end } = await searchEntities(db, { workspaceId }, filter, page);
    return { output: { data: rows, has_more: end !== null }, costMicros: 0 };
  };
