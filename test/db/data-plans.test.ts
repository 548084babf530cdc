import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { CommonQueryMethods, QuerySqlToken } from 'slonik';
import pg from 'pg';
import { type ChangeFilter, listChanges } from '#shared/db/data/changes.ts';
import {
  type EntityFilter,
  type EntitySearch,
  listEntities,
  searchEntities,
} from '#shared/db/data/entities.ts';
import { type EventFilter, listEvents } from '#shared/db/data/events.ts';
import type { PageRequest } from '#shared/db/data/lists.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';

const ROWS = 10_000;
/** More events and changes of one record. */
const MANY = 1_000;
/** The scope of a key, and of a member, who sees both modes. */
const scopes = [{ workspaceId: 'ws_plans', isDemo: false }, { workspaceId: 'ws_plans' }];
let database: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  database = await createTestDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query(`
    SET plan_cache_mode = force_generic_plan;
    INSERT INTO workspaces (id, name) VALUES ('ws_plans', 'Plans');
    INSERT INTO data_feeds (id, workspace_id, name) VALUES ('feed_a', 'ws_plans', 'A'), ('feed_b', 'ws_plans', 'B');
    INSERT INTO data_entities (id, workspace_id, feed_id, is_demo, external_key, entity_type, canonical_name, geography,
                               confidence, content_hash, first_observed_at, last_observed_at, updated_at)
    SELECT 'ent_' || n, 'ws_plans', CASE WHEN n <= ${ROWS / 2} THEN 'feed_a' ELSE 'feed_b' END, false, n,
           CASE WHEN n <= ${ROWS / 2} THEN 'permit' ELSE 'company' END, 'Record', jsonb_build_object('city', 'C' || n % 100,
           'region', 'R' || n % 10, 'country', 'X' || n % 2), n % 101 / 100.0, '\\x00', now() - n * interval '1 hour', now(),
           now() - n % 500 * interval '1 hour'
    FROM generate_series(1, ${ROWS}) n;
    INSERT INTO data_events (id, workspace_id, feed_id, is_demo, external_key, event_type, occurred_at, detected_at,
                             primary_entity_id, summary, confidence, content_hash)
    SELECT 'evt_' || n, workspace_id, feed_id, false, n, entity_type, now(), first_observed_at, id, 'x', confidence, '\\x00'
    FROM data_entities, LATERAL (SELECT substr(id, 5)::int) k (n);
    INSERT INTO data_changes (id, workspace_id, feed_id, is_demo, entity_id, entity_type, attribute, version, changed_at)
    SELECT 'chg_' || id, workspace_id, feed_id, false, id, entity_type, 'a', 2, first_observed_at FROM data_entities;
    INSERT INTO data_events (id, workspace_id, feed_id, is_demo, external_key, event_type, occurred_at, detected_at,
                             primary_entity_id, summary, confidence, content_hash)
    SELECT 'evt_7_' || n, workspace_id, feed_id, false, '7_' || n, entity_type, now(), now() - n * interval '1 hour', id, 'x',
           0.9, '\\x00'
    FROM data_entities, generate_series(1, ${MANY}) n WHERE id = 'ent_7';
    INSERT INTO data_changes (id, workspace_id, feed_id, is_demo, entity_id, entity_type, attribute, version, changed_at)
    SELECT 'chg_7_' || n, workspace_id, feed_id, false, id, entity_type, 'b', n, now() - n * interval '1 hour'
    FROM data_entities, generate_series(1, ${MANY}) n WHERE id = 'ent_7';
  `);
  await client.query('VACUUM ANALYZE data_entities, data_events, data_changes, data_feeds');
}, 120_000);
afterAll(async () => {
  await client.end();
  await database.drop();
});

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: Plan[];
}

const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

/** The nodes of a list's generic plan, with the rows of an execution. */
async function planOf(list: (db: CommonQueryMethods) => Promise<unknown>): Promise<Plan[]> {
  let statement: QuerySqlToken | undefined;
  const any = async (query: QuerySqlToken) => {
    statement = query;
    return [];
  };
  await list({ any } as unknown as CommonQueryMethods);
  const { sql = '', values = [] } = statement ?? {};
  // Slonik uses its own placeholder names until it sends a statement.
  await client.query(`PREPARE list AS ${sql.replaceAll('$slonik_', '$')}`);
  const given = values
    .map((value) => (value === null ? 'NULL' : pg.escapeLiteral(String(value))))
    .join(', ');
  const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
    `EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE list ${given === '' ? '' : `(${given})`}`,
  );
  await client.query('DEALLOCATE list');
  const [explained] = rows;
  return nodesOf(explained!['QUERY PLAN'][0].Plan);
}

