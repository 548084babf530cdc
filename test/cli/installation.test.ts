import { execFile, spawn } from 'node:child_process';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { chain, gated } from '#bench/graphs.ts';
import { startHttpServer } from '#test/fakes/http-server.ts';
import { startListingServer } from '#test/fakes/listing-server.ts';
import { type Service, startService } from '#test/support/served-api.ts';
import { eventually } from '#test/support/engine.ts';
import { soakTest } from '#test/support/soak.ts';
import { createOps, type Ops } from './ops.ts';

const execute = promisify(execFile);
const password = 'open sesame, please';
let service: Service;
let ops: Ops;
beforeAll(async () => {
  service = await startService({ AUTH_MODE: 'required', OWNER_PASSWORD: password });
  ops = await createOps();
  const login = ['login', '--email', 'owner@localhost', '--url', service.apiUrl];
  const { stderr, code } = await ops(login, { input: `${password}\n` });
  expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
});
afterAll(() => service.close());

async function applyGraph(name: string, graph: object, more: object = {}): Promise<string> {
  const file = join(ops.configFolder, 'workflow.json');
  await writeFile(file, JSON.stringify({ name, graph, ...more }));
  const applied = ['workflows', 'apply', '-f', file, '--allow-invalid', '-o', 'json'];
  const { json } = await ops(applied);
  return json()[0].workflow.id;
}
const slow = {
  nodes: [{ id: 'wait', kind: 'tool', tool_name: 'delay', params: { seconds: 600 } }],
  edges: [],
};
const failing = { nodes: [{ id: 'boom', kind: 'agent', mock: { fail_times: 1 } }], edges: [] };

describe('signing in', () => {
  test('stores the session, readable only by its owner, and not the password', async () => {
    const folder = join(ops.configFolder, 'ops');
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect((await stat(join(folder, 'profiles.json'))).mode & 0o777).toBe(0o600);
    const text = await readFile(join(folder, 'profiles.json'), 'utf8');
    expect(text).not.toContain(password);
    expect(JSON.parse(text).profiles.default).toMatchObject({ email: 'owner@localhost' });
    expect((await ops(['whoami', '-o', 'json'])).json()).toMatchObject({
      email: 'owner@localhost',
    });
  });

  test('with a wrong password stores nothing', async () => {
    const login = ['login', '--email', 'owner@localhost', '--profile', 'other'];
    const ended = await ops([...login, '--url', service.apiUrl], { input: 'wrong password\n' });
    expect(ended.code).toBe(1);
    expect(ended.stderr).not.toContain('wrong password');
    expect((await ops(['profiles', '-o', 'json'])).json()).toHaveLength(1);
  });

  test('with an API key creates a separate profile, until logout', async () => {
    const made = (await ops(['keys', 'create', 'CI', '--role', 'viewer', '-o', 'json'])).json();
    const login = ['login', '--api-key', '--profile', 'ci', '--url', service.apiUrl];
    const ended = await ops(login, { input: `${made.secret}\n` });
    expect(ended.code).toBe(0);
    expect(ended.stdout + ended.stderr).not.toContain(made.secret);
    const refused = await ops(['budgets', 'create', 'x', '--limit', '1']);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("requires the 'manage_workspace' permission");
    expect((await ops(['use', 'default'])).code).toBe(0);
    expect((await ops(['runs', 'list', '--profile', 'ci'])).code).toBe(0);
    expect((await ops(['keys', 'revoke', made.id])).code).toBe(0);
    expect((await ops(['runs', 'list', '--profile', 'ci'])).code).toBe(1);
    expect((await ops(['logout', '--profile', 'ci'])).code).toBe(0);
    expect((await ops(['runs', 'list', '--profile', 'ci'])).stderr).toContain('no profile');
  });

  test('is suggested when no one is signed in', async () => {
    const stranger = await createOps({ OPS_API_URL: service.apiUrl });
    const { code, stderr } = await stranger(['usage']);
    expect(code).toBe(1);
    expect(stderr).toContain('ops login');
  });
});

