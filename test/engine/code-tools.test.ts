import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { buildApp } from '#api/app.ts';
import type { App } from '#api/deps.ts';
import { unrestricted } from '#shared/contract/policies/policy.ts';
import { replacePolicies } from '#shared/db/policies/policies.ts';
import { chain, useEngine } from '#test/support/engine.ts';

let app: App;
const engine = useEngine();
beforeAll(() => void (app = buildApp(engine.deps)));
afterAll(() => app.close());

async function call(method: 'POST' | 'PUT', url: string, body: unknown) {
  const headers = { 'content-type': 'application/json' };
  const answer = await app.inject({ method, url, payload: JSON.stringify(body), headers });
  return { status: answer.statusCode, body: answer.json() };
}

const source = `export default ({ amounts }) => {
  console.log('adding', amounts.length);
  return amounts.reduce((sum, each) => sum + each, 0);
};`;
const input_schema = {
  type: 'object',
  properties: { amounts: { type: 'array', items: { type: 'number' } } },
  required: ['amounts'],
};
const sum = { kind: 'code', source, input_schema };

describe('a custom tool that is code', () => {
  test('computes with its arguments, in a test and in a step, which keeps its log', async () => {
    const { status, body: tool } = await call('POST', '/api/tools', { name: 'sum', ...sum });
    expect([status, tool.endpoint_url, tool.read_only, tool.language]).toEqual([
      201,
      '',
      true,
      'javascript',
    ]);
    const tried = await call('POST', `/api/tools/${tool.id}/test`, {
      arguments: { amounts: [1, 2] },
    });
    expect(tried.body).toMatchObject({ ok: true, result: { result: 3 }, status: null });
    const refused = await call('POST', `/api/tools/${tool.id}/test`, {
      arguments: { amounts: 'x' },
    });
    expect(refused.status).toBe(400);

    const node = { id: 'a', kind: 'tool', tool_name: 'custom:sum', params: { amounts: '{list}' } };
    const run = await engine.until(await engine.start(chain(node), { list: [4, 5] }), ['success']);
    expect(run.output).toEqual({ a: { result: 9 } });
    expect(run.steps[0]).toMatchObject({ log: 'adding 2\n' });

    const agent = {
      ...{ id: 'ask', kind: 'agent', tools: ['custom:sum'] },
      mock: {
        turns: [{ calls: [{ tool: 'custom:sum', arguments: { amounts: [7] } }] }],
        output: 'done',
      },
    };
    const asked = await engine.until(await engine.start(chain(agent)), ['success']);
    expect(asked.steps.find((step) => step.tool_call !== undefined)).toMatchObject({
      status: 'success',
      output: { result: 7 },
      log: 'adding 1\n',
    });

    const changed = await call('PUT', `/api/tools/${tool.id}`, {
      source: 'export default () => ({ n: 1 });',
    });
    expect(changed.status).toBe(200);
    const next = await engine.until(await engine.start(chain(node), { list: [] }), ['success']);
    expect(next.output).toEqual({ a: { n: 1 } });
  });

  test('is parsed when it is saved, and has only what code has', async () => {
    const problemOf = async (fields: object) => {
      const { status, body } = await call('POST', '/api/tools', { name: 'other', ...fields });
      return [status, JSON.stringify(body)];
    };
    const problems: [fields: object, text: string][] = [
      [
        { kind: 'code', source: 'export default (;' },
        'source: Unexpected token (line 1, column 17)',
      ],
      [{ kind: 'code' }, "is required with kind 'code'"],
      [
        { ...sum, endpoint_url: 'https://tools.example' },
        "is only allowed with kind 'http' or 'mcp'",
      ],
      [{ ...sum, headers: { a: 'b' } }, "is only allowed with kind 'http' or 'mcp'"],
      [{ ...sum, timeout_seconds: 11 }, "timeout_seconds must be at most 10 with kind 'code'"],
      [{ source }, "is required with kind 'http'"],
      [{ source, endpoint_url: 'https://tools.example' }, "is only allowed with kind 'code'"],
    ];
    for (const [fields, text] of problems) {
      expect(await problemOf(fields)).toEqual([400, expect.stringContaining(text)]);
    }
  });

  test('has a timeout of processor time, 10 s by default, which its executions keep', async () => {
    const endless = { kind: 'code', source: 'export default () => { for (;;); };', retry_count: 0 };
    const { body: tool } = await call('POST', '/api/tools', { name: 'endless', ...endless });
    expect(tool.timeout_seconds).toBe(10);
    const put = (body: object) => call('PUT', `/api/tools/${tool.id}`, body);
    expect((await put({ timeout_seconds: 60 })).body.detail).toBe(
      "Invalid body: timeout_seconds must be at most 10 with kind 'code'",
    );
    expect((await put({ timeout_seconds: 1 })).body.timeout_seconds).toBe(1);
    const node = { id: 'a', kind: 'tool', tool_name: 'custom:endless', params: {} };
    const run = await engine.until(await engine.start(chain(node)), ['failed'], 60_000);
    expect(run.steps[0]).toMatchObject({
      error_kind: 'timeout',
      error: expect.stringContaining('It used more than 1 s of processor time'),
    });
    const http = { name: 'http', endpoint_url: 'https://tools.example/x' };
    expect((await call('POST', '/api/tools', http)).body.timeout_seconds).toBe(60);
  }, 90_000);

  test('is refused by a policy about code, also under its own name', async () => {
    const { body: tool } = await call('POST', '/api/tools', { name: 'held', ...sum });
    const policy = (tools: object[]) =>
      replacePolicies(engine.db, engine.actor, { ...unrestricted, tools } as never);
    await policy([{ tool: 'code', allowed_workflow_ids: [] }]);
    const node = { id: 'a', kind: 'tool', tool_name: 'custom:held', params: { amounts: [1] } };
    const run = await engine.until(await engine.start(chain(node)), ['failed']);
    await policy([]);
    expect(run.steps[0]).toMatchObject({ error_kind: 'policy' });
    expect(tool.kind).toBe('code');
  });
});
