import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { request } from 'undici';
import { atLeast, compare, figure, type Result } from '#bench/result.ts';
import type { Stack } from '#bench/stack.ts';
import { interleave, timed } from '#bench/statistics.ts';

const records = 5_000;
const batch = 500;
const limits = { count: 8, least: 4, budgetMs: 40_000 };

/**
 * Compares records sent as one NDJSON stream with rows of the same content inserted into the same tables. Both sides
 * use batches of one transaction each. The service looks up each record first, compares it and returns its result; the
 * baseline knows that all are new, lets the database generate ids, and checks nothing.
 */
export async function ingest({ apiUrl, databaseUrl }: Stack): Promise<Result[]> {
  const [ours, baseline] = [await makeFeed(apiUrl, 'Sent'), await makeFeed(apiUrl, 'Put')];
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query<{ workspace_id: string }>(
    'SELECT workspace_id FROM data_feeds WHERE id = $1',
    [baseline],
  );
  const workspaceId = rows[0]!.workspace_id;
  const perSecond = async (work: () => Promise<unknown>): Promise<number> =>
    records / ((await timed(work)) / 1000);
  const send = (made: readonly unknown[]) => {
    const body = made.map((record) => JSON.stringify(record)).join('\n');
    return perSecond(() => stream(`${apiUrl}/api/data/ingest?feed_id=${ours}`, body));
  };
  const put = (made: readonly unknown[]) =>
    perSecond(() => insert(client, { workspaceId, feedId: baseline }, made));
  try {
    await send(newRecords());
    await put(newRecords());
    const samples = await interleave(
      limits,
      () => send(newRecords()),
      () => put(newRecords()),
    );
    return [
      compare({
        measure: 'ingest of new records as NDJSON / batched INSERT into the same tables',
        unit: 'records/s',
        ours: figure(samples.map((sample) => sample.ours)),
        baseline: figure(samples.map((sample) => sample.baseline)),
        bound: atLeast(0.3),
        notes: [
          `${records} records at a time, batches of ${batch}, all of them new, version 1 included`,
        ],
      }),
    ];
  } finally {
    await client.end();
  }
}

async function makeFeed(apiUrl: string, name: string): Promise<string> {
  const answer = await request(`${apiUrl}/api/data/feeds`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name }),
  });
  if (answer.statusCode !== 201) throw new Error(`a feed: ${answer.statusCode}`);
  return ((await answer.body.json()) as { id: string }).id;
}

function newRecords(): Record<string, unknown>[] {
  const round = randomUUID();
  return Array.from({ length: records }, (_, n) => ({
    type: 'entity',
    external_key: `${round} ${n}`,
    entity_type: 'permit',
    canonical_name: `Permit ${n}`,
    attributes: {
      permit_number: `P-${n}`,
      project_name: `Project ${n}`,
      property_address: `${n} Main Street`,
      project_value: n * 10,
      developer: `Developer ${n % 100}`,
    },
    geography: { city: `City ${n % 50}`, region: `Region ${n % 10}`, country: 'US' },
    confidence: (n % 100) / 100,
    source_evidence: [{ source_name: 'Register', url: 'https://example.org/1', synthetic: true }],
  }));
}

async function stream(url: string, body: string): Promise<void> {
  const answer = await request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson' },
    body,
  });
  const { created } = (await answer.body.json()) as { created?: number };
  if (created !== records) throw new Error(`${answer.statusCode}: ${created} records created`);
}

async function insert(
  client: pg.Client,
  { workspaceId, feedId }: { workspaceId: string; feedId: string },
  made: readonly unknown[],
): Promise<void> {
  for (let at = 0; at < made.length; at += batch) {
    await client.query({
      name: 'put',
      text: `
        WITH made AS (
          INSERT INTO data_entities (id, workspace_id, feed_id, is_demo, external_key, entity_type, canonical_name,
                                     attributes, geography, confidence, source_evidence, content_hash,
                                     first_observed_at, last_observed_at)
          SELECT gen_random_uuid(), $1, $2, false, external_key, entity_type, canonical_name, attributes, geography,
                 confidence, source_evidence, '\\x00', now(), now()
          FROM json_to_recordset($3::json) AS r(external_key text, entity_type text, canonical_name text,
                 attributes jsonb, geography jsonb, confidence float8, source_evidence jsonb)
          RETURNING id, attributes
        )
        INSERT INTO data_entity_versions (entity_id, version, workspace_id, changed_at, attributes)
        SELECT id, 1, $1, now(), attributes FROM made`,
      values: [workspaceId, feedId, JSON.stringify(made.slice(at, at + batch))],
    });
  }
}
