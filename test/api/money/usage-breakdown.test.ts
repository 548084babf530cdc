import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { oneStep, startTestApi, type TestApi } from '#test/api/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

const read = (query = '') => api.call('GET', `/api/usage/breakdown${query}`);

test('a run is in the breakdown once triggered, also for concurrent reads', async () => {
  const { id } = (await api.call('POST', '/api/workflows', { name: 'Answer', graph: oneStep }))
    .body;
  for (let round = 1; round <= 10; round += 1) {
    const early = read();
    await api.call('POST', `/api/workflows/${id}/runs`, { ticket: 'x' });
    const answers = await Promise.all(Array.from({ length: 8 }, () => read()));
    for (const { status, body } of answers) {
      expect([status, body.by_workflow]).toEqual([
        200,
        [{ workflow_id: id, name: 'Answer', runs: round, cost_usd: 0 }],
      ]);
      expect(body.by_day).toHaveLength(30);
    }
    expect((await early).status).toBe(200);
  }
});

test.each([1, 90])('has the requested number of days: %i', async (days) => {
  const { body } = await read(`?days=${days}`);
  expect(body.by_day).toHaveLength(days);
  expect(body.since).toBe(`${body.by_day[0].date}T00:00:00.000Z`);
  expect(body.until.slice(0, 10)).toBe(body.by_day.at(-1).date);
});
