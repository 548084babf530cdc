import { z } from 'zod';
import { type Pool, sql } from '#shared/db/pool.ts';
import type { TemporalLink } from '#shared/platform/temporal.ts';

/** Every row of every table, as its table and its text. */
export async function rowTexts(db: Pool): Promise<string[]> {
  const tables = await db.anyFirst(sql.type(z.object({ name: z.string() }))`
    SELECT table_name AS name FROM information_schema.tables
    WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`);
  const rows = await Promise.all(
    tables.map((table) =>
      db.anyFirst(sql.type(z.object({ row: z.string() }))`
        SELECT ${table} || ' ' || t::text AS row FROM ${sql.identifier([table])} t`),
    ),
  );
  return rows.flat();
}

/** A message of Temporal as text, with decoded payloads. */
const readable = (message: object): string =>
  JSON.stringify(message, (key, value: unknown) => {
    if (typeof value === 'bigint') return String(value);
    if (key !== 'data') return value;
    if (typeof value === 'string') return Buffer.from(value, 'base64').toString();
    return value instanceof Uint8Array ? Buffer.from(value).toString() : value;
  });

/** The history of every execution, with its description. */
export async function historyTexts({ client, queues }: TemporalLink): Promise<string[]> {
  const texts: string[] = [];
  // Alerts and deliveries are executions on separate queues.
  for await (const execution of client.workflow.list()) {
    if (!Object.values(queues).includes(execution.taskQueue)) continue;
    const handle = client.workflow.getHandle(execution.workflowId, execution.runId);
    const described = await handle.describe();
    texts.push(readable(await handle.fetchHistory()) + readable(described.raw));
  }
  return texts;
}