/** All subsets of at most two of these. */
function upToTwo<Filter extends object>(filter: Filter): Partial<Filter>[] {
  const entries = Object.entries(filter);
  const pairs = entries.flatMap((one, index) =>
    entries.slice(index + 1).map((other) => [one, other]),
  );
  return [[], ...entries.map((one) => [one]), ...pairs].map(
    (some) => Object.fromEntries(some) as Partial<Filter>,
  );
}

/** Filters of one record: alone, with its feed, and with each of these. */
const ofOne = <Filter extends object>(filter: Filter): Filter[] =>
  upToTwo({ feed_id: 'feed_a', ...filter })
    .filter((some) => Object.keys(some).length < 2)
    .map((some) => ({ entity_id: 'ent_7', ...some }) as unknown as Filter);

const since = new Date(Date.now() - 400 * 3_600_000).toISOString();
const entityFilters: EntityFilter[] = [
  ...upToTwo<EntityFilter>({
    feed_id: 'feed_a',
    entity_type: 'permit',
    geography: 'r5',
    confidence_min: 0.5,
    updated_since: since,
    created_since: since,
  }),
  // Two conditions without a common record.
  { feed_id: 'feed_a', entity_type: 'company' },
  { feed_id: 'feed_none' },
];
/** By the key of a record: alone, and with each other filter. */
const entitySearches: EntitySearch[] = entityFilters
  .filter((filter) => Object.keys(filter).length < 2)
  .map((filter) => ({ ...filter, external_key: '7' }));
const eventFilters: EventFilter[] = [
  ...upToTwo<EventFilter>({
    feed_id: 'feed_a',
    event_type: 'permit',
    confidence_min: 0.5,
    created_since: since,
  }),
  ...ofOne<EventFilter>({ event_type: 'permit', confidence_min: 0.5, created_since: since }),
];
const changeFilters: ChangeFilter[] = [
  ...upToTwo<ChangeFilter>({ feed_id: 'feed_a', entity_type: 'permit', updated_since: since }),
  ...ofOne<ChangeFilter>({ entity_type: 'permit', updated_since: since }),
];
const page = { at: Date.now() * 1000 - 3_600_000_000, tie: '5' };

/** No part may read more than it needs: 26 rows of each of the parts, and what one class holds beside them. */
function expectBounded(all: Plan[]): void {
  // With two feeds, an index would not be faster.
  const nodes = all.filter((node) => node['Relation Name'] !== 'data_feeds');
  expect(nodes.map((node) => node['Node Type'])).not.toContain('Seq Scan');
  expect(nodes.map((node) => node['Node Type'])).not.toContain('Bitmap Heap Scan');
  for (const node of nodes.filter((each) => /Scan$/.test(each['Node Type']))) {
    expect(node['Actual Rows']).toBeLessThanOrEqual(158);
    expect(node['Rows Removed by Filter'] ?? 0).toBeLessThanOrEqual(ROWS / 100);
  }
}

/** The list, read from the beginning and from a later page. */
const serves = <Filter>(
  what: string,
  filters: Filter[],
  list: (
    ...request: [CommonQueryMethods, (typeof scopes)[number], Filter, PageRequest]
  ) => Promise<unknown>,
  pages: PageRequest['after'][] = [undefined, page],
) =>
  test.each(filters.map((filter) => [filter]))(`an index serves ${what} by %j`, async (filter) => {
    for (const after of pages) {
      for (const scope of scopes) {
        expectBounded(await planOf((db) => list(db, scope, filter, { limit: 25, after })));
      }
    }
  });
serves('records', entityFilters, listEntities);
serves('a search', entitySearches, searchEntities, [undefined]);
serves('events', eventFilters, listEvents);
serves('changes', changeFilters, listChanges);
