import { request } from 'undici';
import { freePorts } from '#scripts/stack/ports.ts';
import { dataScopeNames } from '#shared/contract/data/envelope.ts';
import { dataKeyInput } from '#shared/contract/data/key.ts';
import { createDataKey } from '#shared/db/data/keys.ts';
import { connectDatabase } from '#shared/db/pool.ts';
import type { Processes } from '#bench/processes.ts';
import { freshDatabase, query, type Stack } from '#bench/stack.ts';

export const workspaceId = 'ws_reading';

/** A database with this many records, an API process that uses it, and a key. */
export interface Records {
  databaseUrl: string;
  apiUrl: string;
  pid: number;
  headers: Record<string, string>;
}

/**
 * Creates the database `name` on the stack's server and fills it in SQL, in clusters: half of the records were loaded at
 * once long ago and updated today, the newer half have lower confidence, and one in a hundred belongs to a separate feed.
 */
export async function bringUp(
  stack: Stack,
  processes: Processes,
  name: string,
  records: number,
): Promise<Records> {
  const url = await freshDatabase(stack, name);
  const [port = 0] = await freePorts(1);
  // It creates the first workspace and its owner, which the bare server needs.
  const { pid } = await processes.startNode({
    name: `api-of-${name}`,
    script: 'api/main.ts',
    env: { ...stack.environment, DATABASE_URL: url, API_PORT: String(port) },
  });
  await seed(url, records);
  const db = await connectDatabase(url, { maxPoolSize: 1 });
  const input = dataKeyInput.parse({ name: 'Bench', mode: 'live', scopes: dataScopeNames });
  const { secret } = await createDataKey(db, { workspaceId, id: null, name: null }, input);
  await db.end();
  return {
    databaseUrl: url,
    apiUrl: `http://127.0.0.1:${port}`,
    pid,
    headers: { authorization: `Bearer ${secret}` },
  };
}

const feedOf = (letter: string): string => `feed_${letter.repeat(26)}`;

async function seed(url: string, records: number): Promise<void> {
  const indexes = await takeIndexes(url);
  await query(
    url,
    `INSERT INTO workspaces (id, name, plan) VALUES ('${workspaceId}', 'Reading', 'enterprise')`,
  );
  await query(
    url,
    `INSERT INTO data_feeds (id, workspace_id, name)
     SELECT 'feed_' || repeat(f, 26), '${workspaceId}', f FROM unnest(ARRAY['a', 'b', 'c']) f`,
  );
  await query(
    url,
    `INSERT INTO data_entities (id, workspace_id, feed_id, is_demo, external_key, entity_type, canonical_name, attributes,
       geography, confidence, content_hash, first_observed_at, last_observed_at, updated_at, source_evidence)
     SELECT 'ent_' || lpad(n::text, 26, '0'), '${workspaceId}', 'feed_' || repeat(f, 26), false, 'key ' || n,
       CASE f WHEN 'a' THEN 'permit' WHEN 'b' THEN 'company' ELSE 'project' END, 'Record ' || n,
       jsonb_build_object('project_name', 'Project ' || n, 'property_address', n || ' Main Street', 'project_value', n * 10,
                          'permit_number', 'P-' || n, 'project_stage', 'planning', 'developer', 'Developer ' || n % 100),
       CASE f WHEN 'a' THEN '{"city": "Berlin", "region": "Berlin", "country": "DE"}'
              WHEN 'b' THEN '{"city": "Austin", "region": "Texas", "country": "US"}'
              ELSE '{"city": "Lyon", "region": "Rhone", "country": "FR"}' END::jsonb,
       CASE f WHEN 'a' THEN 0.5 + (n % 45) / 100.0 WHEN 'b' THEN (n % 40) / 100.0 ELSE 0.97 END, '\\x00', seen, seen,
       CASE f WHEN 'a' THEN now() - n % 3600 * interval '1 second' ELSE seen END,
       '[{"source_id": "src_1", "source_name": "Register", "url": "https://example.org/1",
          "retrieved_at": "2026-01-01T00:00:00Z", "synthetic": true}]'
     FROM (SELECT n, f, CASE f WHEN 'a' THEN now() - interval '400 days' + n * interval '7 ms'
                        ELSE now() - interval '30 days' * (${records} - n) / ${records / 2} END AS seen
           FROM generate_series(1, ${records}) n,
             LATERAL (SELECT CASE WHEN n <= ${records / 2} THEN 'a' WHEN n % 50 = 0 THEN 'c' ELSE 'b' END AS f) k) s`,
  );
  for (const index of indexes) await query(url, `SET maintenance_work_mem = '1GB'; ${index}`);
  await query(url, 'VACUUM ANALYZE data_entities');
  await query(url, 'CHECKPOINT');
}

/** Drops the indexes of records without a constraint, since building them afterward is faster, and returns their SQL. */
async function takeIndexes(url: string): Promise<string[]> {
  const rows = await query<{ name: string; definition: string }>(
    url,
    `SELECT c.relname AS name, pg_get_indexdef(i.indexrelid) AS definition
     FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
     WHERE i.indrelid = 'data_entities'::regclass
       AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = i.indexrelid)`,
  );
  await query(url, `DROP INDEX ${rows.map(({ name }) => name).join(', ')}`);
  return rows.map(({ definition }) => definition);
}

interface Listed {
  data: unknown[];
  pagination: { next_cursor: string | null };
}

export async function list({ apiUrl, headers }: Records, path: string): Promise<Listed> {
  const response = await request(`${apiUrl}${path}`, { headers });
  const text = await response.body.text();
  if (response.statusCode !== 200) {
    throw new Error(`${path} answered ${response.statusCode}: ${text}`);
  }
  return JSON.parse(text) as Listed;
}

/** The path of a page, found through the pages before it. */
export async function pageAt(records: Records, page: number): Promise<string> {
  let path = '/v1/entities';
  for (let turned = 1; turned < page; turned += 1) {
    const { next_cursor } = (await list(records, path)).pagination;
    path = `/v1/entities?cursor=${next_cursor}`;
  }
  return path;
}

const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString();

/** For each filter, values that match half of the records, one in a hundred, and none. */
const values = (): Record<string, readonly string[]> => ({
  feed_id: [feedOf('a'), feedOf('b'), feedOf('c'), feedOf('x')],
  entity_type: ['permit', 'company', 'project', 'contract'],
  geography: ['berlin', 'US', 'lyon', 'nowhere'],
  confidence_min: ['0.5', '0.97', '1'],
  updated_since: [daysAgo(1), daysAgo(0.5), daysAgo(500), daysAgo(-1)],
  created_since: [daysAgo(31), daysAgo(0.6), daysAgo(-1)],
});

/** Each filter and each pair of filters, with each of their values. */
export function questions(): string[] {
  const all = Object.entries(values());
  const asked = all.flatMap(([name, each]) => each.map((value) => ({ name, value })));
  const pairs = asked.flatMap((one) =>
    asked.filter((other) => other.name > one.name).map((other) => [one, other]),
  );
  return [...asked.map((one) => [one]), ...pairs].map((parts) =>
    new URLSearchParams(parts.map(({ name, value }): [string, string] => [name, value])).toString(),
  );
}
