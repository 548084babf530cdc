import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '#test/support/engine.ts';
import { type Service, startService } from '#test/support/served-api.ts';
import { createOps, type Ops } from './ops.ts';

let service: Service;
let ops: Ops;
const graph = (expression: string) => ({
  nodes: [
    { id: 'read', kind: 'agent', mock: { output: 'About {letter}', cost_usd: 0.25 } },
    { id: 'answer', kind: 'tool', tool_name: 'json_transform', params: { expression } },
  ],
  edges: [{ source: 'read', target: 'answer' }],
});
const write = async (name: string, content: object): Promise<string> => {
  const file = join(ops.configFolder, name);
  await writeFile(file, JSON.stringify(content));
  return file;
};

beforeAll(async () => {
  service = await startService();
  ops = await createOps({ OPS_API_URL: service.apiUrl });
  const checks = [{ name: 'says about', type: 'contains', value: 'About' }];
  const file = await write('letter.json', { name: 'Letter', graph: graph('read'), checks });
  expect(await ops(['apply', '-f', file])).toMatchObject({ code: 0 });
  for (const [letter, other] of [
    ['tea', 'Nothing'],
    ['oil', 'About oil'],
  ]) {
    const input = ['-i', `letter=${letter}`, '-i', `other=${other}`];
    const run = await ops(['run', 'Letter', ...input, '--wait']);
    expect(run).toMatchObject({ code: 0 });
  }
});
afterAll(() => service.close());

const draft = async (expression: string): Promise<void> => {
  const file = await write('draft.json', { graph: graph(expression) });
  expect(await ops(['drafts', 'save', 'Letter', '-f', file])).toMatchObject({ code: 0 });
};

test('a draft is tried on past runs, and its end says whether checks are lost', async () => {
  await draft("read + '!'");
  const good = await ops(['experiment', 'Letter', '--draft', '--last', '5', '-o', 'table']);
  expect(good).toMatchObject({ code: 0, stderr: '' });
  expect(good.stdout).toMatch(/changed +2/);
  expect(good.stdout).toMatch(/checks +0 won, 0 lost/);
  expect(good.stdout).toMatch(/run_\w+ +run_\w+ +changed +- +- +answer/);

  await draft('other');
  const bad = await ops(['experiment', 'Letter', '--draft', '--json']);
  expect(bad).toMatchObject({ code: 1 });
  expect(bad.stderr).toContain('1 checks lost, 0 runs failed');
  const experiment = bad.json() as any;
  expect(experiment).toMatchObject({
    ...{ status: 'done', summary: { equal: 1, changed: 1, checks: { lost: 1 } } },
    runs: [{ outcome: 'changed', checks: { lost: ['says about'] } }, { outcome: 'equal' }],
  });

  const listed = (await ops(['experiments', 'list', 'Letter', '-o', 'json'])).json() as any[];
  expect(listed.map(({ id }) => id)).toContain(experiment.id);
  const csv = await ops(['experiments', 'show', experiment.id, '--csv']);
  expect(csv.stdout.split('\r\n')[0]).toMatch(/^\ufeffrun_id,.*outcome,reason,checks_won/);
  const cancelled = await ops(['experiments', 'cancel', experiment.id]);
  expect(cancelled).toMatchObject({ code: 1, stderr: expect.stringContaining('done') });
});

test('a version is tried on one run, without waiting', async () => {
  const runs = (await ops(['runs', 'list', '--workflow', 'Letter', '-o', 'json'])).json() as any[];
  const source = runs.find(({ mode }) => mode === null).id as string;
  const args = [
    'experiment',
    'Letter',
    '--version',
    '1',
    '--run',
    source,
    '--no-wait',
    '-o',
    'json',
  ];
  const started = (await ops(args)).json();
  expect(started).toMatchObject({ status: 'running' });
  const show = ['experiments', 'show', started.id, '-o', 'json'];
  await eventually(async () => (await ops(show)).json().status === 'done');
});

test.each([
  [['experiment', 'Letter'], 'Give --draft or --version'],
  [['experiment', 'Letter', '--draft', '--version', '1'], 'Give --draft or --version'],
  [['experiment', 'Letter', '--draft', '--run', 'run_x', '--status', 'failed'], '--run excludes'],
])('wrong use: %j', async (args, message) => {
  expect(await ops(args)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
});

test('a workflow that asks for an experiment is published by no command without one', async () => {
  const settings = await write('guard.json', { name: 'Letter', requires_experiment: true });
  expect(await ops(['apply', '-f', settings, '--publish'])).toMatchObject({ code: 0 });
  const changed = await write('changed.json', { name: 'Letter', graph: graph("read + '?'") });
  const refused = { code: 1, stderr: expect.stringContaining('only after an experiment') };
  expect(await ops(['apply', '-f', changed])).toMatchObject(refused);
  await draft("read + '?'");
  expect(await ops(['drafts', 'publish', 'Letter'])).toMatchObject(refused);
  expect(await ops(['experiment', 'Letter', '--draft'])).toMatchObject({ code: 0 });
  expect(await ops(['drafts', 'publish', 'Letter'])).toMatchObject({ code: 0 });
});
