import { spawn } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { chain, gated } from '#bench/graphs.ts';
import { type Service, startService } from '#test/support/served-api.ts';
import { eventually } from '#test/support/engine.ts';
import { soakTest } from '#test/support/soak.ts';
import { createOps, type Ops } from './ops.ts';

const password = 'open sesame, please';
let service: Service;
let ops: Ops;
beforeAll(async () => {
  service = await startService({ AUTH_MODE: 'required', OWNER_PASSWORD: password });
  ops = await createOps();
  const login = ['login', '--email', 'owner@localhost', '--url', service.apiUrl];
  const { stderr, code } = await ops(login, { input: `${password}\n` });
  expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
  await applyGraph('Chain', chain(3));
  await applyGraph('Gated', gated());
  await applyGraph('Failing', {
    nodes: [{ id: 'boom', kind: 'agent', mock: { fail_times: 1 } }],
    edges: [],
  });
  await applyGraph('Slow', slow);
  await applyGraph('Agent', { nodes: [agent], edges: [] });
});
afterAll(() => service.close());

async function applyGraph(name: string, graph: object): Promise<void> {
  const applied = await ops(['apply', '-f', '-'], { input: JSON.stringify({ name, graph }) });
  expect(applied).toMatchObject({ code: 0 });
}
const slow = {
  nodes: [{ id: 'wait', kind: 'tool', tool_name: 'delay', params: { seconds: 600 } }],
  edges: [],
};
const call = (expression: string) => ({ tool: 'json_transform', arguments: { expression } });
const agent = {
  id: 'triage',
  kind: 'agent',
  prompt: 'Handle it',
  tools: [{ name: 'json_transform', approval: "args.expression == '20 + 1'" }],
  mock: {
    turns: [{ calls: [call('20 + 1'), call('1 / 0')], cost_usd: 0.25 }, { output: 'done' }],
  },
};
const codeOf = async (...args: string[]): Promise<number> => (await ops(args)).code;
const json = async (...args: string[]): Promise<any> => (await ops([...args, '-o', 'json'])).json();

describe('signing in', () => {
  test('stores the session, readable only by its owner, and not the password', async () => {
    const folder = join(ops.configFolder, 'ops');
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect((await stat(join(folder, 'profiles.json'))).mode & 0o777).toBe(0o600);
    const text = await readFile(join(folder, 'profiles.json'), 'utf8');
    expect(text).not.toContain(password);
    expect(JSON.parse(text).profiles.default).toMatchObject({ email: 'owner@localhost' });
    expect(await json('whoami')).toMatchObject({ email: 'owner@localhost' });
  });

  test('with a wrong password stores nothing', async () => {
    const login = ['login', '--email', 'owner@localhost', '--profile', 'other'];
    const ended = await ops([...login, '--url', service.apiUrl], { input: 'wrong password\n' });
    expect(ended.code).toBe(1);
    expect(ended.stderr).not.toContain('wrong password');
    expect(await json('profiles')).toHaveLength(1);
  });

  test('with an API key creates a separate profile, until logout', async () => {
    const made = await json('keys', 'create', 'CI', '--role', 'viewer');
    const login = ['login', '--api-key', '--profile', 'ci', '--url', service.apiUrl];
    const ended = await ops(login, { input: `${made.secret}\n` });
    expect(ended.code).toBe(0);
    expect(ended.stdout + ended.stderr).not.toContain(made.secret);
    expect((await ops(['keys', 'list', '--profile', 'default'])).stdout).not.toContain(made.secret);
    const refused = await ops(['budgets', 'create', 'x', '--limit', '1']);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("requires the 'manage_workspace' permission");
    expect(await codeOf('use', 'default')).toBe(0);
    expect(await codeOf('runs', 'list', '--profile', 'ci')).toBe(0);
    expect(await codeOf('keys', 'revoke', made.id)).toBe(0);
    expect(await codeOf('runs', 'list', '--profile', 'ci')).toBe(1);
    expect(await codeOf('logout', '--profile', 'ci')).toBe(0);
    expect((await ops(['runs', 'list', '--profile', 'ci'])).stderr).toContain('no profile');
  });

  test('is suggested when no one is signed in', async () => {
    const stranger = await createOps({ OPS_API_URL: service.apiUrl });
    const { code, stderr } = await stranger(['usage']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('ops login')]);
  });
});

