import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Service, startService } from '#test/support/served-api.ts';
import { createOps, type Ops } from './ops.ts';

let service: Service;
let ops: Ops;
let sourceId: string;
beforeAll(async () => {
  service = await startService();
  ops = await createOps({ OPS_API_URL: service.apiUrl });
  const file = join(ops.configFolder, 'letter.json');
  const nodes = [
    { id: 'read', kind: 'agent', mock: { output: 'About {letter}', cost_usd: 0.25 } },
    { id: 'answer', kind: 'agent', mock: { output: '{read}{tone}' } },
  ];
  const graph = { nodes, edges: [{ source: 'read', target: 'answer' }] };
  await writeFile(file, JSON.stringify({ name: 'Letter', graph }));
  expect(await ops(['workflows', 'apply', '-f', file])).toMatchObject({ code: 0 });
  const started = await ops([
    'run',
    'Letter',
    '-i',
    'letter=tea',
    '-i',
    'tone=!',
    '--wait',
    '-o',
    'json',
  ]);
  sourceId = (started.json() as any).id;
});
afterAll(() => service.close());

test('a run is run again, forked and listed from the terminal', async () => {
  const forked = await ops([
    ...['fork', sourceId, '--from', 'answer', '--state', 'tone=?'],
    ...['--wait', '-o', 'json'],
  ]);
  expect(forked).toMatchObject({ code: 0 });
  const fork = forked.json() as any;
  expect(fork).toMatchObject({
    output: { answer: 'About tea?' },
    forked_from: sourceId,
    cost_usd: 0,
  });
  const shown = (await ops(['runs', 'show', fork.id, '-o', 'table'])).stdout;
  expect(shown).toContain('success (reused)');
  expect(shown).toMatch(new RegExp(`forked_from.*${sourceId}, from answer`));

  const changed = await ops([
    'fork',
    sourceId,
    '--from',
    'answer',
    '-i',
    'letter=oil',
    '-i',
    'tone=.',
    '-o',
    'table',
  ]);
  expect(changed.stdout + changed.stderr).toContain(
    'Step read is executed again: its input has changed',
  );

  const again = await ops(['rerun', sourceId, '--wait', '-o', 'json']);
  expect(again.json()).toMatchObject({
    forked_from: sourceId,
    forked_from_step: null,
    cost_usd: 0.25,
  });
  const listed = await ops(['runs', 'list', '--forked-from', sourceId, '-o', 'json']);
  expect((listed.json() as any[]).map((run) => run.forked_from_step)).toEqual([
    null,
    'answer',
    'answer',
  ]);
  const exported = await ops(['runs', 'export', '--forked-from', sourceId, '--format', 'ndjson']);
  expect(exported).toMatchObject({ code: 0 });
  const lines = exported.stdout.trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toEqual(listed.json());
  const filter = `forked_from=${sourceId}&status=success`;
  expect(await ops(['runs', 'views', 'save', 'Again', filter])).toMatchObject({ code: 0 });
  expect((await ops(['runs', 'views', '-o', 'json'])).json()).toMatchObject([{ name: 'Again' }]);
  const viewed = await ops(['runs', 'list', '--view', 'Again', '--mode', 'live', '-o', 'json']);
  expect(viewed.json()).toEqual(listed.json());
  expect(await ops(['runs', 'views', 'remove', 'Again'])).toMatchObject({ code: 0 });
  expect((await ops(['runs', 'list', '--view', 'Again'])).stderr).toContain("no view 'Again'");
  const csv = await ops(['runs', 'export', '--workflow', 'Letter']);
  expect(csv.stdout.split('\r\n')).toHaveLength(1 + 4 + 1);
  expect(csv.stdout).toMatch(/^\ufeffid,/);
});

test('what cannot be forked is said, with the exit code of a refusal', async () => {
  const gone = await ops(['fork', sourceId, '--from', 'gone']);
  expect(gone.code).not.toBe(0);
  expect(gone.stderr).toContain("No fork from step 'gone': the run has no such step");
  const both = await ops(['rerun', sourceId, '--version', '1', '--draft']);
  expect(both.stderr).toContain('--version and --draft exclude each other');
  expect((await ops(['rerun', sourceId, '--version', '7'])).stderr).toContain(
    'The workflow has no version 7',
  );
});

test('a model runs it again and forks it', async () => {
  const use = async (name: string, args: object) => {
    const answer = await fetch(`${service.apiUrl}/api/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name, arguments: args },
      }),
    });
    return ((await answer.json()) as any).result;
  };
  const forked = await use('fork_run', {
    run_id: sourceId,
    from_step: 'answer',
    idempotency_key: 'k',
  });
  expect(forked.structuredContent).toMatchObject({
    ...{ trigger: 'mcp', forked_from: sourceId, replayed: false, not_reused: [] },
  });
  const twice = await use('fork_run', {
    run_id: sourceId,
    from_step: 'answer',
    idempotency_key: 'k',
  });
  expect(twice.structuredContent).toMatchObject({
    id: forked.structuredContent.id,
    replayed: true,
  });
  const rerun = await use('rerun_run', { run_id: sourceId, input: { letter: 'x', tone: '' } });
  expect(rerun.structuredContent).toMatchObject({ forked_from: sourceId, forked_from_step: null });
  expect((await use('fork_run', { run_id: sourceId, from_step: 'gone' })).isError).toBe(true);
  for (const name of ['rerun_run', 'fork_run']) {
    const from = name === 'fork_run' ? { from_step: 'answer' } : {};
    const both = await use(name, { run_id: sourceId, ...from, version: 1, draft: true });
    expect(both.content[0].text).toContain('draft cannot be combined with version');
  }
});
