import {
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Client, createClient } from '#client/index.ts';
import { builtInTemplates } from '#shared/templates/index.ts';
import { type FakeServer, sendJson, startHttpServer } from '#test/fakes/http-server.ts';
import { startTestApi, type TestApi } from '#test/api/test-api.ts';
import { soakTest } from '#test/support/soak.ts';
import { createOps, type Ended, type Ops } from './ops.ts';

let api: TestApi;
let line: FakeServer;
let client: Client;
let ops: Ops;
let viewer: string;
/** Called before a request is sent to the service; `'cut'` answers it with 503 in its place. */
let beforeRequest: (method: string, path: string) => Promise<unknown> = async () => undefined;

beforeAll(async () => {
  api = await startTestApi();
  const url = await api.app.listen({ host: '127.0.0.1', port: 0 });
  line = await startHttpServer(async ({ method, url: path, headers, body }, response) => {
    if ((await beforeRequest(method, path)) === 'cut') return sendJson(response, 503, {});
    const names = ['x-api-key', 'if-match'].filter((name) => name in headers);
    const sent = Object.fromEntries(names.map((name) => [name, String(headers[name])]));
    const answer = await api.call(method, path, body === '' ? undefined : JSON.parse(body), sent);
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.text);
  });
  client = createClient({ baseUrl: url });
  viewer = (await client.createApiKey({ name: 'reader', role: 'viewer' })).secret;
  ops = await createOps({ OPS_API_URL: line.url });
});
afterAll(async () => {
  await line.close();
  await api.stop();
});

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(ops.configFolder, 'folder-'));
  for (const { id } of await client.listWorkflows()) await client.deleteWorkflow(id);
  beforeRequest = async () => undefined;
  line.seen.length = 0;
});

const path = (name: string): string => join(folder, name);
const write = async (name: string, text: string): Promise<string> => {
  await writeFile(path(name), text);
  return path(name);
};
const apply = (...args: string[]): Promise<Ended> => ops(['apply', '-f', folder, ...args]);
const pull = (...args: string[]): Promise<Ended> => ops(['pull', '-d', folder, ...args]);
/** `file change` of each row. */
const changesOf = ({ json }: Ended): string[] =>
  json().map((row: any) => `${row.file.slice(folder.length + 1)} ${row.change}`);
const writes = (): string[] =>
  line.seen.filter(({ method }) => method !== 'GET').map(({ method, url }) => `${method} ${url}`);
const simple = (name: string, prompt = 'Answer'): string =>
  `name: ${JSON.stringify(name)}\ngraph:\n  nodes:\n    - {id: a, kind: agent, prompt: ${JSON.stringify(prompt)}}\n`;

