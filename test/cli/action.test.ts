import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { runAction } from '#actions/apply/action.ts';
import { type Client, createClient } from '#client/index.ts';
import { type FakeServer, sendJson, startHttpServer } from '#test/fakes/http-server.ts';
import { type Service, startService } from '#test/support/served-api.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string): Promise<string> => readFile(join(root, path), 'utf8');

let service: Service;
let client: Client;
let key: string;
/** GitHub's REST API, with the comments of one pull request. */
let github: FakeServer;
let comments: { id: number; body: string }[] = [];
let refuses = false;
let folder: string;

beforeAll(async () => {
  service = await startService();
  client = createClient({ baseUrl: service.apiUrl });
  key = (await client.createApiKey({ name: 'CI', role: 'editor' })).secret;
  github = await startHttpServer(({ method, url, body }, response) => {
    if (refuses) return sendJson(response, 403, { message: 'Resource not accessible' });
    const { pathname, searchParams } = new URL(url, 'http://github.test');
    const given = body === '' ? undefined : JSON.parse(body).body;
    const one = /^\/repos\/acme\/flows\/issues\/comments\/(\d+)$/.exec(pathname);
    if (method === 'PATCH' && one !== null) {
      const comment = comments.find(({ id }) => id === Number(one[1]));
      if (comment === undefined) return sendJson(response, 404, {});
      comment.body = given;
      return sendJson(response, 200, comment);
    }
    if (pathname !== '/repos/acme/flows/issues/7/comments') return sendJson(response, 404, {});
    if (method === 'POST') {
      comments.push({ id: comments.length + 1, body: given });
      return sendJson(response, 201, comments.at(-1));
    }
    const first = (Number(searchParams.get('page')) - 1) * 100;
    return sendJson(response, 200, comments.slice(first, first + 100));
  });
});
afterAll(async () => {
  await github.close();
  await service.close();
});
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'action-'));
  comments = [];
  refuses = false;
});
afterEach(() => rm(folder, { recursive: true }));

/** Runs the action as GitHub does, with these inputs. */
async function act(inputs: Record<string, string> = {}) {
  const [output, summary, event] = ['output', 'summary', 'event'].map((name) =>
    join(folder, `.${name}`),
  ) as [string, string, string];
  await writeFile(output, '');
  await writeFile(summary, '');
  await writeFile(event, JSON.stringify({ pull_request: { number: 7 } }));
  const lines: string[] = [];
  const code = await runAction(
    {
      INPUT_URL: service.apiUrl,
      INPUT_API_KEY: key,
      INPUT_FOLDER: folder,
      INPUT_MODE: 'check',
      INPUT_PUBLISH: 'false',
      INPUT_EXPERIMENT: '0',
      GITHUB_OUTPUT: output,
      GITHUB_STEP_SUMMARY: summary,
      GITHUB_EVENT_PATH: event,
      GITHUB_REPOSITORY: 'acme/flows',
      GITHUB_API_URL: github.url,
      ...inputs,
    },
    (line) => lines.push(line),
  );
  // The runner takes this line out of what it shows.
  const shown = lines.filter((line) => line !== `::add-mask::${key}`).join('\n');
  const outputs = await readFile(output, 'utf8');
  const all = shown + outputs + (await readFile(summary, 'utf8')) + JSON.stringify(comments);
  expect(all).not.toContain(key);
  return { code, shown, outputs, summary: await readFile(summary, 'utf8') };
}

/** A workflow that returns what the expression gives. */
const file = (name: string, expression: string): Promise<void> =>
  writeFile(
    join(folder, `${name}.yaml`),
    `name: ${name}\ngraph:\n  nodes:\n    - {id: a, kind: tool, tool_name: json_transform, params: {expression: ${JSON.stringify(expression)}}}\n  edges: []\n`,
  );
const named = async (name: string) =>
  (await client.listWorkflows()).find((workflow) => workflow.name === name);

test('a check says what differs, in the summary, the outputs and one comment, and changes nothing', async () => {
  await file('First', '1');
  const github_ = { INPUT_GITHUB_TOKEN: 'ghs_1' };
  const { code, outputs, summary } = await act(github_);
  expect(code).toBe(0);
  expect(outputs).toMatch(/^changed=1\nsummary<<(end-\S+)\n[\s\S]*created \(First\)[\s\S]*\n\1\n$/);
  expect(summary).toContain('created (First)');
  expect(comments).toEqual([{ id: 1, body: expect.stringContaining('created (First)') }]);
  expect(await named('First')).toBeUndefined();
  await file('Second', '2');
  // The comments of other people, on an earlier page.
  comments = [...Array.from({ length: 150 }, (_, at) => ({ id: at + 2, body: 'x' })), ...comments];
  await act(github_);
  expect(comments).toHaveLength(151);
  expect(comments.find(({ id }) => id === 1)?.body).toContain('created (Second)');
}, 60_000);

test('apply creates, publishes and updates the workflows', async () => {
  await file('Applied', '1');
  expect((await act({ INPUT_MODE: 'apply', INPUT_PUBLISH: 'true' })).code).toBe(0);
  expect(await named('Applied')).toMatchObject({ status: 'published' });
  await file('Applied', '2');
  const { code, summary } = await act({ INPUT_MODE: 'apply' });
  expect([code, summary]).toEqual([0, expect.stringContaining('node a: params.expression')]);
  const again = await act();
  expect([again.outputs.split('\n')[0], again.summary]).toEqual([
    'changed=0',
    expect.stringContaining('Nothing differs.'),
  ]);
}, 60_000);