describe('a run', () => {
  test('can be waited for, with an exit code for each outcome', async () => {
    expect(await codeOf('run', 'Chain', '--wait')).toBe(0);
    expect(await codeOf('run', 'Nobody')).toBe(1);
    expect(await codeOf('run', 'Failing', '--wait')).toBe(4);
    for (const [how, says] of [
      ['--wait', 'it continues'],
      ['--watch', 'continues after 0.5 s'],
    ] as const) {
      const late = await ops(['run', 'Slow', how, '--wait-timeout', '0.5']);
      expect([late.code, late.stderr]).toEqual([5, expect.stringContaining(says)]);
    }
    for (const { id } of await json('runs', 'list', '--workflow', 'Slow')) {
      expect(await codeOf('cancel', id)).toBe(0);
    }
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
    const made = await json('keys', 'create', 'Watcher', '--role', 'editor');
    const env = { OPS_API_URL: service.apiUrl, OPS_API_KEY: made.secret };
    const { code, stdout } = await ops(['run', 'Chain', '--watch'], { env });
    expect(code).toBe(0);
    expect(stdout).toContain('"status":"success"');
  });

  test('is approved, rejected, resumed and shown', async () => {
    const paused = await json('run', 'Gated', '--wait');
    expect(await codeOf('runs', 'watch', paused.id)).toBe(6);
    expect(await codeOf('approve', paused.id, '-i', 'note=fine')).toBe(0);
    expect(await codeOf('runs', 'watch', paused.id)).toBe(0);
    expect(await codeOf('approve', paused.id)).toBe(1);
    const other = await json('run', 'Gated', '--wait');
    expect(await codeOf('reject', other.id, '--reason', 'not now')).toBe(0);
    expect(await codeOf('runs', 'watch', other.id)).toBe(4);
    expect((await json('runs', 'show', other.id)).error).toMatch(/: not now$/);
    const failed = await json('run', 'Failing', '--wait');
    expect(await codeOf('resume', failed.id)).toBe(0);
    expect(await codeOf('runs', 'watch', failed.id)).toBe(0);
    const { stdout } = await ops(['runs', 'show', failed.id]);
    expect(stdout).toMatch(/boom +agent +success/);
    expect((await ops(['runs', 'show', 'run_unknown'])).stderr).toBe('ops: Run not found (404)\n');
  });
});

