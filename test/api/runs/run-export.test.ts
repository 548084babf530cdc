import { beforeAll, expect, test } from '@jest/globals';
import { runSummarySchema } from '#shared/contract/runs/run.ts';
import { sql } from '#shared/db/pool.ts';
import { createWorkspace } from '#shared/db/people/workspaces.ts';
import { oneStep, useTestApi } from '#test/api/test-api.ts';

const api = useTestApi();
beforeAll(async () => {
  const { body } = await api.call('POST', '/api/workflows', { name: '=1+1', graph: oneStep });
  await insert(1_203, api.workspaceId, body.id);
  const owner = { name: 'Ada', email: 'ada@example.com', passwordHash: 'x' };
  const other = await createWorkspace(api.db, { name: 'Other', owner });
  await insert(3, other, body.id);
});

const insert = (count: number, workspaceId: string, workflowId: string) =>
  api.db.query(sql.unsafe`
    INSERT INTO runs (id, workspace_id, workflow_id, workflow_version, status, trigger, input, error, cost_micros,
                      created_at, finished_at)
    SELECT 'run_' || ${workspaceId}::text || n, ${workspaceId}, ${workflowId}, 1,
           CASE WHEN n % 3 = 0 THEN 'failed' ELSE 'success' END, 'manual', '{}',
           CASE WHEN n % 3 = 0 THEN 'Line one' || chr(10) || '@two, "three"' END, n, now() - n * interval '1 second', now()
    FROM generate_series(1, ${count}::int) AS n`);

const exported = (query = '') => api.call('GET', `/api/runs/export${query}`);

test('has every run of the workspace once, newest first, over all pages', async () => {
  const { status, headers, text } = await exported('?format=ndjson');
  expect(status).toBe(200);
  expect(headers['content-type']).toBe('application/x-ndjson; charset=utf-8');
  expect(headers['content-disposition']).toBe('attachment; filename="runs.ndjson"');
  expect(text).toMatch(/^\{/);
  const runs = text
    .trimEnd()
    .split('\n')
    .map((line) => runSummarySchema.parse(JSON.parse(line)));
  expect(runs.map(({ id }) => id)).toEqual(
    Array.from({ length: 1_203 }, (_, index) => `run_${api.workspaceId}${index + 1}`),
  );
  expect(new Set(runs.map((run) => run.workspace_id))).toEqual(new Set([api.workspaceId]));
});

test('CSV has a header row, and no cell that a spreadsheet reads as a formula', async () => {
  const { headers, text } = await exported('?status=failed');
  expect(headers['content-type']).toBe('text/csv; charset=utf-8');
  const [head = '', first = ''] = text.split('\r\n');
  expect(text.lastIndexOf('\ufeff')).toBe(0);
  expect(head.startsWith('\ufeffid,run_id,workspace_id,workflow_id,workflow_name,')).toBe(true);
  expect(first).toContain(",'=1+1,");
  expect(text).toContain(`"Line one\n'@two, ""three"""`);
  expect(text.split('\r\n')).toHaveLength(1 + 401 + 1);
});

test('a list without runs is a file without rows', async () => {
  expect((await exported('?format=ndjson&status=paused')).text).toBe('');
  expect((await exported('?status=paused')).text.split('\r\n')).toHaveLength(2);
});

test.each([
  ['?format=xml', 'format'],
  ['?since=2026-02-01&until=2026-01-01', 'until'],
  ['?limit=5', 'limit'],
  ['?q=%20', 'q'],
])('refuses %s', async (query, field) => {
  const { status, body } = await exported(query);
  expect(status).toBe(400);
  expect(JSON.stringify(body)).toContain(field);
});
