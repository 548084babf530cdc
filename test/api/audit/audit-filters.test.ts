import { beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from '#shared/db/pool.ts';
import { useTestApi } from '#test/api/test-api.ts';

interface Entry {
  id: string;
  action: string;
  actor_id: string | null;
  target_type: string;
  target_id: string;
  created_at: string;
}
type Filter = Partial<
  Record<
    'action' | 'actor_id' | 'target_type' | 'target_id' | 'since' | 'until' | 'limit' | 'offset',
    string
  >
>;

const ENTRIES = 400;
const columns = {
  action: ['run', 'run', 'run', 'approve', 'plan_change'],
  actor_id: ['mem_a', 'mem_b', null],
  target_type: ['workflow', 'run', 'workspace'],
  target_id: ['wf_1', 'wf_2', 'run_1', "it's"],
} as const;

const api = useTestApi();
/** Newest first. */
let entries: Entry[];
beforeAll(async () => {
  entries = Array.from({ length: ENTRIES }, (_, n) => ({
    id: `aud_${n}`,
    action: pick(columns.action),
    actor_id: pick(columns.actor_id),
    target_type: pick(columns.target_type),
    target_id: pick(columns.target_id),
    // Several entries share a timestamp.
    created_at: new Date(Date.UTC(2026, 0, 1) + Math.floor(n / 3) * 1_000).toISOString(),
  }));
  await insert(api.workspaceId, entries);
  await insert(
    'ws_other',
    entries.map((entry) => ({ ...entry, id: `${entry.id}_other` })),
  );
  entries.reverse();
});

const pick = <T>(values: readonly T[]): T => values[Math.floor(Math.random() * values.length)]!;

const insert = async (workspaceId: string, rows: readonly Entry[]) =>
  api.db.query(sql.unsafe`
    INSERT INTO audit_log (workspace_id, id, action, actor_id, target_type, target_id, created_at)
    SELECT ${workspaceId}, e.* FROM json_to_recordset(${JSON.stringify(rows)}::json)
      AS e (id text, action text, actor_id text, target_type text, target_id text, created_at timestamptz)
  `);

const list = async (filter: Filter) => {
  const query = new URLSearchParams(filter).toString();
  const { status, body } = await api.call('GET', `/api/audit?${query}`);
  expect({ filter, status }).toEqual({ filter, status: 200 });
  return { ids: body.logs.map((entry: Entry) => entry.id) as string[], total: body.total };
};

const passes = (entry: Entry, { since, until, ...equal }: Filter): boolean =>
  (since === undefined || entry.created_at >= new Date(since).toISOString()) &&
  (until === undefined || entry.created_at < new Date(until).toISOString()) &&
  (['action', 'actor_id', 'target_type', 'target_id'] as const).every(
    (column) => equal[column] === undefined || entry[column] === equal[column],
  );

describe('the audit list', () => {
  test('lists and counts entries that match all filters, newest first, on any page', async () => {
    const singles: Filter[] = [
      { action: 'run' },
      { action: 'plan_change' },
      { actor_id: 'mem_a' },
      { target_type: 'workspace' },
      { target_id: "it's" },
      { since: entries[100]!.created_at },
      { until: entries[100]!.created_at },
    ];
    const mixed = Array.from({ length: 60 }, () => {
      const filter: Filter = {};
      if (Math.random() < 0.4) filter.action = pick(columns.action);
      if (Math.random() < 0.4) filter.actor_id = pick(['mem_a', 'mem_b']);
      if (Math.random() < 0.4) filter.target_type = pick(columns.target_type);
      if (Math.random() < 0.4) filter.target_id = pick(columns.target_id);
      if (Math.random() < 0.4) filter.since = pick(entries).created_at;
      if (Math.random() < 0.4) filter.until = pick(entries).created_at;
      return filter;
    });
    for (const filter of [{}, ...singles, ...mixed]) {
      const expected = entries.filter((entry) => passes(entry, filter)).map(({ id }) => id);
      const first = await list({ ...filter, limit: '200' });
      expect({ filter, ...first }).toEqual({
        filter,
        ids: expected.slice(0, 200),
        // Entries inserted directly stay unsealed, but count.
        total: expected.length,
      });
      const offset = Math.floor(Math.random() * (expected.length + 2));
      expect({
        filter,
        offset,
        ...(await list({ ...filter, limit: '7', offset: `${offset}` })),
      }).toEqual({
        filter,
        offset,
        ids: expected.slice(offset, offset + 7),
        total: expected.length,
      });
    }
  });

  test('accepts times with any offset', async () => {
    const expected = entries.filter(({ created_at }) => created_at >= '2026-01-01T00:01:00.000Z');
    const { total } = await list({ since: '2026-01-01T01:01:00+01:00' });
    expect(total).toBe(expected.length);
    const ever = { since: '0001-01-02T14:00:00+14:00', until: '9999-12-31T23:59:59+14:00' };
    expect((await list(ever)).total).toBe(ENTRIES);
  });

  test.each<Filter>([
    { action: 'no_such_action' },
    { actor_id: 'mem_nobody' },
    { target_type: 'planet' },
    { target_id: 'run_unknown' },
    { since: '2100-01-01T00:00:00Z' },
    { until: '2000-01-01T00:00:00Z' },
    { since: '2026-01-01T00:02:00Z', until: '2026-01-01T00:01:00Z' },
    { action: "' OR true --" },
  ])('is empty if no entry matches: %j', async (filter) => {
    expect(await list(filter)).toEqual({ ids: [], total: 0 });
    expect(await list({ ...filter, offset: '3' })).toEqual({ ids: [], total: 0 });
  });
});
