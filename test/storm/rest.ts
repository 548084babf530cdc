import pg from 'pg';

const restless = `
  SELECT (SELECT count(*) FROM runs r WHERE status IN ('pending', 'running')
            OR (status = 'paused' AND NOT EXISTS (
                  SELECT FROM gates g WHERE g.run_id = r.id AND g.status = 'open')))::int AS runs,
         (SELECT count(*) FROM outbox)::int AS promises,
         (SELECT count(*) FROM audit_unsealed)::int AS unsealed,
         (SELECT count(*) FROM data_deliveries WHERE status = 'pending')::int AS deliveries`;

/** What is still in flight, by kind. */
export async function readRestless(databaseUrl: string): Promise<Record<string, number>> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, number>>(restless);
    return rows[0] ?? {};
  } finally {
    await client.end();
  }
}
