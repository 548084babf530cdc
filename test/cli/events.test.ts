import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Service, startService } from '#test/support/served-api.ts';
import { eventually } from '#test/support/engine.ts';
import { createOps, type Ops } from './ops.ts';

let service: Service;
let ops: Ops;
let hook: string;
beforeAll(async () => {
  service = await startService();
  ops = await createOps({ OPS_API_URL: service.apiUrl });
  const file = join(ops.configFolder, 'letter.json');
  const nodes = [{ id: 'read', kind: 'agent', prompt: '{letter}', mock: { output: 'x' } }];
  const input_schema = { type: 'object', required: ['letter'] };
  await writeFile(
    file,
    JSON.stringify({ name: 'Letter', graph: { nodes, edges: [] }, input_schema }),
  );
  expect(await ops(['workflows', 'apply', '-f', file])).toMatchObject({ code: 0 });
  const [{ id }] = (await ops(['workflows', 'list', '--json'])).json();
  const made = await fetch(`${service.apiUrl}/api/workflows/${id}/webhook`, { method: 'POST' });
  hook = ((await made.json()) as { url: string }).url;
}, 60_000);
afterAll(() => service.close());

const send = async (body: object): Promise<number> =>
  (
    await fetch(hook, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  ).status;

const json = async (...args: string[]): Promise<any> => {
  const ended = await ops(['events', ...args, '--json']);
  expect(ended).toMatchObject({ code: 0 });
  return ended.json();
};

test('what a webhook received is listed, shown and replayed', async () => {
  expect(await send({ letter: 'one' })).toBeLessThan(300);
  expect(await send({ note: 'no letter' })).toBe(400);
  // Refusals are written a moment later.
  await eventually(async () => (await json('list', 'Letter')).length === 2);
  const [refused, run] = await json('list', 'Letter');
  expect([refused, run]).toMatchObject([
    { outcome: 'refused', status: 400, run_id: null },
    { outcome: 'run', run_id: expect.stringMatching(/^run_/) },
  ]);
  expect(await json('list', 'Letter', '--outcome', 'run', '--since', '1h')).toMatchObject([
    { id: run.id },
  ]);
  expect(await json('list', 'Letter', '--limit', '1')).toHaveLength(1);
  expect(await json('show', refused.id)).toMatchObject({ body: '{"note":"no letter"}' });
  const table = await ops(['events', 'list', 'Letter', '-o', 'table']);
  expect(table.stdout).toMatch(/refused +400/);

  const again = await json('replay', run.id);
  expect(again).toMatchObject({ inbound_event_id: run.id, trigger: 'webhook' });
  expect(again.id).not.toBe(run.run_id);
  expect((await json('show', run.id)).replayed_by).toMatchObject([{ run_id: again.id }]);
});

test('the events of a period are replayed, and a replay that ended is not cancelled', async () => {
  const period = ['replay', '--workflow', 'Letter', '--since', '1h'];
  const refusals = await json(...period);
  expect(refusals).toMatchObject({ status: 'done', started: 0, refused: 1 });
  const all = await json(...period, '--all');
  expect(all).toMatchObject({ status: 'done', started: 1, refused: 1 });
  const started = await json(...period, '--no-wait');
  expect(started.id).toMatch(/^job_/);
  const cancelled = await ops(['events', 'cancel', all.id]);
  expect([cancelled.code, cancelled.stderr]).toEqual([1, expect.stringContaining('done')]);
});

test.each([
  [['list', 'Unknown'], 1, /No workflow has the id or name/],
  [['show', 'iev_x'], 1, /Event not found/],
  [['replay'], 2, /Give an event, or --workflow and --since/],
  [['replay', 'iev_x', '--workflow', 'Letter', '--since', '1h'], 2, /Give an event/],
  [['list', 'Letter', '--outcome', 'lost'], 1, /outcome/],
  [
    ['replay', '--workflow', 'Letter', '--since', '1h', '--until', '2h'],
    1,
    /until must not be less than since/,
  ],
  [['cancel', 'job_x'], 1, /Replay not found/],
])('ops events %j ends with %d', async (args, code, message) => {
  const ended = await ops(['events', ...args]);
  expect([ended.code, ended.stderr]).toEqual([code, expect.stringMatching(message)]);
});
