import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Message } from '#client/index.ts';
import { conversationLines } from '#cli/conversation.ts';
import { exactJson } from '#cli/output.ts';
import { type Service, startService } from '#test/support/served-api.ts';
import { createOps, type Ops } from './ops.ts';

const execute = promisify(execFile);
let service: Service;
let ops: Ops;
beforeAll(async () => {
  service = await startService();
  ops = await createOps({ OPS_API_URL: service.apiUrl });
  const call = (expression: string) => ({ tool: 'json_transform', arguments: { expression } });
  const turns = [{ calls: [call('20 + 1'), call('1 / 0')], cost_usd: 0.25 }, { output: 'done' }];
  const node = {
    id: 'triage',
    kind: 'agent',
    prompt: 'Handle it',
    tools: [{ name: 'json_transform', approval: "args.expression == '20 + 1'" }],
    mock: { turns },
  };
  const file = join(ops.configFolder, 'agent.json');
  await writeFile(file, JSON.stringify({ name: 'Agent', graph: { nodes: [node], edges: [] } }));
  expect(await ops(['workflows', 'apply', '-f', file])).toMatchObject({ code: 0 });
});
afterAll(() => service.close());

/** Starts a run, which waits for the approval of one call. */
async function paused(): Promise<string> {
  const { code, stdout } = await ops(['run', 'Agent', '--watch']);
  expect(code).toBe(6);
  return JSON.parse(stdout.trim().split('\n').at(-1)!).run_id;
}
const read = async (runId: string): Promise<any> =>
  (await ops(['runs', 'show', runId, '-o', 'json'])).json();
const ended = async (runId: string): Promise<any> => {
  await ops(['runs', 'watch', runId]);
  const { steps } = await read(runId);
  return steps.find((step: { step_key: string }) => step.step_key === 'triage/1.1');
};

describe('a tool call that waits for approval', () => {
  test('is shown with the schema of its arguments', async () => {
    const runId = await paused();
    const shown = await ops(['gate', runId, '-o', 'json']);
    expect(shown.json()).toMatchObject({
      ...{ run_id: runId, step_key: 'triage/1.1', status: 'open', can_decide: true },
      ...{ arguments: { expression: '20 + 1' }, tool: { schema: expect.any(Object) } },
    });
    expect((await ops(['gate', runId, '--node', 'other'])).stderr).toBe(
      `ops: Run ${runId} does not wait at gate 'other'\n`,
    );
    await ops(['approve', runId, '--yes']);
    await ended(runId);
    expect(await ops(['gate', runId])).toMatchObject({ code: 1 });
    const decided = await ops(['gate', runId, '--step', 'triage/1.1', '-o', 'json']);
    expect(decided.json()).toMatchObject({ status: 'approved', can_decide: false });
  });

  test('is not decided without a confirmation', async () => {
    const runId = await paused();
    for (const command of ['approve', 'reject']) {
      const { code, stdout, stderr } = await ops([command, runId]);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toMatch(/^ops: (Approve|Reject) the call of json_transform with --yes: .*\n$/);
    }
    expect((await read(runId)).status).toBe('paused');

    const reject = ['reject', runId, '--yes', '--reason', 'too much'];
    expect(await ops(reject)).toMatchObject({ code: 0 });
    expect(await ended(runId)).toMatchObject({
      status: 'failed',
      decision: { approved: false, reason: 'too much' },
    });
  });

  test('is sent with other arguments, from the command line or a file', async () => {
    const edited = { expression: "'edited'" };
    const file = join(ops.configFolder, 'arguments.json');
    await writeFile(file, JSON.stringify(edited));
    for (const given of [JSON.stringify(edited), `@${file}`]) {
      const runId = await paused();
      const { digest } = (await read(runId)).pending_gate.tool_call;
      const approve = ['approve', runId, '--yes', '--digest', digest, '--arguments', given];
      expect(await ops(approve)).toMatchObject({ code: 0, stderr: '' });
      expect(await ended(runId)).toMatchObject({ output: 'edited' });
    }
  });

  test('is not decided by another digest, or with invalid arguments', async () => {
    const runId = await paused();
    const digest = `sha256:${'0'.repeat(64)}`;
    const other = await ops(['approve', runId, '--yes', '--digest', digest]);
    expect([other.code, other.stderr]).toEqual([1, expect.stringContaining('(409)')]);
    const wrong = await ops(['approve', runId, '--yes', '--arguments', '{"expression": 5}']);
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('(400)')]);
    for (const given of ['[]', '{', '@/does/not/exist.json']) {
      expect(await ops(['approve', runId, '--yes', '--arguments', given])).toMatchObject({
        code: 2,
      });
    }
    await ops(['cancel', runId]);
  });

  test('is shown on a terminal before the question', async () => {
    const runId = await paused();
    const answer = async (key: string): Promise<string> => {
      const approve = [process.execPath, ops.script, 'approve', runId].join(' ');
      const command = `stty cols 80 rows 24; ${approve}`;
      const { stdout } = await execute(
        'sh',
        ['-c', `(sleep 2; printf '${key}') | script -qec '${command}' /dev/null || true`],
        { env: { ...ops.env, NO_COLOR: '1' } },
      );
      return stdout;
    };
    const refused = await answer('\\r');
    expect(refused).toContain('"expression": "20 + 1"');
    expect(refused).toContain('Approve this call?');
    expect(refused).toContain('Nothing was sent');
    expect(await answer('y')).toMatch(/status +(running|success)/);
    expect(await ended(runId)).toMatchObject({ output: 21 });
  });
});