describe('workflows', () => {
  test('are created, left unchanged, updated and compared', async () => {
    const file = join(ops.configFolder, 'life.json');
    const apply = async (graph: object): Promise<any> => {
      await writeFile(file, JSON.stringify({ name: 'Life', graph }));
      return (await ops(['workflows', 'apply', '-f', file, '-o', 'json'])).json()[0];
    };
    expect(await apply(chain(2))).toMatchObject({ change: 'created', workflow: { version: 1 } });
    expect(await apply(chain(2))).toMatchObject({ change: 'unchanged', workflow: { version: 1 } });
    expect(await apply(chain(3))).toMatchObject({ change: 'updated', workflow: { version: 2 } });
    const { stdout } = await ops(['workflows', 'diff', 'Life']);
    expect(stdout).toBe('+ node n3\n+ edge n2 > n3\n');
    expect((await ops(['workflows', 'show', 'Life'])).stdout).toContain('n1 (tool), n2 (tool)');
    expect((await ops(['workflows', 'publish', 'Life'])).code).toBe(0);
    expect((await ops(['workflows', 'list'])).stdout).toMatch(/Life +published +2/);
    expect((await ops(['workflows', 'delete', 'Life'])).code).toBe(0);
    expect((await ops(['workflows', 'show', 'Life'])).code).toBe(1);
  });

  test('have a draft, which is saved, shown, published and discarded', async () => {
    const file = join(ops.configFolder, 'life.json');
    await applyGraph('Life', chain(2));
    await writeFile(file, JSON.stringify({ name: 'Life', graph: chain(3) }));
    expect((await ops(['workflows', 'delete', 'Life', '--if-match', 'other'])).code).toBe(1);
    expect((await ops(['drafts', 'publish', 'Life'])).stderr).toBe(
      'ops: The workflow has no draft: save one with ops drafts save\n',
    );
    const draft = (await ops(['drafts', 'save', 'Life', '-f', file, '-o', 'json'])).json();
    expect(draft).toMatchObject({ base_version: 1, revision: 1 });
    const stale = await ops(['drafts', 'discard', 'Life', '--if-match', 'other']);
    expect([stale.code, stale.stderr]).toEqual([1, expect.stringContaining('(412)')]);
    expect((await ops(['drafts', 'show', 'Life'])).stdout).toContain(draft.etag);
    const publication = ['drafts', 'publish', 'Life', '--if-match', draft.etag, '--note', 'Better'];
    expect((await ops(publication)).stdout).toMatch(/^Published version 2 of wf_\w+ \(Life\)\n$/);
    expect((await ops(['workflows', 'versions', 'Life'])).stdout).toMatch(
      /^2 +\S+ +Owner +3 +Better$/m,
    );
    await ops(['drafts', 'save', 'Life', '-f', file]);
    expect((await ops(['drafts', 'discard', 'Life'])).stdout).toMatch(
      /^Discarded the draft of wf_/,
    );
    await ops(['workflows', 'delete', 'Life']);
  });

  test('are validated, with an exit code', async () => {
    await applyGraph('Good', chain(1));
    await applyGraph('Bad', { nodes: [{ id: 'x', kind: 'loop', expression: '(' }], edges: [] });
    expect(await ops(['workflows', 'validate', 'Good'])).toMatchObject({ code: 0 });
    const bad = await ops(['workflows', 'validate', 'Bad']);
    expect(bad.code).toBe(1);
    expect(bad.stdout).toContain('error: ');
  });

  test('with an unknown field are refused, naming the field', async () => {
    const file = join(ops.configFolder, 'wrong.json');
    await writeFile(file, JSON.stringify({ name: 'x', colour: 'red' }));
    const { code, stderr } = await ops(['workflows', 'apply', '-f', file]);
    expect(code).toBe(2);
    expect(stderr).toContain('colour');
  });
});