test('a changed graph is tried on past runs as a draft, and a failed run fails the action', async () => {
  await file('Tried', 'a + 1');
  await act({ INPUT_MODE: 'apply', INPUT_PUBLISH: 'true' });
  const { id } = (await named('Tried'))!;
  expect((await client.run(id, { a: 1 }, { wait: true })).status).toBe('success');
  const draft = () =>
    client.getDraft(id).catch((error: unknown) => (error as { status: number }).status);
  await file('Tried', 'a + 2');
  const passed = await act({ INPUT_EXPERIMENT: '5' });
  expect([passed.code, passed.summary]).toEqual([
    0,
    expect.stringContaining('Experiment, last 5 runs: passed'),
  ]);
  expect(await draft()).toBe(404);
  await file('Tried', "'x' * 2");
  const failed = await act({ INPUT_EXPERIMENT: '5', INPUT_MODE: 'apply' });
  expect([failed.code, failed.summary]).toEqual([
    1,
    expect.stringContaining('Experiment, last 5 runs: failed'),
  ]);
  expect(await draft()).toBe(404);
  expect((await client.getWorkflow(id)).version).toBe(1);
  const { graph } = await client.getWorkflow(id);
  await client.saveDraft(id, { graph } as never);
  const taken = await act({ INPUT_EXPERIMENT: '5' });
  expect([taken.code, taken.summary]).toEqual([1, expect.stringContaining('has a draft already')]);
  expect(await draft()).toMatchObject({ graph });
}, 120_000);

test('wrong files, inputs and addresses are clear errors', async () => {
  await writeFile(
    join(folder, 'broken.yaml'),
    'name: Broken\ngraph: {nodes: [{id: a, kind: agent, promt: x}]}\n',
  );
  const broken = await act({ INPUT_MODE: 'apply' });
  expect([broken.code, broken.summary]).toEqual([
    expect.any(Number),
    expect.stringMatching(/broken\.yaml:2:\d+: .*unknown key 'promt'/),
  ]);
  expect(broken.code).not.toBe(0);
  await rm(join(folder, 'broken.yaml'));
  await file('Good', '1');
  const cases: [Record<string, string>, string][] = [
    [{ INPUT_API_KEY: '' }, '::error::api-key is empty. GitHub passes no secrets'],
    [{ INPUT_MODE: 'aply' }, '::error::mode must be check or apply'],
    [{ INPUT_EXPERIMENT: 'many' }, '::error::experiment must be a number'],
    [{ INPUT_PUBLISH: 'yes' }, '::error::publish must be true or false'],
    [{ INPUT_URL: 'ops.example.com' }, '::error::url must be the address'],
    [{ INPUT_URL: 'http://127.0.0.1:9' }, '::error::The workflow files cannot be applied'],
    [{ INPUT_FOLDER: join(folder, 'nowhere') }, '::error::The workflow files cannot be applied'],
  ];
  for (const [inputs, message] of cases) {
    const { code, shown } = await act(inputs);
    expect([shown, code]).toEqual([expect.stringContaining(message), expect.any(Number)]);
    expect(code).not.toBe(0);
  }
  refuses = true;
  const quiet = await act({ INPUT_GITHUB_TOKEN: 'ghs_1' });
  expect([quiet.code, quiet.shown]).toEqual([
    0,
    expect.stringContaining('::warning::The comment was not written: GitHub answered GET with 403'),
  ]);
}, 120_000);

test('the program of the action prints for the runner, and ends with the exit code', async () => {
  const program = promisify(execFile)(process.execPath, [join(root, 'actions/apply/main.ts')], {
    env: { PATH: process.env['PATH'] ?? '', INPUT_URL: service.apiUrl, INPUT_API_KEY: '' },
  });
  await expect(program).rejects.toMatchObject({
    code: 2,
    stdout: expect.stringContaining('::error::api-key is empty'),
  });
}, 60_000);

test('the description names each input that the action reads, and the example in the documentation only these', async () => {
  const { inputs, runs } = parse(await read('actions/apply/action.yml'));
  const sources = await read('actions/apply/inputs.ts');
  const declared = [...sources.matchAll(/^ {2}(INPUT_\w+):/gm)].map(([, name]) => name).sort();
  expect(Object.keys(runs.steps.at(-1).env).sort()).toEqual(declared);
  const variable = (name: string) => `INPUT_${name.toUpperCase().replaceAll('-', '_')}`;
  expect(Object.keys(inputs).map(variable).sort()).toEqual(declared);
  const documented = await read('docs/workflow-files.md');
  const [, example = ''] = /```yaml\n(on:[\s\S]*?)```/.exec(documented) ?? [];
  const steps = Object.values<any>(parse(example).jobs).flatMap((job) => job.steps);
  const used = steps.filter(({ uses }) => uses.includes('/actions/apply@'));
  expect(used.length).toBeGreaterThan(0);
  for (const { with: given } of used) {
    expect(Object.keys(inputs)).toEqual(expect.arrayContaining(Object.keys(given)));
  }
});
