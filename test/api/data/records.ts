import type { Pool } from '#shared/db/pool.ts';
import { sql } from '#shared/db/pool.ts';
import { newId } from '#shared/crypto/ids.ts';
import type { PlanName } from '#shared/people/plans.ts';

export interface Place {
  db: Pool;
  workspaceId: string;
}

export interface TestFeed {
  id: string;
  workspaceId: string;
  isDemo: boolean;
}

/** Inserts a workspace. */
export async function addWorkspace(db: Pool, plan: PlanName = 'enterprise'): Promise<Place> {
  const workspaceId = newId('workspace');
  await db.query(sql.unsafe`
    INSERT INTO workspaces (id, name, plan) VALUES (${workspaceId}, 'W', ${plan})`);
  return { db, workspaceId };
}

/** Reads all pages of a list. Returns what `read` finds in each, which includes the cursor of the next. */
export async function pagesOf(
  get: (path: string) => Promise<{ status: number; body: any }>,
  path: string,
  read: (body: any) => { ids: string[]; next: string | null },
): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor = ''; ;) {
    const { status, body } = await get(`${path}${cursor}`);
    if (status !== 200) throw new Error(`${path} answered ${status}`);
    const page = read(body);
    ids.push(...page.ids);
    if (page.next === null) return ids;
    cursor = `&cursor=${page.next}`;
  }
}

/** Inserts a feed, by default of real records. */
export async function addFeed({ db, workspaceId }: Place, isDemo = false): Promise<TestFeed> {
  const id = newId('feed');
  await db.query(sql.unsafe`
    INSERT INTO data_feeds (id, workspace_id, is_demo, name) VALUES (${id}, ${workspaceId}, ${isDemo}, 'Feed')`);
  return { id, workspaceId, isDemo };
}

/** The columns that matter to a test; the others get a default. */
export interface TestEntity {
  id?: string;
  entity_type?: string;
  canonical_name?: string;
  attributes?: object;
  geography?: object;
  confidence?: number;
  first_observed_at?: string;
  updated_at?: string;
}

/** Inserts records in this order. Returns their ids. */
export async function addEntities(
  { db }: Pick<Place, 'db'>,
  feed: TestFeed,
  entities: readonly TestEntity[],
): Promise<string[]> {
  const rows = entities.map((entity) => ({ id: newId('entity'), ...entity }));
  await db.query(sql.unsafe`
    INSERT INTO data_entities (id, workspace_id, feed_id, is_demo, external_key, entity_type, canonical_name, attributes,
                               geography, confidence, content_hash, first_observed_at, last_observed_at, updated_at)
    SELECT id, ${feed.workspaceId}, ${feed.id}, ${feed.isDemo}, id, coalesce(entity_type, 'project'),
           coalesce(canonical_name, id), coalesce(attributes, '{}'), coalesce(geography, '{}'), coalesce(confidence, 0.5),
           '\\x00', coalesce(first_observed_at, now()), coalesce(first_observed_at, now()), coalesce(updated_at, now())
    FROM json_to_recordset(${JSON.stringify(rows)}::json)
      AS r (id text, entity_type text, canonical_name text, attributes jsonb, geography jsonb, confidence float8,
            first_observed_at timestamptz, updated_at timestamptz)`);
  return rows.map((row) => row.id);
}

/**
 * Changes records while a reader lists them: adds records at both ends and to `moving`, updates the first of `moving`
 * and deletes the next. Stops after 50 iterations, since a slow reader would never reach the end otherwise.
 */
export async function disturb(
  place: Pick<Place, 'db'>,
  feed: TestFeed,
  moving: string[],
  { old, more = {} }: { old: (n: number) => TestEntity; more?: TestEntity },
): Promise<void> {
  for (let times = 0; times < 50; times += 1) {
    moving.push(...(await addEntities(place, feed, [more, old(Math.floor(Math.random() * 9))])));
    const [changed = '', gone = ''] = moving.splice(0, 2);
    await place.db.query(
      sql.unsafe`UPDATE data_entities SET updated_at = now() WHERE id = ${changed}`,
    );
    await place.db.query(sql.unsafe`DELETE FROM data_entities WHERE id = ${gone}`);
  }
}

/** Inserts events about a record, oldest first. Returns their ids. */
export async function addEvents(
  { db }: Pick<Place, 'db'>,
  feed: TestFeed,
  entityId: string,
  events: readonly { verification_status?: string; event_type?: string; confidence?: number }[],
): Promise<string[]> {
  const rows = events.map((event, n) => ({ n, id: newId('event'), ...event }));
  await db.query(sql.unsafe`
    INSERT INTO data_events (id, workspace_id, feed_id, is_demo, external_key, event_type, occurred_at, detected_at,
                             primary_entity_id, summary, confidence, verification_status, match_reason, content_hash)
    SELECT id, ${feed.workspaceId}, ${feed.id}, ${feed.isDemo}, id, coalesce(event_type, 'permit_filed'), now(),
           now() + n * interval '1 millisecond', ${entityId}, 'It happened', coalesce(confidence, 0.5),
           coalesce(verification_status, 'unverified'), 'Asked for', '\\x00'
    FROM json_to_recordset(${JSON.stringify(rows)}::json)
      AS r (n int, id text, event_type text, confidence float8, verification_status text)`);
  return rows.map((row) => row.id);
}

/** Inserts a webhook endpoint where no server listens. Returns its id. */
export async function addEndpoint({ db, workspaceId }: Place): Promise<string> {
  const id = newId('endpoint');
  await db.query(sql.unsafe`
    INSERT INTO data_endpoints (id, workspace_id, is_demo, url, events, secret)
    VALUES (${id}, ${workspaceId}, false, 'http://127.0.0.1:9/', '{ping}', 'sealed')`);
  return id;
}