describe('ops apply', () => {
  test('creates the workflows in a folder and its subfolders, and skips other files', async () => {
    await mkdir(path('support/.hidden'), { recursive: true });
    await mkdir(path('node_modules'));
    await write('one.yaml', simple('One'));
    await write('support/two.yml', simple('Two'));
    await write(
      'support/three.JSON',
      JSON.stringify({ name: 'Three', graph: { nodes: [{ id: 'm', kind: 'merge' }] } }),
    );
    await write('README.md', '# not: [yaml');
    for (const other of ['support/.hidden/x.yaml', 'node_modules/x.yaml', '.x.yaml']) {
      await write(other, ': [');
    }
    expect(changesOf(await apply('--json'))).toEqual([
      'one.yaml created',
      'support/three.JSON created',
      'support/two.yml created',
    ]);
    const names = (await client.listWorkflows()).map(({ name }) => name);
    expect(names.toSorted()).toEqual(['One', 'Three', 'Two']);
  });

  test('applies every setting, and a second time changes nothing and writes nothing', async () => {
    await write(
      'all.yaml',
      `# Comments are fine, and so are anchors.
name: All
description: Everything at once
graph:
  nodes:
    - &model {id: a, kind: agent, prompt: 'Answer {ticket}', retry: {max_attempts: 2}}
    - {id: ok, kind: human_gate, prompt: "Send {a}?", input_schema: {type: object, properties: {note: {type: string}}}}
  edges:
    - {source: a, target: ok}
input_schema: {type: object, properties: {ticket: {type: string}}, required: [ticket]}
run_cap_usd: 0.5
checks:
  - {name: polite, type: contains, target: a, value: thank}
`,
    );
    const [{ workflow }] = (await apply('--publish', '--json')).json();
    expect(workflow).toMatchObject({
      ...{ name: 'All', description: 'Everything at once', status: 'published', version: 1 },
      ...{ run_cap_usd: 0.5, input_schema: { required: ['ticket'] }, checks: [{ name: 'polite' }] },
    });
    const audit = await client.listAudit({ limit: 1 });
    line.seen.length = 0;
    for (const args of [['--publish'], [], ['--dry-run']]) {
      expect(changesOf(await apply('--json', ...args))).toEqual(['all.yaml unchanged']);
    }
    expect(writes()).toEqual([]);
    expect(await client.listAudit({ limit: 1 })).toEqual(audit);
    expect(await client.getWorkflow(workflow.id)).toEqual(workflow);
  });

  test('applies limits, together with the schema that their keys need, and removes them', async () => {
    const file = (limits: string): string =>
      `${simple('Limited')}limits: ${limits}
input_schema: {type: object, properties: {customer: {type: string}}, additionalProperties: false}
`;
    await write('limited.yaml', file('{concurrency: {limit: 2, key: "{customer}"}}'));
    const [{ workflow }] = (await apply('--json')).json();
    expect(await client.getLimits(workflow.id)).toMatchObject({
      concurrency: { limit: 2, key: '{customer}', on_limit: 'queue' },
      cancel_on: [],
    });
    line.seen.length = 0;
    expect(changesOf(await apply('--json'))).toEqual(['limited.yaml unchanged']);
    await write('limited.yaml', file('{rate: {limit: 1, per_seconds: 60}}'));
    expect((await apply('--dry-run')).stdout).toContain('~ limits');
    expect(writes()).toEqual([]);
    await apply();
    expect(writes()).toEqual([`PUT /api/workflows/${workflow.id}/limits`]);
    expect(await client.getLimits(workflow.id)).toMatchObject({
      concurrency: null,
      rate: { limit: 1, per_seconds: 60, key: null },
    });
    await write('limited.yaml', file('null'));
    await apply();
    expect(await client.getLimits(workflow.id)).toMatchObject({ rate: null });
    await write('limited.yaml', file('{rate: {limit: 0, per_seconds: 60}}'));
    expect(await apply()).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(':5:24: limits.rate.limit must be at least 1'),
    });
  });

  test('keeps what a file omits, and clears what it sets to empty', async () => {
    const body = {
      graph: { nodes: [{ id: 'm', kind: 'merge' as const }], edges: [] },
      run_cap_usd: 2,
    };
    const { id } = await client.createWorkflow({ name: 'Part', description: 'kept', ...body });
    await write('part.yaml', 'name: Part\ndescription: other\n');
    expect(changesOf(await apply('--json'))).toEqual(['part.yaml updated']);
    expect(await client.getWorkflow(id)).toMatchObject({
      description: 'other',
      version: 1,
      run_cap_usd: 2,
    });
    await write('part.yaml', 'name: Part\ndescription: ""\nrun_cap_usd: null\n');
    await apply();
    expect(await client.getWorkflow(id)).toMatchObject({
      description: '',
      version: 1,
      run_cap_usd: null,
    });
  });

  test('sends only what differs, as one new version', async () => {
    await write('x.yaml', simple('X'));
    await apply();
    line.seen.length = 0;
    await write('x.yaml', simple('X', 'Answer well'));
    const [row] = (await apply('--json')).json();
    expect(row).toMatchObject({ change: 'updated', workflow: { version: 2 } });
    const [put] = line.seen.filter(({ method }) => method === 'PUT');
    expect(Object.keys(JSON.parse(put!.body))).toEqual(['graph']);
  });

  test('--dry-run prints the difference and writes nothing', async () => {
    await write(
      'a.yaml',
      `${simple('A')}    - {id: b, kind: merge}\n  edges: [{source: a, target: b}]\n`,
    );
    await apply();
    line.seen.length = 0;
    await write(
      'a.yaml',
      `${simple('A', 'Other')}    - {id: c, kind: merge}\ndescription: new\ninput_schema: {type: object}\n`,
    );
    await write('b.yaml', simple('B'));
    const { code, stdout } = await apply('--dry-run', '--publish');
    expect({ code, stdout: stdout.replaceAll(`${folder}/`, '') }).toEqual({
      code: 0,
      stdout: `a.yaml: updated (A)
  ~ description
  + input schema
  + node c
  - node b
  ~ node a: prompt
  - edge a > b
  + published
b.yaml: created (B)
  + node a
  + published
Nothing was changed. It would be: 1 created, 1 updated
`,
    });
    const [row] = (await apply('--dry-run', '--json')).json();
    expect(row).toMatchObject({
      ...{ change: 'updated', name: 'A' },
      difference: {
        settings: ['description', 'graph', 'input_schema'],
        nodes: { changed: [{ id: 'a', paths: ['prompt'] }] },
        publish: false,
      },
    });
    expect(writes()).toEqual([]);
  });

  soakTest('of 200 workflows a second time takes few requests and no write', 120_000, async () => {
    const graphs = builtInTemplates.map(({ graph, description }) => ({ graph, description }));
    for (let at = 0; at < 200; at += 1) {
      const definition = { name: `Workflow ${at}`, ...graphs[at % graphs.length] };
      await write(`${at}.json`, JSON.stringify(definition));
    }
    const first = await apply();
    expect(first.stdout).toMatch(/200 workflows: 200 created\n$/);
    line.seen.length = 0;
    const second = await apply();
    expect(second.stdout).toMatch(/200 workflows: 200 unchanged\n$/);
    expect(writes()).toEqual([]);
    expect(line.seen.length).toBeLessThanOrEqual(2);
  });
});

