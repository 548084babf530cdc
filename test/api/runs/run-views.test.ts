import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { MAX_VIEWS } from '#shared/limits.ts';
import { addMember } from '#test/support/people.ts';
import { startTestApi, type TestApi } from '#test/api/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(async () => api.stop());

const save = (name: string, filter: string, headers = {}) =>
  api.call('PUT', `/api/run-views/${encodeURIComponent(name)}`, { filter }, headers);
const names = async (headers = {}) =>
  (await api.call('GET', '/api/run-views', undefined, headers)).body.views.map(
    (view: { name: string }) => view.name,
  );

test('saves, replaces, lists and removes the views of a member', async () => {
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
])('refuses the filter %j', async (filter, message) => {
  const { status, text } = await save('x', filter);
  expect(status).toBe(400);
  expect(text).toContain(message);
});

test('a member has at most so many views, also when two are saved at once', async () => {
  const { headers } = await addMember(api, { role: 'viewer' });
  for (let n = 1; n < MAX_VIEWS; n += 1) await save(`view ${n}`, 'q=a', headers);
  const last = await Promise.all(['y', 'z'].map((name) => save(name, 'q=a', headers)));
  expect(last.map(({ status }) => status).sort()).toEqual([200, 409]);
  expect(await names(headers)).toHaveLength(MAX_VIEWS);
  // One that is there can be replaced.
  expect((await save('view 1', 'q=b', headers)).status).toBe(200);
});