describe('on a terminal', () => {
  const inQuotes = (args: string[]): string =>
    [process.execPath, ops.script, ...args].map((word) => `'${word}'`).join(' ');
  /** Runs the command on a pseudo-terminal and answers its question. Its output has the errors, too. */
  const onTerminal = async (
    args: string[],
    { env = {}, answer }: { env?: Record<string, string>; answer?: [RegExp, string] } = {},
  ): Promise<string> => {
    const command = `stty cols 80 rows 24; ${inQuotes(args)}`;
    const child = spawn('script', ['-qec', command, '/dev/null'], { env: { ...ops.env, ...env } });
    const [question, key] = answer ?? [];
    let text = '';
    let isAnswered = false;
    child.stdout.setEncoding('utf8').on('data', (part: string) => {
      text += part;
      if (isAnswered || question?.test(text) !== true) return;
      isAnswered = true;
      child.stdin.write(key);
    });
    await new Promise((resolve) => child.once('close', resolve));
    return text;
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
    expect(await codeOf('cancel', /run_\w+/.exec(text)?.[0] ?? '')).toBe(0);
    expect(await ended).toBe(4);
    expect(text).toContain('└─ ');
    expect(text).toContain(`${escape}32m✔`);
    expect(text).toMatch(/\u001b\[\d+A\u001b\[J/);
    expect(text).not.toContain('"type"');
  });

  test('NO_COLOR disables colors and redrawing', async () => {
    const env = { NO_COLOR: '1' };
    const text = await onTerminal(['run', 'Chain', '--watch'], { env });
    expect(text).not.toContain(escape);
    expect(text).toContain('"status":"success"');
    expect(await onTerminal(['workflows', 'list'])).toContain(escape);
    expect((await ops(['workflows', 'list'])).stdout).not.toContain(escape);
  });

  test('prompts for a password without echoing it', async () => {
    const login = ['login', '--email', 'owner@localhost', '--profile', 'asked'];
    const answer: [RegExp, string] = [/Password/, `${password}\r`];
    const text = await onTerminal([...login, '--url', service.apiUrl], { answer });
    expect(text).toContain("as profile 'asked'");
    expect(text).not.toContain('sesame');
    await ops(['logout', '--profile', 'asked']);
    await ops(['use', 'default']);
  });

  test('what an answer sets in motion is shown before the question, with the input', async () => {
    const [gate, pay] = [
      { id: 'review', kind: 'human_gate', prompt: 'Pay {amount}?' },
      { id: 'pay', kind: 'agent', mock: { output: 'paid' }, prompt: 'Pay {amount}' },
    ];
    const edges = [{ source: 'review', target: 'pay', condition_value: 'true' }];
    await applyGraph('Paying', { nodes: [gate, pay], edges });
    const { id } = await json('run', 'Paying', '-i', 'amount=100', '--wait');
    const decide = (name: string, key: string, ...args: string[]) =>
      onTerminal([name, id, ...args], {
        env: { NO_COLOR: '1' },
        answer: [/(Approve|Reject)\?[^]*No/, key],
      });
    const refused = await decide('reject', '\r');
    expect(refused).toMatch(/If you reject\s+Nothing is executed/);
    expect(refused).toContain('Nothing was sent');
    expect(await json('runs', 'show', id)).toMatchObject({ status: 'paused' });
    const approved = await decide('approve', 'y', '-i', 'amount=5');
    expect(approved).toMatch(/review: Pay 100\?\s+If you approve\s+pay: asks a model, always/);
    expect(approved).toContain('{"prompt":"Pay 5"}');
    expect(approved).toMatch(/status +(running|success)/);
    expect(await codeOf('runs', 'watch', id)).toBe(0);
  });

  test('a tool call is shown before the question, and its conversation once it is decided', async () => {
    const { id } = await json('run', 'Agent', '--wait');
    const decide = (key: string) =>
      onTerminal(['approve', id, '--arguments', '{"expression": "20 + 2"}'], {
        env: { NO_COLOR: '1' },
        answer: [/Approve this call\?[^]*No/, key],
      });
    const refused = await decide('\r');
    expect(refused).toContain('"expression": "20 + 1"');
    expect(refused).toContain('arguments to send instead');
    expect(refused).toContain('Nothing was sent');
    expect(await json('runs', 'show', id)).toMatchObject({ status: 'paused' });
    expect(await decide('y')).toMatch(/status +(running|success)/);
    expect(await codeOf('runs', 'watch', id)).toBe(0);
    const { stdout } = await ops(['runs', 'show', id]);
    const lines = stdout.split('\n').map((line) => line.trimEnd());
    expect(lines.filter((line) => /^triage +agent/.test(line))).toHaveLength(1);
    expect(lines.filter((line) => /^triage\//.test(line))).toEqual([]);
    expect(lines.slice(lines.indexOf('triage (triage)'))).toEqual([
      'triage (triage)',
      '  user: Handle it',
      '  turn 1: $0.25',
      '    → json_transform {"expression":"20 + 1"}',
      '      sent instead: {"expression":"20 + 2"}',
      '      approved by Owner',
      '      22',
      '    → json_transform {"expression":"1 / 0"}',
      expect.stringMatching(/^ {6}error: .*division by zero/),
      '  turn 2: $0',
      '    done',
      '',
    ]);
  });
});

test('the audit log can be verified, and a wrong filter is refused with its name', async () => {
  expect(await codeOf('audit', 'verify')).toBe(0);
  expect(await codeOf('audit', '--since', 'yesterday')).toBe(1);
  const wrong = await ops(['members', 'invite', 'ada@example.com', '--name', 'Ada', '--role', 'x']);
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('role')]);
});