describe('before anything is written', () => {
  const wrong: [string, string, string, number][] = [
    ['broken YAML', ': [', '1:4: is not valid', 2],
    ['an unknown key', 'name: W\ncheks: []', "2:1: unknown key 'cheks'; did you mean 'checks'?", 2],
    ['a name of another file', 'name: One', "has the name 'One', as", 2],
    ['an unknown id', 'id: wf_none\nname: W', "no workflow has the id 'wf_none'", 2],
    [
      'an unknown key of a node',
      'name: W\ngraph:\n  nodes:\n    - id: a\n      kind: agent\n      promt: x',
      "6:14: graph: nodes[0]: unknown key 'promt'; did you mean 'prompt'?",
      1,
    ],
    [
      'an edge to nowhere',
      `${simple('W')}  edges:\n    - {source: a, target: b}`,
      '6:27: graph: edges[0].target: The edge',
      1,
    ],
  ];
  test.each(wrong)('%s is refused with its position', async (_title, text, problem, code) => {
    for (const name of ['One', 'Two']) await write(`${name}.yaml`, simple(name));
    await write('wrong.yaml', text);
    const ended = await apply();
    expect({ code: ended.code, stdout: ended.stdout }).toEqual({ code, stdout: '' });
    expect(ended.stderr).toContain(
      `${path('wrong.yaml')}:${/^\d/.test(problem) ? '' : ' '}${problem}`,
    );
    expect(ended.stderr).toContain('in 1 of 3 files: nothing was changed');
    expect(writes()).toEqual([]);
  });

  test('every problem of every file is reported', async () => {
    await write('a.yaml', 'name: [x]\ncolour: red');
    await write('b.yaml', '- 5');
    const { stderr } = await apply();
    expect(stderr.trim().split('\n')).toHaveLength(4);
    expect(stderr).toContain('3 problems in 2 of 2 files');
  });

  test('a file larger than 4 MiB is refused', async () => {
    await write('large.yaml', `name: x\ndescription: ${'x'.repeat(4_200_000)}`);
    expect(await apply()).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is larger than 4 MiB'),
    });
  });

  test('a file that is not UTF-8 is refused', async () => {
    await writeFile(path('latin.yaml'), Buffer.from('name: caf\xe9', 'latin1'));
    expect(await apply()).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('cannot be read'),
    });
  });

  test('a folder without workflow files and a path that does not exist are refused', async () => {
    await write('README.md', 'x');
    expect(await apply()).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('has no workflow files'),
    });
    const none = await ops(['apply', '-f', path('none')]);
    expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('cannot be read') });
    expect(line.seen).toEqual([]);
  });

  test('links in a folder are not followed, to a file, a folder or the folder itself', async () => {
    const outside = await mkdtemp(join(ops.configFolder, 'outside-'));
    await writeFile(join(outside, 'secret.yaml'), simple('Secret'));
    await symlink(join(outside, 'secret.yaml'), path('link.yaml'));
    await symlink(outside, path('linked'));
    await symlink(folder, path('again'));
    await write('one.yaml', simple('One'));
    const ended = await apply('--json');
    expect(changesOf(ended)).toEqual(['one.yaml created']);
    expect(ended.stderr).toContain(`${path('link.yaml')} is a link: not followed`);
  });

  test('a file that is given twice counts once', async () => {
    const file = await write('one.yaml', simple('One'));
    const { json } = await ops(['apply', '-f', file, '-f', folder, '-f', file, '--json']);
    expect(json()).toHaveLength(1);
  });

  test('a graph that the workspace already has is not checked, and --allow-invalid saves any graph', async () => {
    await write('wrong.yaml', 'name: W\ngraph: {nodes: [{id: a, kind: loop, expression: "("}]}');
    expect((await apply()).code).toBe(1);
    expect(changesOf(await apply('--allow-invalid', '--json'))).toEqual(['wrong.yaml created']);
    expect(changesOf(await apply('--json'))).toEqual(['wrong.yaml unchanged']);
  });

  test('a name that several workflows have needs an id', async () => {
    const [{ id }] = (await Promise.all(
      ['', ''].map(() => client.createWorkflow({ name: 'Twice' })),
    )) as [{ id: string }, unknown];
    await write('twice.yaml', simple('Twice'));
    expect((await apply()).stderr).toContain("several workflows are named 'Twice': put the `id`");
    await write('twice.yaml', `id: ${id}\n${simple('Once')}`);
    expect(changesOf(await apply('--json'))).toEqual(['twice.yaml updated']);
    expect((await client.getWorkflow(id)).name).toBe('Once');
    await write('other.yaml', simple('Once'));
    expect((await apply()).stderr).toContain('other.yaml, too');
  });

  test("the workspace's tools are known", async () => {
    const node = (tool: string): string =>
      `name: T\ngraph: {nodes: [{id: t, kind: tool, tool_name: "custom:${tool}"}]}`;
    await client.registerTool({
      name: 'refund',
      label: 'Refund',
      kind: 'http',
      endpoint_url: 'https://a.example/x',
    });
    await write('tool.yaml', node('refnd'));
    expect(await apply()).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('custom:refnd'),
    });
    await write('tool.yaml', node('refund'));
    expect(changesOf(await apply('--json'))).toEqual(['tool.yaml created']);
    await client.deleteTool((await client.listTools())[0]!.id);
  });

  test('a tool that is registered by the client has the defaults of its kind', async () => {
    const code = await client.registerTool({
      ...({ name: 'twice', label: 'Twice', kind: 'code' } as const),
      source: 'export default ({ n }) => n * 2;',
    });
    expect(code).toMatchObject({ kind: 'code', timeout_seconds: 10 });
    await client.deleteTool(code.id);
  });
});

