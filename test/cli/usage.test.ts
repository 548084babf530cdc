import { readFileSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Message } from '#client/index.ts';
import { candidates } from '#cli/completion.ts';
import { conversationLines } from '#cli/conversation.ts';
import { createProgram } from '#cli/program.ts';
import { readInput } from '#cli/input.ts';
import { createOutput, exactJson, printable } from '#cli/output.ts';
import { treeLines } from '#cli/watch.ts';
import { type FakeServer, sendJson, startHttpServer } from '#test/fakes/http-server.ts';
import { createOps, type Ops } from './ops.ts';

let ops: Ops;
let server: FakeServer;
let answer: { status: number; body: unknown; type?: string } = { status: 200, body: [] };
beforeAll(async () => {
  server = await startHttpServer((_request, response) => {
    if (answer.type === undefined) return sendJson(response, answer.status, answer.body);
    response.writeHead(answer.status, { 'content-type': answer.type });
    response.end(String(answer.body));
  });
  ops = await createOps({ OPS_API_URL: server.url });
});
afterAll(() => server.close());

describe('the exit code', () => {
  test.each([
    [[], 2],
    [['nonsense'], 2],
    [['run'], 2],
    [['run', 'x', '--wait-timeout', 'soon'], 2],
    [['run', 'x', '-i', '/does/not/exist.json'], 2],
    [['drafts', 'save', 'x', '-f', 'x.json', '--base-version', 'first'], 2],
    [['usage', '--output', 'xml'], 2],
    [['completion', 'powershell'], 2],
    [['--help'], 0],
    [['runs', 'list', '--help'], 0],
    [['usage', '--url', 'http://127.0.0.1:1'], 3],
    [['usage', '--url', 'nowhere'], 1],
  ])('for %j is %d', async (args, code) => {
    answer = { status: 200, body: [] };
    const ended = await ops(args);
    expect({ ...ended, code: ended.code }).toMatchObject({ code });
    if (code !== 0) expect(ended.stderr).toMatch(/\S/);
  });

  test.each([400, 401, 402, 403, 404, 409, 429, 500])(
    'for response status %d is 1',
    async (status) => {
      answer = { status, body: { detail: 'Told\nby \u001b[31mthe service' } };
      const { code, stdout, stderr } = await ops(['runs', 'list'], {
        env: { OPS_API_KEY: 'ops_x' },
      });
      expect(code).toBe(1);
      expect(stdout).toBe('');
      expect(stderr).toMatch(/^ops: Told by {1,2}\[31mthe service \(\d+\)[^\n]*\n$/);
    },
  );

  test('for an HTML response is 1, with a one-line message', async () => {
    answer = { status: 500, body: '<html>\n<h1>Oops</h1>\n</html>', type: 'text/html' };
    const { code, stderr } = await ops(['usage']);
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'ops: Internal Server Error (500)\n' });
  });

  test('for a service that hangs is 3', async () => {
    const hanging = await startHttpServer(() => undefined);
    const { code, stderr } = await ops(['usage', '--timeout', '0.3', '--url', hanging.url]);
    await hanging.close();
    expect({ code, stderr }).toEqual({ code: 3, stderr: 'ops: No answer within 0.3 s\n' });
  });
});

