import { beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { sql } from '#shared/db/pool.ts';
import { ensureDefaultWorkspace } from '#shared/db/people/workspaces.ts';
import { createDemoData } from '#shared/seed/demo-data.ts';
import { useDatabase } from '#test/db/use-database.ts';

const db = useDatabase(4);
let workspaceId: string;
beforeAll(async () => {
  workspaceId = await ensureDefaultWorkspace(db, { ownerEmail: 'owner@example.com' });
});

const summary = z.object({
  feeds: z.number(),
  sources: z.number(),
  entities: z.number(),
  types: z.number(),
  later_versions: z.number(),
  changes: z.number(),
  events: z.number(),
  event_types: z.number(),
  statuses: z.number(),
  real: z.number(),
  unmarked: z.number(),
  without_source: z.number(),
  unmatched: z.number(),
  never_verified: z.number(),
});

test('a workspace gets demo records of several types, versions and events, once', async () => {
  const filled = await Promise.all(
    Array.from({ length: 3 }, () => createDemoData(db, workspaceId)),
  );
  expect(filled.sort()).toEqual([false, false, true]);
  const counts = await db.one(sql.type(summary)`
    SELECT (SELECT count(*) FROM data_feeds WHERE is_demo) AS feeds,
           (SELECT count(*) FROM data_sources WHERE is_demo) AS sources,
           (SELECT count(*) FROM data_entities) AS entities,
           (SELECT count(DISTINCT entity_type) FROM data_entities) AS types,
           (SELECT count(*) FROM data_entity_versions WHERE version > 1) AS later_versions,
           (SELECT count(*) FROM data_changes) AS changes,
           (SELECT count(*) FROM data_events) AS events,
           (SELECT count(DISTINCT event_type) FROM data_events) AS event_types,
           (SELECT count(DISTINCT verification_status) FROM data_events) AS statuses,
           (SELECT count(*) FROM data_entities WHERE NOT is_demo) AS real,
           (SELECT count(*) FROM data_entities WHERE NOT source_evidence @> '[{"synthetic": true}]') AS unmarked,
           (SELECT count(*) FROM (
              SELECT source_evidence FROM data_entities UNION ALL SELECT source_evidence FROM data_events) AS r
            WHERE NOT EXISTS (SELECT FROM data_sources s WHERE r.source_evidence -> 0 ->> 'source_id' = s.id)
           ) AS without_source,
           (SELECT count(*) FROM data_events WHERE match_reason IS NULL) AS unmatched,
           (SELECT count(*) FROM data_entities
            WHERE (last_verified_at IS NULL) <> (verification_status = 'unverified')) AS never_verified
  `);
  expect(counts).toEqual({
    feeds: 4,
    sources: 6,
    entities: 5_212,
    types: 4,
    later_versions: 605,
    changes: 1_205,
    events: 480,
    event_types: 5,
    statuses: 4,
    real: 0,
    unmarked: 0,
    without_source: 0,
    unmatched: 0,
    never_verified: 0,
  });
});