describe('a run', () => {
  beforeAll(async () => {
    await applyGraph('Chain', chain(3));
    await applyGraph('Gated', gated());
    await applyGraph('Failing', failing);
    await applyGraph('Slow', slow);
  });

  test('is started and printed', async () => {
    const { code, json } = await ops(['run', 'Chain', '-i', 'a=1', '-o', 'json']);
    expect(code).toBe(0);
    expect(json()).toMatchObject({ input: { a: 1 }, workflow_name: 'Chain' });
  });

  test('is started once for one idempotency key', async () => {
    const start = ['run', 'Chain', '--idempotency-key', 'once', '-o', 'json'];
    const [one, other] = [await ops(start), await ops(start)];
    expect(one.json().id).toBe(other.json().id);
  });

  test('can be waited for, with an exit code for each outcome', async () => {
    expect((await ops(['run', 'Chain', '--wait'])).code).toBe(0);
    expect((await ops(['run', 'Failing', '--wait'])).code).toBe(4);
    expect((await ops(['run', 'Gated', '--wait'])).code).toBe(6);
    const late = await ops(['run', 'Slow', '--wait', '--wait-timeout', '0.5']);
    expect(late.code).toBe(5);
    expect(late.stderr).toContain('it continues');
    const watched = await ops(['run', 'Slow', '--watch', '--wait-timeout', '0.5']);
    expect(watched.code).toBe(5);
    expect((await ops(['run', 'Nobody'])).code).toBe(1);
    const { json } = await ops(['runs', 'list', '--workflow', 'Slow', '-o', 'json']);
    for (const { id } of json()) expect((await ops(['cancel', id])).code).toBe(0);
  });

  test('can be watched as complete JSON lines without a terminal', async () => {
    const { code, stdout, stderr } = await ops(['run', 'Chain', '--watch']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.at(-1)).toMatchObject({ type: 'run', status: 'success' });
    const succeeded = lines.filter((line) => line.type === 'step' && line.status === 'success');
    expect(succeeded.map((line) => line.step_key)).toEqual(['n1', 'n2', 'n3']);
  });

  soakTest('can be watched with an API key, which cannot open a stream', async () => {
    const made = (
      await ops(['keys', 'create', 'Watcher', '--role', 'editor', '-o', 'json'])
    ).json();
    const env = { OPS_API_URL: service.apiUrl, OPS_API_KEY: made.secret };
    const { code, stdout } = await ops(['run', 'Chain', '--watch'], { env });
    expect(code).toBe(0);
    expect(stdout).toContain('"status":"success"');
  });

  test('is approved, rejected, resumed and shown', async () => {
    const paused = (await ops(['run', 'Gated', '--wait', '-o', 'json'])).json();
    const watching = ops(['runs', 'watch', paused.id]);
    expect((await watching).code).toBe(6);
    expect((await ops(['approve', paused.id, '-i', 'note=fine'])).code).toBe(0);
    expect((await ops(['runs', 'watch', paused.id])).code).toBe(0);
    expect((await ops(['approve', paused.id])).code).toBe(1);
    const other = (await ops(['run', 'Gated', '--wait', '-o', 'json'])).json();
    expect((await ops(['reject', other.id, '--reason', 'not now'])).code).toBe(0);
    expect((await ops(['runs', 'watch', other.id])).code).toBe(4);
    const { error } = (await ops(['runs', 'show', other.id, '-o', 'json'])).json();
    expect(error).toMatch(/: not now$/);
    const failed = (await ops(['run', 'Failing', '--wait', '-o', 'json'])).json();
    expect((await ops(['resume', failed.id])).code).toBe(0);
    expect((await ops(['runs', 'watch', failed.id])).code).toBe(0);
    const { stdout } = await ops(['runs', 'show', failed.id]);
    expect(stdout).toMatch(/boom +agent +success/);
    expect((await ops(['runs', 'show', 'run_unknown'])).stderr).toBe('ops: Run not found (404)\n');
  });

  test('is listed, with a limit and a status filter', async () => {
    const { json } = await ops(['runs', 'list', '--limit', '2', '-o', 'json']);
    expect(json()).toHaveLength(2);
    const failed = await ops(['runs', 'list', '--status', 'failed', '-o', 'json']);
    for (const run of failed.json()) expect(run.status).toBe('failed');
  });
});

