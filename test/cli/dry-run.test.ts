import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Service, startService } from '#test/support/served-api.ts';
import { createOps, type Ops } from './ops.ts';

let service: Service;
let ops: Ops;
beforeAll(async () => {
  service = await startService();
  ops = await createOps({ OPS_API_URL: service.apiUrl });
  const file = join(ops.configFolder, 'price.json');
  const nodes = [
    { id: 'each', kind: 'map', items: 'list' },
    { id: 'price', kind: 'agent', prompt: 'Price it', mock: { cost_usd: 0.25 } },
    { id: 'ok', kind: 'human_gate' },
  ];
  const edges = [
    { source: 'each', target: 'price', condition_value: 'true' },
    { source: 'price', target: 'each' },
    { source: 'each', target: 'ok' },
  ];
  await writeFile(file, JSON.stringify({ name: 'Price', graph: { nodes, edges } }));
  expect(await ops(['workflows', 'apply', '-f', file])).toMatchObject({ code: 0 });
});
afterAll(() => service.close());

test('a dry run is a table or JSON, and starts nothing', async () => {
  const shown = await ops(['run', 'Price', '-i', 'list=[1,2]', '--dry-run', '-o', 'table']);
  expect(shown).toMatchObject({ code: 0 });
  expect(shown.stdout).toMatch(/cost +\$0.5 /);
  expect(shown.stdout).toMatch(/duration +0 s or more, no bound/);
  expect(shown.stdout).toMatch(/no_bound +ok /);
  expect(shown.stdout).toMatch(/price +2 +\$0.5/);
  expect(shown.stdout).toMatch(/Gate +Approvals +Approvers/);

  const json = await ops(['run', 'Price', '--dry-run', '-i', 'list=[1]', '-o', 'json']);
  expect(json.json()).toMatchObject({ cost_usd: { min: 0.25, max: 0.25 }, version: 1 });
  expect((await ops(['runs', 'list', '--workflow', 'Price', '-o', 'json'])).json()).toEqual([]);
});

test('its options need each other', async () => {
  const version = await ops(['run', 'Price', '--version', '1']);
  expect(version).toMatchObject({ code: 2 });
  expect(version.stderr).toContain('--version needs --dry-run');
  expect(await ops(['run', 'Price', '--dry-run', '--draft', '--version', '1'])).toMatchObject({
    code: 2,
  });
  const missing = await ops(['run', 'Price', '--dry-run', '--draft']);
  expect(missing.stderr).toContain('Draft not found');
});

test('a run with --draft runs the draft', async () => {
  const none = await ops(['run', 'Price', '--draft']);
  expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('Draft not found')]);
  const file = join(ops.configFolder, 'draft.json');
  const graph = { nodes: [{ id: 'end', kind: 'merge' }], edges: [] };
  await writeFile(file, JSON.stringify({ graph }));
  expect(await ops(['drafts', 'save', 'Price', '-f', file])).toMatchObject({ code: 0 });
  const run = await ops(['run', 'Price', '--draft', '--wait', '-o', 'json']);
  expect(run.json()).toMatchObject({ of_draft: true, status: 'success' });
});
