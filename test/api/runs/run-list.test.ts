import { beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from '#shared/db/pool.ts';
import { storeRunWords } from '#shared/db/runs/run-words.ts';
import { createWorkspace } from '#shared/db/people/workspaces.ts';
import type { JsonObject } from '#shared/json.ts';
import { MAX_VIEWS } from '#shared/limits.ts';
import { addMember } from '#test/support/people.ts';
import { oneStep, useTestApi } from '#test/api/test-api.ts';
import { expectRefusal } from '#test/api/refusal.ts';

interface Row {
  id: string;
  status?: string;
  trigger?: string;
  version?: number;
  input?: JsonObject;
  output?: JsonObject | null;
  error?: string | null;
  failure?: string | null;
  micros?: number;
  ms?: number;
  hoursAgo: number;
}

const api = useTestApi();
let workflowId: string;
beforeAll(async () => {
  const { body } = await api.call('POST', '/api/workflows', { name: 'Invoices', graph: oneStep });
  workflowId = body.id;
  await insert(rows);
  while ((await storeRunWords(api.db, 3)) > 0);
});

const rows: Row[] = [
  { id: 'run_a', hoursAgo: 1, input: { ticket: 'Invoice INV4711 for Ada' }, micros: 500, ms: 900 },
  {
    ...{ id: 'run_b', hoursAgo: 2, status: 'failed', failure: 'budget' },
    ...{ error: 'The budget "Support" has no room', micros: 2_500_000, trigger: 'mcp' },
  },
  {
    ...{ id: 'run_c', hoursAgo: 30, status: 'failed', failure: 'node', trigger: 'webhook' },
    ...{ error: 'Node failed: timeout after 30 s', ms: 30_000 },
  },
  { id: 'run_d', hoursAgo: 31, status: 'paused', input: { note: 'שלום עולם', q: '発票を送る' } },
  { id: 'run_e', hoursAgo: 800, output: { letter: 'line one\nsecond "quoted" caf\u00e9 100%' } },
  { id: 'run_f', hoursAgo: 801, status: 'running', ms: 5_000, version: 1 },
];

async function insert(given: Row[], scope = { workspaceId: api.workspaceId, workflowId }) {
  for (const row of given) {
    const { status = 'success', trigger = 'manual', version = 1, failure = null } = row;
    const ended = status === 'success' || status === 'failed';
    const at = sql.fragment`now() - ${row.hoursAgo}::int * interval '1 hour'`;
    await api.db.query(sql.unsafe`
      INSERT INTO runs (id, workspace_id, workflow_id, workflow_version, status, trigger, input, output, error, failure,
                        cost_micros, active_ms, created_at, finished_at, phase_since)
      VALUES (${row.id}, ${scope.workspaceId}, ${scope.workflowId}, ${version}, ${status}, ${trigger},
        ${JSON.stringify(row.input ?? {})}::json, ${JSON.stringify(row.output ?? null)}::json, ${row.error ?? null},
        ${failure === null ? null : JSON.stringify({ kind: failure })}::json, ${row.micros ?? 0}::bigint,
        ${row.ms ?? 0}::bigint, ${at}, ${ended ? sql.fragment`${at}` : null}, now())
    `);
  }
}

const list = (query: Record<string, string | number>, path = '/api/runs') =>
  api.call('GET', `${path}?${new URLSearchParams(query as Record<string, string>).toString()}`);
const idsOf = async (query: Record<string, string | number>): Promise<string[]> => {
  const { status, body } = await list(query);
  expect([status, body.detail]).toEqual([200, undefined]);
  return body.runs.map((run: { id: string }) => run.id);
};

describe('the list of runs', () => {
  test.each<[string, Record<string, string | number>, string[]]>([
    ['one status', { status: 'paused' }, ['run_d']],
    ['several statuses', { status: 'failed,running' }, ['run_b', 'run_c', 'run_f']],
    ['a trigger', { trigger: 'mcp' }, ['run_b']],
    ['a kind of failure', { failure_kind: 'node' }, ['run_c']],
    ['a version that no run has', { version: 7 }, []],
    ['a least cost', { min_cost_usd: '2.5' }, ['run_b']],
    ['a range of costs', { min_cost_usd: '0.0005', max_cost_usd: '1' }, ['run_a']],
    ['a least duration, of a running run so far', { min_duration_ms: 5_000 }, ['run_c', 'run_f']],
    ['a longest duration', { max_duration_ms: 900, status: 'success' }, ['run_a', 'run_e']],
    ['a word of the input', { q: 'ada' }, ['run_a']],
    ['the start of a word', { q: 'invo' }, ['run_a']],
    ['the number in a reference', { q: '4711' }, ['run_a']],
    ['all words, in any order', { q: 'Ada invoice' }, ['run_a']],
    ['not only one of the words', { q: 'Ada timeout' }, []],
    ['a word of the error', { q: 'timeout' }, ['run_c']],
    ['words around the escapes of JSON', { q: 'second quoted café' }, ['run_e']],
    ['words beside wildcards', { q: '%100_' }, ['run_e']],
    ['a script from right to left', { q: 'עולם' }, ['run_d']],
    ['a script without spaces', { q: '発票' }, ['run_d']],
    ['an id', { q: 'run_f' }, ['run_f']],
    ['words and a status', { q: 'budget', status: 'failed' }, ['run_b']],
  ])('can be filtered by %s', async (_name, query, expected) => {
    expect(await idsOf(query)).toEqual(expected);
    const ofWorkflow = await list(query, `/api/workflows/${workflowId}/runs`);
    expect(ofWorkflow.body.runs.map(({ id }: { id: string }) => id)).toEqual(expected);
  });

  test('can be filtered by times, excluding the end', async () => {
    const { body } = await list({});
    const at = (id: string) =>
      body.runs.find((run: { id: string }) => run.id === id).created_at as string;
    expect(await idsOf({ since: at('run_d'), until: at('run_b') })).toEqual(['run_c', 'run_d']);
  });

  test('continues a search page by page', async () => {
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const { body } = await list({ q: 'run', limit: 2, ...(cursor === null ? {} : { cursor }) });
      seen.push(...body.runs.map((run: { id: string }) => run.id));
      cursor = body.next_cursor;
    } while (cursor !== null);
    expect(seen).toEqual(rows.map(({ id }) => id));
  });

  test.each([
    [
      'status',
      'done',
      'status must be one or several of pending, running, paused, success, failed',
    ],
    ['status', 'failed,', 'status must be one or several of'],
    ['status', '', 'status must be one or several of'],
    ['min_cost_usd', '1e3', 'min_cost_usd must be an amount in US dollars'],
    ['max_cost_usd', '0.0000001', 'max_cost_usd must be an amount in US dollars'],
    ['q', '', 'q must contain a letter or a digit'],
    ['q', '%_\\', 'q must contain a letter or a digit'],
    ['q', '‮', 'q must contain a letter or a digit'],
    ['q', 'a'.repeat(10_240), 'q must have at most 200 characters'],
    ['q', 'a '.repeat(21), 'q must have at most 20 words'],
    ['q', 'a\u0000b', 'NUL'],
  ])('refuses a wrong value: %s, %.12s', async (name, value, detail) => {
    const answer = await list({ [name]: value });
    expect(answer).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining(detail) },
    });
  });

  test.each([
    ['since', '2026-11-02', 'until', '2026-11-01'],
    ['min_cost_usd', '2', 'max_cost_usd', '1'],
    ['min_duration_ms', '20', 'max_duration_ms', '9'],
  ])('refuses a range from %s=%s to %s=%s', async (from, first, to, last) => {
    const { status, body } = await list({ [from]: first, [to]: last });
    expectRefusal({ status, body }, 400, `Invalid query: ${to} must not be less than ${from}`);
  });

  test('finds nothing in another workspace', async () => {
    const owner = { name: 'B', email: 'b@example.com', passwordHash: 'none' };
    const workspaceId = await createWorkspace(api.db, { name: 'B', owner });
    await api.db.query(sql.unsafe`
      INSERT INTO workflows (id, workspace_id, name) VALUES ('wf_b', ${workspaceId}, 'B')`);
    await api.db.query(sql.unsafe`
      INSERT INTO workflow_versions (workflow_id, version, graph) VALUES ('wf_b', 1, '{}')`);
    await insert([{ id: 'run_other', hoursAgo: 1, input: { note: 'xylophone' } }], {
      workspaceId,
      workflowId: 'wf_b',
    });
    while ((await storeRunWords(api.db)) > 0);
    expect(await idsOf({ q: 'xylophone' })).toEqual([]);
    expect(await idsOf({ workflow_id: 'wf_b' })).toEqual([]);
  });

  test('reflects status changes of runs', async () => {
    await insert([{ id: 'run_g', hoursAgo: 3, status: 'paused', input: { note: 'zebra' } }]);
    await storeRunWords(api.db);
    expect(await idsOf({ q: 'zebra' })).toEqual(['run_g']);
    await api.db.query(sql.unsafe`
      UPDATE runs SET status = 'failed', finished_at = now(), error = 'okapi' WHERE id = 'run_g'`);
    expect(await idsOf({ q: 'okapi' })).toEqual([]);
    expect(await storeRunWords(api.db)).toBe(1);
    expect(await idsOf({ q: 'okapi zebra' })).toEqual(['run_g']);
    await api.db.query(sql.unsafe`DELETE FROM runs WHERE id = 'run_g'`);
    expect(await idsOf({ q: 'okapi' })).toEqual([]);
  });
});