describe('profiles', () => {
  test('that others can read are refused', async () => {
    const own = await createOps();
    const file = join(own.configFolder, 'ops', 'profiles.json');
    await mkdir(join(own.configFolder, 'ops'));
    await writeFile(file, '{"current": "default", "profiles": {}}');
    await chmod(file, 0o644);
    const { code, stderr } = await own(['profiles']);
    expect(code).toBe(1);
    expect(stderr).toContain('can be read by others');
  });

  test('that are not JSON are reported', async () => {
    const own = await createOps();
    await mkdir(join(own.configFolder, 'ops'));
    await writeFile(join(own.configFolder, 'ops', 'profiles.json'), '{', { mode: 0o600 });
    expect(await own(['usage'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is not JSON'),
    });
  });
});

describe('a credential', () => {
  const stored = async (): Promise<Ops> => {
    const own = await createOps();
    answer = { status: 200, body: {} };
    const login = ['login', '--api-key', '--url', server.url];
    expect(await own(login, { input: 'ops_stored\n' })).toMatchObject({ code: 0 });
    return own;
  };
  const last = () => server.seen.at(-1)!.headers;

  test('is sent only to the address it was stored with', async () => {
    const own = await stored();
    await own(['usage']);
    expect(last()).toMatchObject({ 'x-api-key': 'ops_stored' });
    const other = await startHttpServer((_request, response) => sendJson(response, 200, {}));
    await own(['usage', '--url', other.url]);
    await own(['usage'], { env: { OPS_API_URL: other.url } });
    expect(other.seen).toHaveLength(2);
    for (const { headers } of other.seen) expect(headers).not.toHaveProperty('x-api-key');
    await other.close();
  });

  test('from the environment overrides a stored one', async () => {
    const own = await stored();
    await own(['usage'], { env: { OPS_API_KEY: 'ops_other' } });
    expect(last()).toMatchObject({ 'x-api-key': 'ops_other' });
    await own(['usage'], { env: { OPS_TOKEN: 'session' } });
    expect(last()).toMatchObject({ authorization: 'Bearer session' });
    expect(last()).not.toHaveProperty('x-api-key');
  });

  test('is never printed', async () => {
    const own = await stored();
    const outputs = await Promise.all([
      own(['profiles']),
      own(['profiles', '-o', 'json']),
      own(['--help']),
      own(['usage', '--url', 'nowhere'], { env: { OPS_API_KEY: 'ops_stored' } }),
      own(['usage'], { env: { OPS_API_KEY: 'ops_stored\u0007' } }),
    ]);
    for (const { stdout, stderr } of outputs) expect(stdout + stderr).not.toContain('ops_stored');
  });
});

test('no command has an option with the name of a global one, which would take precedence', () => {
  const program = createProgram();
  const longs = (command: Command) => command.options.map(({ long }) => long);
  const below = (command: Command): Command[] =>
    command.commands.flatMap((each) => [each, ...below(each)]);
  const hidden = below(program).filter((each) =>
    longs(each).some((long) => longs(program).includes(long)),
  );
  expect(hidden.map((each) => each.name())).toEqual([]);
});

test('docs/cli.md names every command', () => {
  const text = readFileSync(join(import.meta.dirname, '../../docs/cli.md'), 'utf8');
  const names = createProgram().commands.map((command) => command.name());
  for (const name of names.filter((each) => each !== '__complete')) {
    expect(text).toMatch(new RegExp(`\\bops ${name}\\b|, \`${name}\``));
  }
});

describe('completion', () => {
  test.each([
    [['w'], ['webhooks', 'whoami', 'workflows']],
    [
      ['workflows', 'd'],
      ['delete', 'diff'],
    ],
    [['workflows', 'delete', ''], []],
    [
      ['run', 'x', '--wa'],
      ['--wait', '--wait-timeout', '--watch'],
    ],
    [
      ['runs', 'list', '--p'],
      ['--parent', '--profile'],
    ],
    [['nonsense', 'wor'], ['workflows']],
  ])('for %j offers %j', (words, expected) => {
    expect(candidates(createProgram(), words)).toEqual(expected);
  });
});

describe('an input', () => {
  test.each([
    [
      ['a=1', 'b=text', 'c={"d":[true]}', 'e=', 'f=x=y'],
      { a: 1, b: 'text', c: { d: [true] }, e: '', f: 'x=y' },
    ],
    [['a=1', 'a=2'], { a: 2 }],
    [[], {}],
    [['a="1"'], { a: '1' }],
  ])('from %j is %j', async (given, expected) => {
    expect(await readInput(given)).toEqual(expected);
  });

  test('merges files and pairs, later ones overriding earlier ones', async () => {
    const file = join(ops.configFolder, 'input.json');
    await writeFile(file, '{"a": 1, "b": 2}');
    expect(await readInput([file, 'b=3'])).toEqual({ a: 1, b: 3 });
    await writeFile(file, '[1]');
    await expect(readInput([file])).rejects.toThrow('must contain a JSON object');
    await writeFile(file, '{');
    await expect(readInput([file])).rejects.toThrow('is not JSON');
  });
});

describe('output', () => {
  test('contains no terminal control characters', () => {
    expect(printable('a\u001b[2Jb\r\nc\u009bd\u007f')).toBe('a [2Jb c d ');
    const name = 'a\u001b]0;x\u0007\u202egnp.exe\u2066';
    const written = (format: 'table' | 'json', colour = false): string => {
      let text = '';
      const output = createOutput({ write: (part) => (text += part) }, { format, colour });
      output.list([{ name }], { Name: (row) => row.name });
      output.record({ name });
      output.note(`${output.paint('red', 'Deleted')} ${name}\nNext`);
      return text;
    };
    for (const text of [written('table'), written('json')]) {
      expect(text).toContain('gnp.exe');
      expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202a-\u202e\u2066-\u2069]/);
    }
    // JSON is still the same value, and our own colours and line ends stay.
    expect(JSON.parse(/^\[[^]*?^\]/m.exec(written('json'))![0])).toEqual([{ name }]);
    expect(written('table', true)).toContain('\u001b[31mDeleted\u001b[0m a ]0;x gnp.exe \nNext');
  });

  test('of a run fits the width and indents loop iterations', () => {
    const step = {
      label: 'A step with a name that is too long to be shown',
      status: 'success',
      duration_ms: 1_250,
      error: null,
    };
    const run: any = {
      id: 'run_1',
      workflow_name: 'Research',
      status: 'running',
      cost_usd: 0,
      error: null,
      pending_gates: [],
      steps: [
        { ...step, node_id: 'a', step_key: 'a' },
        { ...step, node_id: 'b', step_key: 'b#2' },
        { ...step, node_id: 'c', step_key: 'c#2.1' },
      ],
    };
    const part = { ...step, node_id: 'b', parent_step_key: 'b#2', turn: 1 };
    const call = { tool: 'send_email', index: 1 };
    const agent: any = {
      ...run,
      steps: [
        ...run.steps,
        { ...part, step_key: 'b#2/1' },
        { ...part, step_key: 'b#2/1.1', tool_call: call },
      ],
    };
    const parts = treeLines(agent, 80).slice(-2);
    expect(parts.map((line) => line.replaceAll(/\u001b\[\d+m/g, ''))).toEqual([
      '├─     ✔ turn 1 1.3 s',
      '└─       ✔ send_email 1.3 s',
    ]);

    const plain = treeLines(run, 30).map((line) => line.replaceAll(/\u001b\[\d+m/g, ''));
    expect(plain.every((line) => line.length <= 30)).toBe(true);
    expect(plain.map((line) => line.indexOf('✔'))).toEqual([-1, 3, 5, 7]);
    expect(plain[1]).toBe('├─ ✔ A step with a name that i');
    expect(plain[3]!.startsWith('└─ ')).toBe(true);
  });

  test('of a conversation is cut to the width, without control characters', () => {
    const messages: Message[] = [
      { role: 'user', text: 'a\nb\u001b[2J' },
      {
        role: 'assistant',
        turn: 1,
        step_key: 'a/1',
        text: '',
        calls: [
          { index: 1, step_key: null, tool: 'x', arguments: 'no JSON', refusal: 'invalid' },
          {
            index: 2,
            step_key: 'a/1.2',
            tool: 'y',
            arguments: { a: 'z'.repeat(99) },
            refusal: null,
          },
        ],
        model: null,
        usage: { input_tokens: 12, output_tokens: 3 },
        cost_usd: 0,
        at: '2026-11-01T00:00:00Z',
      },
      {
        role: 'tool',
        turn: 1,
        index: 1,
        step_key: null,
        tool: 'x',
        content: 'invalid',
        is_error: true,
      },
    ];
    const paint = (_colour: string, text: string): string => text;
    const agent = { step_key: 'a', label: 'A' };
    expect(conversationLines(agent, messages, { steps: [], columns: 24, paint })).toEqual([
      'A (a)',
      '  user: a b [2J',
      '  turn 1: $0, 12 tokens…',
      '    → x no JSON',
      '      error: invalid',
      '    → y {"a":"zzzzzzzzz…',
      '      no result yet',
    ]);
  });

  test('shows hidden characters of arguments as escapes', () => {
    expect(exactJson({ a: 'x\u202Ey\u009b' })).toBe('{\n  "a": "x\\u202ey\\u009b"\n}');
  });
});