describe('a conversation', () => {
  test('is drawn under the steps of its run', async () => {
    const runId = await paused();
    await ops(['approve', runId, '--yes']);
    await ended(runId);
    const { stdout } = await ops(['runs', 'show', runId]);
    const lines = stdout.split('\n').map((line) => line.trimEnd());
    expect(lines.filter((line) => /^triage +agent/.test(line))).toHaveLength(1);
    expect(lines.filter((line) => /^triage\//.test(line))).toEqual([]);
    const drawn = lines.slice(lines.indexOf('triage (triage)'));
    expect(drawn).toEqual([
      'triage (triage)',
      '  user: Handle it',
      '  turn 1: $0.25',
      '    → json_transform {"expression":"20 + 1"}',
      '      approved by Owner',
      '      21',
      '    → json_transform {"expression":"1 / 0"}',
      expect.stringMatching(/^ {6}error: .*division by zero/),
      '  turn 2: $0',
      '    done',
      '',
    ]);
  });

  test('shows the arguments that were sent instead', async () => {
    const runId = await paused();
    await ops(['approve', runId, '--yes', '--arguments', '{"expression":"20 + 2"}']);
    await ended(runId);
    const { stdout } = await ops(['runs', 'show', runId]);
    const lines = stdout.split('\n').map((line) => line.trimEnd());
    const at = lines.indexOf('    → json_transform {"expression":"20 + 1"}');
    expect(lines.slice(at + 1, at + 4)).toEqual([
      '      sent instead: {"expression":"20 + 2"}',
      '      approved by Owner',
      '      22',
    ]);
  });

  test('is cut to the width, without control characters', () => {
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

describe('a gate with rules', () => {
  const start = async (name: string, settings: object): Promise<string> => {
    const node = { id: 'review', kind: 'human_gate', ...settings };
    const file = join(ops.configFolder, `${name}.json`);
    await writeFile(file, JSON.stringify({ name, graph: { nodes: [node], edges: [] } }));
    expect(await ops(['workflows', 'apply', '-f', file])).toMatchObject({ code: 0 });
    const { stdout } = await ops(['run', name, '--watch']);
    return JSON.parse(stdout.trim().split('\n').at(-1)!).run_id;
  };

  test('refuses the member who started the run', async () => {
    const runId = await start('Four eyes', { not_the_starter: true });
    const { code, stderr } = await ops(['approve', runId]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('cannot be decided by the member who started the run'),
    ]);
  });

  test('says how many have approved, and takes the input of its form', async () => {
    const input_schema = { type: 'object', required: ['amount'] };
    const runId = await start('Two of us', { required: 2, input_schema });
    expect((await ops(['approve', runId])).stderr).toContain('input.amount is missing');
    const { stdout } = await ops(['approve', runId, '-i', 'amount=5']);
    expect(stdout).toContain('review (1 of 2 approved)');
  });
});