describe('while others write', () => {
  beforeEach(async () => {
    await write('one.yaml', simple('One'));
    await apply();
    await write('one.yaml', simple('One', 'Other'));
    line.seen.length = 0;
  });
  /** Does something once, after the workflows were listed and before the first write. */
  const afterList = (work: (id: string) => Promise<unknown>): void => {
    beforeRequest = async (method, url) => {
      const [, id] = /^\/api\/workflows\/(wf_\w+)$/.exec(url) ?? [];
      if (method === 'GET' || id === undefined) return;
      beforeRequest = async () => undefined;
      await work(id);
    };
  };

  test.each([
    ['renamed', { name: 'Uno' }, "was renamed meanwhile, from 'One' to 'Uno'"],
    ['changed', { description: 'mine' }, "'One' was changed meanwhile"],
  ])('a workflow that was %s in the meantime is not changed', async (_title, body, reason) => {
    let changed: unknown;
    afterList(async (id) => (changed = await client.updateWorkflow(id, body)));
    const { code, stderr } = await apply();
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(reason) });
    expect(stderr).toMatch(new RegExp(`^ops: ${path('one.yaml')}: `));
    expect(await client.listWorkflows()).toEqual([changed]);
  });

  test('limits that were changed in the meantime are not replaced', async () => {
    await write('one.yaml', `${simple('One')}limits: {rate: {limit: 1, per_seconds: 1}}\n`);
    const others = { rate: { limit: 2, per_seconds: 2 } };
    beforeRequest = async (method, url) => {
      if (method !== 'PUT' || !url.endsWith('/limits')) return;
      beforeRequest = async () => undefined;
      await client.setLimits(url.split('/').at(-2)!, others);
    };
    expect(await apply()).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("'One' was changed meanwhile"),
    });
    const [{ id } = { id: '' }] = await client.listWorkflows();
    expect(await client.getLimits(id)).toMatchObject(others);
  });

  test('a workflow that was deleted in the meantime is not created again', async () => {
    afterList((id) => client.deleteWorkflow(id));
    expect(await apply()).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Workflow not found (404)'),
    });
    expect(await client.listWorkflows()).toEqual([]);
  });

  test('a workflow that was renamed in the meantime is created again, which --dry-run shows', async () => {
    await client.updateWorkflow((await client.listWorkflows())[0]!.id, { name: 'Uno' });
    expect((await apply('--dry-run')).stdout).toContain('one.yaml: created (One)');
  });

  soakTest('a failure stops it, and the answer says what was written', async () => {
    for (let at = 0; at < 20; at += 1) await write(`n${at}.yaml`, simple(`N${at}`));
    beforeRequest = async (method) =>
      method === 'POST' && writes().length > 6 ? 'cut' : undefined;
    const ended = await apply('--json');
    expect(ended.code).toBe(1);
    const written = ended.json() as unknown[];
    expect(written.length).toBe(
      (await client.listWorkflows()).filter(({ name }) => name !== 'One').length,
    );
    expect(written.length).toBeLessThan(20);
    expect(ended.stderr).toMatch(/^ops: .*n\d+\.yaml: /);
  });

  test("without a permission, the service's error says which one is missing", async () => {
    const { code, stderr, stdout } = await ops(['apply', '-f', folder], {
      env: { OPS_API_KEY: viewer },
    });
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /one\.yaml: .*requires the 'create_edit_workflows' permission.*\(403\)\n$/,
    );
    expect(stdout.trim().split('\n')).toHaveLength(1);
  });
});

