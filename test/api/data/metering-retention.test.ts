import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { deleteExpiredMetering } from '#shared/db/data/metering-retention.ts';
import { sql } from '#shared/db/pool.ts';
import { useTestApi } from '#test/api/test-api.ts';
import { addDataKey } from './data-key.ts';
import { addWorkspace } from './records.ts';

const api = useTestApi();

const run = (statement: ReturnType<typeof sql.fragment>) => api.db.query(sql.unsafe`${statement}`);
const count = (table: ReturnType<typeof sql.fragment>, workspaceId: string): Promise<number> =>
  api.db.oneFirst(sql.type(z.object({ n: z.number() }))`
    SELECT count(*) AS n FROM ${table} WHERE workspace_id = ${workspaceId}
  `);

async function addHistory(workspaceId: string): Promise<void> {
  const { id } = await addDataKey({ db: api.db, workspaceId });
  const month = sql.fragment`(date_trunc('month', now() AT TIME ZONE 'UTC') - n * interval '1 month')::date`;
  const months = sql.fragment`generate_series(0, 29) AS n`;
  await run(sql.fragment`
    INSERT INTO data_months (workspace_id, month) SELECT ${workspaceId}, ${month} FROM ${months}`);
  await run(sql.fragment`
    INSERT INTO data_key_months (key_id, workspace_id, month) SELECT ${id}, ${workspaceId}, ${month} FROM ${months}`);
  await run(sql.fragment`
    INSERT INTO data_thresholds (workspace_id, month, meter, allowance, percent)
    SELECT ${workspaceId}, ${month}, 'credits', 1, 80 FROM ${months}`);
  await run(sql.fragment`
    INSERT INTO data_charges (workspace_id, key_id, month, request_id, operation, credits, records, charged_at)
    SELECT ${workspaceId}, ${id}, now(), 'r', 'o', 1, 1, now() - n * interval '1 hour' - interval '398 days'
    FROM generate_series(1, 2400) AS n`);
}

test('deletes charges older than 400 days and months older than 25, of one workspace', async () => {
  const { workspaceId: other } = await addWorkspace(api.db);
  await addHistory(api.workspaceId);
  await addHistory(other);
  let removed = 0;
  for (let gone = -1; gone !== 0; removed += gone) {
    gone = await deleteExpiredMetering(api.db, api.workspaceId);
    expect(gone).toBeLessThanOrEqual(2_000 + 3 * 4);
  }
  expect(removed).toBe(2_400 - 47 + 3 * 4);
  const tables = {
    charges: sql.fragment`data_charges`,
    months: sql.fragment`data_months`,
    keyMonths: sql.fragment`data_key_months`,
    thresholds: sql.fragment`data_thresholds`,
  };
  const left = async (workspaceId: string) =>
    Object.fromEntries(
      await Promise.all(
        Object.entries(tables).map(async ([name, table]) => [
          name,
          await count(table, workspaceId),
        ]),
      ),
    );
  expect(await left(api.workspaceId)).toEqual({
    charges: 47,
    months: 26,
    keyMonths: 26,
    thresholds: 26,
  });
  expect(await left(other)).toEqual({ charges: 2_400, months: 30, keyMonths: 30, thresholds: 30 });
});