describe('on a terminal', () => {
  const inQuotes = (args: string[]): string =>
    [process.execPath, ops.script, ...args].map((word) => `'${word}'`).join(' ');
  /** Runs the command on a pseudo-terminal. Returns its output, errors included. */
  const onTerminal = async (args: string[], env: Record<string, string> = {}): Promise<string> => {
    const { stdout } = await execute('script', ['-qec', inQuotes(args), '/dev/null'], {
      env: { ...ops.env, ...env },
    });
    return stdout;
  };
  const escape = '\u001b[';

  test('a run is drawn as a tree, in place', async () => {
    await applyGraph('Held', {
      nodes: [{ id: 'quick', kind: 'agent', mock: { output: 'ok' } }, ...slow.nodes],
      edges: [{ source: 'quick', target: 'wait' }],
    });
    const watching = spawn('script', ['-qec', inQuotes(['run', 'Held', '--watch']), '/dev/null'], {
      env: ops.env,
    });
    let text = '';
    watching.stdout.setEncoding('utf8').on('data', (part: string) => (text += part));
    const ended = new Promise((resolve) => watching.once('close', resolve));
    await eventually(() => /●.* wait/.test(text));
    expect((await ops(['cancel', /run_\w+/.exec(text)?.[0] ?? ''])).code).toBe(0);
    expect(await ended).toBe(4);
    expect(text).toContain('└─ ');
    expect(text).toContain(`${escape}32m✔`);
    expect(text).toMatch(/\u001b\[\d+A\u001b\[J/);
    expect(text).not.toContain('"type"');
  });

  test('NO_COLOR disables colors and redrawing', async () => {
    const text = await onTerminal(['run', 'Chain', '--watch'], { NO_COLOR: '1' });
    expect(text).not.toContain(escape);
    expect(text).toContain('"status":"success"');
    expect(await onTerminal(['workflows', 'list'])).toContain(escape);
    expect(await onTerminal(['workflows', 'list'], { NO_COLOR: '1' })).not.toContain(escape);
    expect((await ops(['workflows', 'list'])).stdout).not.toContain(escape);
  });

  test('prompts for a password without echoing it', async () => {
    const login = `stty cols 80 rows 24; '${process.execPath}' '${ops.script}' login --email owner@localhost --profile asked --url ${service.apiUrl}`;
    const child = spawn('script', ['-qec', login, '/dev/null'], { env: ops.env });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (part: string) => {
      if (!text.includes('Password') && (text + part).includes('Password')) {
        child.stdin.write(`${password}\r`);
      }
      text += part;
    });
    const code = await new Promise((resolve) => child.once('close', resolve));
    expect(text).toContain("as profile 'asked'");
    expect(text).not.toContain('sesame');
    expect(code).toBe(0);
    await ops(['logout', '--profile', 'asked']);
    await ops(['use', 'default']);
  });
});

describe('the command covers', () => {
  test('budgets', async () => {
    const create = ['budgets', 'create', 'Monthly', '--limit', '25.5', '--window', 'week'];
    const made = (await ops([...create, '-o', 'json'])).json();
    expect(made).toMatchObject({ limit_usd: 25.5, window: 'week' });
    expect((await ops(['budgets', 'list'])).stdout).toMatch(/Monthly +workspace +week +\$25.5/);
    expect((await ops(['budgets', 'show', made.id])).stdout).toMatch(/remaining_usd +25.5/);
    expect((await ops(['budgets', 'delete', made.id])).code).toBe(0);
    expect((await ops(['budgets', 'show', made.id])).code).toBe(1);
  });

  test('usage, and an audit log that can be verified', async () => {
    expect((await ops(['usage', '-o', 'json'])).json()).toMatchObject({ plan: 'free' });
    const { json } = await ops(['audit', 'list', '--limit', '3', '-o', 'json']);
    expect(json()).toHaveLength(3);
    expect(await ops(['audit', 'verify'])).toMatchObject({ code: 0 });
    const made = ['audit', '--action', 'create', '--target-type', 'budget', '-o', 'json'];
    const budgets = (await ops(made)).json();
    expect(budgets).toMatchObject([{ action: 'create', target_type: 'budget' }]);
    const [{ actor_id, target_id, created_at }] = budgets;
    const same = ['--actor', actor_id, '--target', target_id, '--since', created_at];
    expect((await ops([...made, ...same])).json()).toEqual(budgets);
    expect((await ops([...made, '--until', created_at])).json()).toEqual([]);
    expect((await ops(['audit', '--since', 'yesterday'])).code).toBe(1);
  });

  test('alerts, listing missing settings and refusing a test without a channel', async () => {
    const { stdout } = await ops(['alerts', 'list']);
    expect(stdout).toMatch(/chat +no +failed, paused +Set CHAT_WEBHOOK_URL/);
    const { code, stderr } = await ops(['alerts', 'test']);
    expect([code, stderr]).toEqual([1, 'ops: No alert channel is configured (409)\n']);
  });

  test('API keys, whose secrets no list shows', async () => {
    const made = (await ops(['keys', 'create', 'Listed', '--role', 'viewer', '-o', 'json'])).json();
    const { stdout } = await ops(['keys', 'list']);
    expect(stdout).toContain(made.id);
    expect(stdout).not.toContain(made.secret);
  });

  test('members, named by email', async () => {
    const invite = ['members', 'invite', 'ada@example.com', '--name', 'Ada', '-o', 'json'];
    const made = (await ops(invite)).json();
    expect(made).toMatchObject({ role: 'viewer', status: 'invited' });
    expect(made.invite_code).toEqual(expect.any(String));
    const changed = await ops(['members', 'role', 'ada@example.com', 'editor', '-o', 'json']);
    expect(changed.json()).toMatchObject({ id: made.id, role: 'editor' });
    const wrong = await ops(['members', 'role', 'ada@example.com', 'emperor']);
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('role')]);
    expect((await ops(['members', 'remove', 'ada@example.com'])).code).toBe(0);
    const gone = await ops(['members', 'remove', 'ada@example.com']);
    expect([gone.code, gone.stderr]).toEqual([
      1,
      expect.stringContaining("No member has the id or name 'ada@example.com'"),
    ]);
  });

  soakTest('schedules, with an error when several share a name', async () => {
    await applyGraph('By the clock', chain(1));
    const create = ['schedules', 'create', 'By the clock', '--cron', '0 4 * * *', '--name', 'dawn'];
    const made = (await ops([...create, '-o', 'json'])).json();
    expect((await ops(['schedules', 'list'])).stdout).toMatch(/dawn .* 0 4 \* \* \* +UTC/);
    const run = (await ops(['schedules', 'trigger', 'dawn', '-o', 'json'])).json();
    expect(run).toMatchObject({ workflow_name: 'By the clock', trigger: 'schedule' });
    await ops(create);
    const unclear = await ops(['schedules', 'delete', 'dawn']);
    expect([unclear.code, unclear.stderr]).toEqual([1, expect.stringContaining('give an id')]);
    expect((await ops(['schedules', 'delete', made.id])).code).toBe(0);
    expect((await ops(['schedules', 'delete', 'dawn'])).code).toBe(0);
  });

  soakTest('custom tools, whose test exits like the call', async () => {
    const server = await startHttpServer(({ url }, response) => {
      response.writeHead(url === '/health' ? 200 : 404).end('{"status": "ok"}');
    });
    const file = join(ops.configFolder, 'tool.json');
    const tool = { name: 'health', endpoint_url: `${server.url}/health`, method: 'GET' };
    await writeFile(file, JSON.stringify(tool));
    expect((await ops(['tools', 'register', '-f', file])).code).toBe(0);
    const tested = await ops(['tools', 'test', 'custom:health', '-o', 'json']);
    expect([tested.code, tested.json().ok]).toEqual([0, true]);
    await writeFile(
      file,
      JSON.stringify({ ...tool, name: 'nowhere', endpoint_url: `${server.url}/no` }),
    );
    await ops(['tools', 'register', '-f', file]);
    const failed = await ops(['tools', 'test', 'nowhere', '-o', 'json']);
    expect([failed.code, failed.json().ok]).toEqual([1, false]);
    expect((await ops(['tools', 'delete', 'health'])).stdout).toContain('Deleted health');
    expect((await ops(['tools', 'delete', 'nowhere'])).code).toBe(0);
    expect((await ops(['tools', 'list'])).stdout).not.toContain('custom:');
    await server.close();
  });

  soakTest('the tools of an MCP server, with headers from a file', async () => {
    const inputSchema = { type: 'object' };
    const server = await startListingServer([
      { name: 'getOrder', inputSchema },
      { name: 'refund', inputSchema },
      { name: '日本', inputSchema },
    ]);
    const file = join(ops.configFolder, 'headers.json');
    await writeFile(file, JSON.stringify({ 'X-Team': 'orders' }));
    const imported = ['tools', 'import', server.url, '--prefix', 'shop_'];
    const some = await ops([...imported, '--name', 'getOrder', '--headers', file]);
    expect([some.code, some.stdout]).toEqual([
      0,
      expect.stringMatching(/created +custom:shop_get_order +getOrder/),
    ]);
    expect(server.requests('tools/list')[0]?.headers['x-team']).toBe('orders');
    const all = await ops([...imported, '-o', 'json']);
    expect(all.code).toBe(1);
    expect(all.json()).toMatchObject({
      created: [{ name: 'shop_refund' }],
      updated: [{ name: 'shop_get_order' }],
      unchanged: [],
      skipped: [{ name: '日本' }],
    });
    await server.close();
    const elsewhere = await ops(imported);
    expect([elsewhere.code, elsewhere.stderr]).toEqual([
      1,
      expect.stringContaining('cannot be listed'),
    ]);
    await ops(['tools', 'delete', 'shop_get_order']);
    await ops(['tools', 'delete', 'shop_refund']);
  });

  soakTest('feeds filled from files, line by line', async () => {
    const file = join(ops.configFolder, 'feed.json');
    await writeFile(file, JSON.stringify({ name: 'Permits', entity_types: ['permit'] }));
    expect((await ops(['data', 'feeds', 'create', '-f', file])).code).toBe(0);
    const permit = (n: number) =>
      `{"type": "entity", "external_key": "${n}", "entity_type": "permit", "canonical_name": "Permit ${n}", "attributes": {"n": ${n}}}`;
    const lines = join(ops.configFolder, 'permits.ndjson');
    const good = Array.from({ length: 1_200 }, (_, n) => permit(n));
    await writeFile(lines, good.join('\n'));
    const ingest = ['data', 'ingest', '--feed', 'Permits', '-o', 'json'];
    const first = await ops([...ingest, lines]);
    expect([first.code, first.json()]).toMatchObject([0, { created: 1_200, refused: 0 }]);
    expect(first.stderr.trim().split('\n')).toHaveLength(3);
    const split = permit(5_000).replace('Permit 5000', 'Permit\u2028of\u20295000');
    const rounded = permit(6_000).replace('"n": 6000', '"n": 9007199254740993');
    const mixed = [permit(1), 'no JSON', '', '{"type": "entity"}', split, rounded].join('\r\n');
    const second = await ops(ingest, { input: mixed });
    expect(second.code).toBe(1);
    expect(second.json()).toMatchObject({ created: 1, unchanged: 1, refused: 3 });
    expect(second.json().errors).toMatchObject([
      { line: 2, reason: 'is not JSON' },
      { line: 4 },
      { line: 6, reason: expect.stringContaining('send it as a string') },
    ]);
    expect((await ops(['data', 'feeds', 'delete', 'Permits'])).code).toBe(0);
  });

  soakTest('data API keys and their usage', async () => {
    const create = [
      'data',
      'keys',
      'create',
      'Warehouse',
      '--mode',
      'test',
      '--scope',
      'feeds:read',
    ];
    const { secret } = (await ops([...create, '-o', 'json'])).json();
    const ask = () => fetch(`${service.apiUrl}/v1/feeds`, { headers: { 'x-api-key': secret } });
    expect((await ask()).status).toBe(200);
    const used = (await ops(['data', 'usage', '-o', 'json'])).json();
    expect(used.keys).toMatchObject([{ name: 'Warehouse', requests: { used: 1 } }]);
    expect((await ops(['data', 'keys', 'list'])).stdout).not.toContain(secret);
    expect((await ops(['data', 'keys', 'revoke', 'Warehouse'])).code).toBe(0);
    expect((await ask()).status).toBe(401);
  });
});