describe('ops pull', () => {
  test('writes one file for each workflow, and nothing the second time', async () => {
    await client.createWorkflow({
      name: 'Répondre aux tickets',
      graph: builtInTemplates[0]!.graph,
    });
    const { id } = await client.createWorkflow({ name: 'Empty' });
    await client.setChecks(id, [{ name: 'c', type: 'max_cost_usd', value: 1 }]);
    const inner = path('new/folder');
    const first = await ops(['pull', '-d', inner, '--json']);
    expect(first.json()).toMatchObject([
      { file: join(inner, 'repondre-aux-tickets.yaml'), change: 'created' },
      { file: join(inner, 'empty.yaml'), change: 'created' },
    ]);
    const before = await stat(join(inner, 'empty.yaml'));
    const second = await ops(['pull', '-d', inner, '--json']);
    expect(second.json().map(({ change }: any) => change)).toEqual(['unchanged', 'unchanged']);
    expect((await stat(join(inner, 'empty.yaml'))).mtimeMs).toBe(before.mtimeMs);
    expect(changesOf(await apply('--json')).every((row) => row.endsWith(' unchanged'))).toBe(true);
  });

  test('writes code as a block of lines, which a review can read, and applies what is changed in it', async () => {
    const source =
      'export default ({ n }) => {\n  // Twice: "n" is a number.\n  return n * 2;\n};\n';
    const nodes = [{ id: 'twice', kind: 'code' as const, source }];
    const { id } = await client.createWorkflow({ name: 'Code', graph: { nodes, edges: [] } });
    await pull();
    const written = await readFile(path('code.yaml'), 'utf8');
    expect(written).toMatch(
      / +source: \|\n( +)export default \({ n }\) => {\n\1 {2}\/\/ Twice: "n" is a number\.\n/,
    );
    expect(changesOf(await apply('--json'))).toEqual(['code.yaml unchanged']);
    await write('code.yaml', written.replace('n * 2', 'n * 3'));
    expect((await apply('--dry-run')).stdout).toContain('~ node twice: source');
    await apply();
    const [changed] = (await client.getWorkflow(id)).graph.nodes as { source: string }[];
    expect(changed!.source).toBe(source.replace('n * 2', 'n * 3'));
    // Its mistakes are found by the service, which alone parses it.
    await write('code.yaml', written.replace('n * 2', 'n *'));
    await apply();
    const { errors } = await client.validate(id);
    expect(errors[0]?.message).toMatch(/^nodes\[0\]\.source: .*\(line 3, column \d+\)$/);
  });

  test('writes limits as they can be applied, and null where there are none', async () => {
    const { id } = await client.createWorkflow({ name: 'Limited' });
    await client.createWorkflow({ name: 'Free' });
    await client.setLimits(id, { cancel_on: [{ event: 'order.cancelled' }], priority: '5' });
    await pull();
    expect(await readFile(path('free.yaml'), 'utf8')).toMatch(/^limits: null\n/m);
    expect(await readFile(path('limited.yaml'), 'utf8')).toContain(`limits:
  concurrency: null
  rate: null
  debounce: null
  priority: "5"
  cancel_on:
    - event: order.cancelled
      match: null
`);
    expect(changesOf(await apply('--json'))).toEqual([
      'free.yaml unchanged',
      'limited.yaml unchanged',
    ]);
  });

  test('writes changes, and keeps a file with comments and the same content', async () => {
    await write('mine.yml', `# Ours.\n${simple('A')}`);
    await write('other.json', JSON.stringify({ name: 'B', description: 'old' }));
    await apply('--allow-invalid');
    const b = (await client.listWorkflows()).find(({ name }) => name === 'B')!;
    await client.updateWorkflow(b.id, { description: 'new' });
    expect(changesOf(await pull('--json'))).toEqual(
      expect.arrayContaining(['mine.yml unchanged', 'other.json changed']),
    );
    expect(await readFile(path('mine.yml'), 'utf8')).toMatch(/^# Ours/);
    expect(JSON.parse(await readFile(path('other.json'), 'utf8'))).toMatchObject({
      name: 'B',
      description: 'new',
      checks: [],
    });
  });

  test('writes the given workflows, as JSON, to the same files as when pulling all', async () => {
    for (const name of ['Same', 'same!', 'SAME?']) await client.createWorkflow({ name });
    const one = await pull('SAME?', '--format', 'json', '--json');
    expect(changesOf(one)).toEqual(['same-3.json created']);
    await rm(path('same-3.json'));
    const { stdout } = await pull();
    expect((await readdir(folder)).toSorted()).toEqual(['same-2.yaml', 'same-3.yaml', 'same.yaml']);
    expect(stdout).toContain(
      "same-2.yaml has a number: 'same!' gives the file name of another workflow",
    );
    expect(await readFile(path('same.yaml'), 'utf8')).toMatch(
      /^# yaml-language-server: .*\nname: Same\n/,
    );
    expect(await pull('nobody')).toMatchObject({
      code: 1,
      stderr: "ops: No workflow has the id or name 'nobody'\n",
    });
  });

  test('gives workflows with the same name an id, so that they can be applied', async () => {
    for (const description of ['a', 'b']) {
      await client.createWorkflow({ name: 'Twice', description });
    }
    await pull();
    expect(await readFile(path('twice-2.yaml'), 'utf8')).toMatch(
      /^# yaml-language-server: .*\nid: wf_\w+\nname: Twice\n/,
    );
    expect(changesOf(await pull('--json'))).toEqual([
      'twice.yaml unchanged',
      'twice-2.yaml unchanged',
    ]);
    expect(changesOf(await apply('--json')).every((row) => row.endsWith('unchanged'))).toBe(true);
  });

  test('stays in the folder for every name of a workflow', async () => {
    const names = [
      '../../etc/passwd',
      '/root/x',
      '..',
      '.git/config',
      'a\u0000b',
      'C:\\x',
      '日本語',
      'x'.repeat(200),
      '-rf',
      '%2e%2e%2f',
    ];
    const inner = path('inner');
    await mkdir(inner);
    for (const name of names.filter((each) => !each.includes('\u0000'))) {
      await client.createWorkflow({ name });
    }
    const rows = (await ops(['pull', '-d', inner, '--json'])).json();
    expect(await readdir(folder)).toEqual(['inner']);
    const files = await readdir(inner);
    expect(files).toHaveLength(rows.length);
    for (const file of files) expect(file).toMatch(/^[a-z0-9][a-z0-9-]{0,104}\.yaml$/);
    const again = await ops(['pull', '-d', inner, '--json']);
    expect(again.json().every(({ change }: any) => change === 'unchanged')).toBe(true);
  });

  test('neither follows nor replaces a link, nor overwrites other files', async () => {
    const outside = await mkdtemp(join(ops.configFolder, 'outside-'));
    await writeFile(join(outside, 'kept'), 'kept');
    await client.createWorkflow({ name: 'Target' });
    await client.createWorkflow({ name: 'Innocent' });
    await symlink(join(outside, 'kept'), path('target.yaml'));
    expect(await pull()).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is a symbolic link'),
    });
    await rm(path('target.yaml'));
    for (const foreign of ['services: {}\n', 'name: x\n<<<<<<< HEAD\n']) {
      await write('target.yaml', foreign);
      expect(await pull()).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('is no workflow file'),
      });
      expect(await readFile(path('target.yaml'), 'utf8')).toBe(foreign);
    }
    await rm(path('target.yaml'));
    await mkdir(path('target.yaml'));
    expect(await pull()).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is not a file'),
    });
    expect(await readdir(folder)).toEqual(['target.yaml']);
    expect(await readFile(join(outside, 'kept'), 'utf8')).toBe('kept');
  });

  test('keeps the old file of a renamed workflow, and only deletes it on request', async () => {
    const { id } = await client.createWorkflow({ name: 'Before' });
    await pull();
    await client.updateWorkflow(id, { name: 'After' });
    const { stdout } = await pull();
    expect(stdout).toContain(`${path('before.yaml')} was left: it is no workflow of the workspace`);
    expect((await readdir(folder)).toSorted()).toEqual(['after.yaml', 'before.yaml']);
    expect((await pull('After', '--prune')).code).toBe(2);
    expect(changesOf(await pull('--prune', '--json'))).toEqual([
      'after.yaml unchanged',
      'before.yaml deleted',
    ]);
    expect(await readdir(folder)).toEqual(['after.yaml']);
  });

  test('finds the file of a workflow after it was moved', async () => {
    await client.createWorkflow({ name: 'Moved' });
    await pull();
    await mkdir(path('team'));
    await rename(path('moved.yaml'), path('team/other.yaml'));
    await cp(path('team/other.yaml'), path('README.md'));
    expect(changesOf(await pull('--json'))).toEqual(['team/other.yaml unchanged']);
  });
});
