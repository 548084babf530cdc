import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Service, startService } from '#test/support/served-api.ts';
import { createOps, type Ops } from './ops.ts';

let service: Service;
let ops: Ops;
let run: string;
beforeAll(async () => {
  service = await startService();
  ops = await createOps({ OPS_API_URL: service.apiUrl });
  const file = join(ops.configFolder, 'answer.json');
  const nodes = [
    {
      id: 'read',
      kind: 'agent',
      prompt: '{letter}',
      mock: { output: 'About {letter}', cost_usd: 0.25 },
    },
    {
      id: 'answer',
      kind: 'tool',
      tool_name: 'json_transform',
      params: { expression: "read + '!'" },
    },
  ];
  const edges = [{ source: 'read', target: 'answer' }];
  await writeFile(file, JSON.stringify({ name: 'Answer', graph: { nodes, edges } }));
  expect(await ops(['workflows', 'apply', '-f', file])).toMatchObject({ code: 0 });
  const started = await ops(['run', 'Answer', '-i', 'letter=tea', '--wait', '-o', 'json']);
  run = started.json().id;
});
afterAll(() => service.close());

test('a node is tested with the state of a run, and its ending is the exit code', async () => {
  const shown = await ops(['node', 'test', 'Answer', 'answer', '--run', run, '-o', 'table']);
  expect(shown).toMatchObject({ code: 0 });
  expect(shown.stdout).toMatch(/status +success/);
  expect(shown.stdout).toMatch(/output +About tea!/);

  const unasked = await ops(['node', 'test', 'Answer', 'read', '--run', run, '-o', 'table']);
  expect(unasked).toMatchObject({ code: 4 });
  expect(unasked.stdout).toContain("allow 'agent' to execute it");

  const asked = ['node', 'test', 'Answer', 'read', '--state', 'letter=oil', '--allow', 'agent'];
  expect((await ops([...asked, '-o', 'json'])).json()).toMatchObject({
    status: 'success',
    step: { node_id: 'read', output: 'About oil', cost_usd: 0.25 },
  });
  const live = ['runs', 'list', '--workflow', 'Answer', '--mode', 'live', '-o', 'json'];
  expect((await ops(live)).json()).toHaveLength(1);
});

test('pinned outputs replace those of the run', async () => {
  const other = await ops(['run', 'Answer', '-i', 'letter=ink', '--wait', '-o', 'json']);
  const set = ['pins', 'set', 'Answer', 'read', '--run', other.json().id];
  expect(await ops(set)).toMatchObject({ code: 0 });
  const listed = await ops(['pins', 'list', 'Answer', '-o', 'json']);
  expect(listed.json()).toMatchObject([{ node_id: 'read', step_key: 'read', bytes: 11 }]);

  const node = ['node', 'test', 'Answer', 'answer', '--run', run, '-o', 'json'];
  expect((await ops(node)).json().step.output).toBe('About tea!');
  expect((await ops([...node, '--pins'])).json().step.output).toBe('About ink!');

  expect(await ops(['pins', 'remove', 'Answer', 'read'])).toMatchObject({ code: 0 });
  expect((await ops([...node, '--pins'])).json().step.output).toBe('About tea!');
  const again = await ops(['pins', 'remove', 'Answer', 'read']);
  expect(again).toMatchObject({ code: 1 });
  expect(again.stderr).toContain('Pin not found');
});

test('what cannot work is said', async () => {
  const node = ['node', 'test', 'Answer', 'answer'];
  expect(await ops(node)).toMatchObject({ code: 2 });
  expect(await ops([...node, '--run', run, '--draft', '--version', '1'])).toMatchObject({
    code: 2,
  });
  const email = await ops([...node, '--run', run, '--allow', 'send_email']);
  expect(email).toMatchObject({ code: 1 });
  expect(email.stderr).toContain("'send_email' has effects, so no rehearsal executes it");
  const pins = await ops([...node, '--state', 'read=x', '--pins']);
  expect(pins.stderr).toContain('pins needs run_id');
});