describe('saved views of the list', () => {
  const save = (name: string, filter: string, headers = {}) =>
    api.call('PUT', `/api/run-views/${encodeURIComponent(name)}`, { filter }, headers);
  const names = async (headers = {}) =>
    (await api.call('GET', '/api/run-views', undefined, headers)).body.views.map(
      (view: { name: string }) => view.name,
    );

  test('are saved, replaced, listed and removed by a member', async () => {
    const { headers } = await addMember(api, { role: 'viewer' });
    const name = 'Größte / "Fehler" ؟';
    expect((await save(name, 'status=failed&min_cost_usd=2', headers)).status).toBe(200);
    expect((await save(name, 'status=failed,paused', headers)).body.filter).toBe(
      'status=failed,paused',
    );
    await save('all of Ada', 'q=Ada', headers);
    expect(await names(headers)).toEqual(['all of Ada', name]);
    // Others have their own.
    expect(await names()).toEqual([]);
    const url = `/api/run-views/${encodeURIComponent(name)}`;
    expect((await api.call('DELETE', url)).status).toBe(404);
    expect((await api.call('DELETE', url, undefined, headers)).status).toBe(204);
    expect((await api.call('DELETE', url, undefined, headers)).status).toBe(404);
    expect(await names(headers)).toEqual(['all of Ada']);
  });

  test.each([
    ['', 'filter'],
    ['status=done', 'status: must be one or several of'],
    ['limit=5', 'limit'],
    ['cursor=x', 'cursor'],
    ['colour=red', 'colour'],
    ['q=a&q=b', 'q is given twice'],
    ['since=2026-02-01&until=2026-01-01', 'until: must not be less than since'],
  ])('are refused with the filter %j', async (filter, message) => {
    const { status, text } = await save('x', filter);
    expect(status).toBe(400);
    expect(text).toContain(message);
  });

  test('are limited for each member, even when two are saved concurrently', async () => {
    const { headers } = await addMember(api, { role: 'viewer' });
    for (let n = 1; n < MAX_VIEWS; n += 1) await save(`view ${n}`, 'q=a', headers);
    const last = await Promise.all(['y', 'z'].map((name) => save(name, 'q=a', headers)));
    expect(last.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(await names(headers)).toHaveLength(MAX_VIEWS);
    // One that is there can be replaced.
    expect((await save('view 1', 'q=b', headers)).status).toBe(200);
  });
});
