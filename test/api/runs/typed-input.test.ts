import { describe, expect, test } from '@jest/globals';
import { sql } from '#shared/db/pool.ts';
import { findRunnable } from '#shared/operations/runs/find-runnable.ts';
import { runTick } from '#shared/operations/schedules/ticks.ts';
import { oneStep, useTestApi } from '#test/api/test-api.ts';

const api = useTestApi();

const schema = {
  type: 'object',
  properties: {
    ticket: { type: 'string', minLength: 3 },
    priority: { type: 'integer', minimum: 1 },
    kind: { enum: ['refund', 'question'] },
    lines: { type: 'array', items: { type: 'object', required: ['sku'] } },
  },
  required: ['ticket'],
  additionalProperties: false,
};

const create = async (input_schema: unknown = schema) =>
  api.call('POST', '/api/workflows', { name: 'Typed', graph: oneStep, input_schema });
const made = async (input_schema: unknown = schema): Promise<string> =>
  (await create(input_schema)).body.id;
const run = (id: string, input: unknown, headers?: Record<string, string>) =>
  api.call('POST', `/api/workflows/${id}/runs`, input, headers);
const change = (id: string, body: object) => api.call('PUT', `/api/workflows/${id}`, body);
const runsOf = async (id: string) =>
  (await api.call('GET', `/api/workflows/${id}/runs`)).body.runs.length;
const refused = (problem: string) => ({
  status: 400,
  body: { detail: `Invalid input: ${problem}` },
});

describe('the input of a run', () => {
  const cases: [string, unknown, string][] = [
    ['without a field', {}, 'input.ticket is missing: add it'],
    ['of another type', { ticket: 7 }, 'input.ticket must be a text, not a number'],
    ['too short', { ticket: 'x' }, 'input.ticket must have at least 3 characters'],
    [
      'off the list',
      { ticket: 'abc', kind: 'x' },
      'input.kind must be one of "refund", "question"',
    ],
    ['too small', { ticket: 'abc', priority: 0 }, 'input.priority must be >= 1'],
    ['wrong deep inside', { ticket: 'abc', lines: [{}] }, 'input.lines.0.sku is missing: add it'],
    [
      'with a misspelled field',
      { ticket: 'abc', prioritty: 1 },
      "input.prioritty is not a field of the schema; did you mean 'priority'?",
    ],
    [
      'with an extra field',
      { ticket: 'abc', x: 1 },
      'input.x is not a field of the schema: remove it',
    ],
    [
      'wrong in two places',
      { priority: '1' },
      'input.ticket is missing: add it; input.priority must be a whole number, not a text',
    ],
  ];
  test("can have fields with names of JavaScript's own members", async () => {
    const id = await made({
      type: 'object',
      properties: { constructor: { type: 'string' } },
      required: ['toString'],
      additionalProperties: { type: 'number' },
    });
    expect(await run(id, {})).toMatchObject(refused('input.toString is missing: add it'));
    expect(await run(id, { toString: 1, constructor: 1 })).toMatchObject(
      refused('input.constructor must be a text'),
    );
    for (const input of [{ toString: 1 }, { toString: 1, constructor: 'x' }]) {
      expect(await run(id, input)).toMatchObject({ status: 201 });
    }
  });

  test('can have a schema of any draft, with limits of any size', async () => {
    const { statusCode, body } = await api.app.inject({
      method: 'POST',
      url: '/api/workflows',
      headers: { 'content-type': 'application/json' },
      payload: `{"name": "Large", "graph": ${JSON.stringify(oneStep)}, "input_schema": {
        "$schema": "http://json-schema.org/draft-04/schema", "type": "object", "required": ["id", "id"],
        "properties": {"id": {"type": "integer", "maximum": 9223372036854775807, "exclusiveMaximum": true}}}}`,
    });
    expect([statusCode, body]).toEqual([201, expect.any(String)]);
    const { id } = JSON.parse(body) as { id: string };
    expect(await run(id, { id: 1 })).toMatchObject({ status: 201 });
    expect(await run(id, { id: 'x' })).toMatchObject(
      refused('input.id must be a whole number, not a text'),
    );
  });

  test('has a schema whose limits are representable numbers, like the form of a gate', async () => {
    const send = async (maximum: string) => {
      const limited = `{"type": "object", "properties": {"id": {"type": "integer", "maximum": ${maximum}}}}`;
      const answers = [];
      for (const [where, payload] of [
        ['input_schema', `{"name": "Large", "graph": {}, "input_schema": ${limited}}`],
        [
          'graph.nodes.0.input_schema',
          `{"name": "Large", "graph": {"nodes": [{"id": "ok", "kind": "human_gate", "input_schema": ${limited}}], "edges": []}}`,
        ],
      ] as const) {
        const headers = { 'content-type': 'application/json' };
        const url = '/api/workflows';
        const sent = await api.app.inject({ method: 'POST', url, headers, payload });
        answers.push([where, sent.statusCode, sent.json().detail ?? null] as const);
      }
      return answers;
    };
    for (const [, ...answer] of await send('9223372036854775807')) {
      expect(answer).toEqual([201, null]);
    }
    for (const [where, ...answer] of await send('1e400')) {
      expect(answer).toEqual([
        400,
        `Invalid body: ${where}.properties.id.maximum is a number too large to hold; send it as a string`,
      ]);
    }
  });

  test.each(cases)(
    '%s is refused with its path, and nothing is stored',
    async (_, input, problem) => {
      const id = await made();
      expect(await run(id, input)).toMatchObject(refused(problem));
      expect(await runsOf(id)).toBe(0);
    },
  );

  test('that matches starts a run, with and without an Idempotency-Key', async () => {
    const id = await made();
    const key = { 'idempotency-key': 'one' };
    const first = await run(id, { ticket: 'abc', priority: 2 }, key);
    expect(first.status).toBe(201);
    // A stricter version applies to new runs only.
    await change(id, { input_schema: { ...schema, required: ['ticket', 'kind'] } });
    const again = await run(id, { ticket: 'abc', priority: 2 }, key);
    expect([again.status, again.body.id]).toEqual([200, first.body.id]);
    expect(await run(id, { ticket: 'abc' })).toMatchObject(
      refused('input.kind is missing: add it'),
    );
    expect(await runsOf(id)).toBe(1);
  });

  test('is validated against the current version, even by a process that has read an earlier one', async () => {
    const id = await made(null);
    const other = await api.another();
    expect((await other.call('POST', `/api/workflows/${id}/runs`, {})).status).toBe(201);
    await change(id, { input_schema: schema });
    expect(await other.call('POST', `/api/workflows/${id}/runs`, {})).toMatchObject(
      refused('input.ticket is missing: add it'),
    );
    await change(id, { input_schema: null });
    expect((await other.call('POST', `/api/workflows/${id}/runs`, {})).status).toBe(201);
    await other.app.close();
  });

  test('is refused after an invalid graph', async () => {
    const id = await made();
    await change(id, { graph: { nodes: [], edges: [] } });
    expect((await run(id, {})).body.detail).toMatch(/^Workflow graph invalid/);
  });

  test('with many values only lists the first problem', async () => {
    const id = await made({ properties: { n: { type: 'array', items: { type: 'integer' } } } });
    const n = Array.from({ length: 5_000 }, () => 'x');
    expect(await run(id, { n })).toMatchObject(
      refused('input.n.0 must be a whole number, not a text'),
    );
  });
});

describe('an input schema', () => {
  const cases: [string, unknown, RegExp][] = [
    [
      'of another type',
      { type: 'array' },
      /^Invalid body: input_schema must have the type 'object'/,
    ],
    [
      'with an unsupported keyword',
      { properties: { age: { minimun: 1 } } },
      /input_schema has an unsupported keyword 'minimun' at input_schema\.properties\.age; did you mean 'minimum'\?$/,
    ],
    ['with one that is no keyword', { example: 1, foo: {} }, /unsupported keyword 'foo'|'example'/],
    ['with a pattern that RE2 lacks', { properties: { a: { pattern: '(?=x)' } } }, /pattern/],
    ['with a reference to elsewhere', { $ref: 'https://example.com/s.json' }, /can't resolve/],
    [
      'that no input fits',
      { required: ['a'], additionalProperties: false },
      /input_schema fits no input, since input_schema\.required has 'a', which additionalProperties: false forbids: add it/,
    ],
    ['that is not an object', true, /^Invalid body: input_schema must be a JSON object/],
  ];
  test.each(cases)('%s is refused everywhere it can be saved', async (_, wrong, detail) => {
    const id = await made();
    const template = { name: 'T', graph: oneStep };
    const kept = (await api.call('POST', '/api/templates', template)).body.id;
    const answers = [
      await create(wrong),
      await change(id, { input_schema: wrong }),
      await api.call('POST', '/api/templates', { ...template, input_schema: wrong }),
      await api.call('PUT', `/api/templates/${kept}`, { input_schema: wrong }),
    ];
    for (const { status, body } of answers) {
      expect(status).toBe(400);
      expect(body.detail).toMatch(detail);
    }
  });

  test('is part of the version: a changed schema makes a new version, the same one does not', async () => {
    const id = await made();
    const reordered = Object.fromEntries(Object.entries(schema).reverse());
    expect((await change(id, { input_schema: reordered })).body.version).toBe(1);
    const wider = structuredClone(schema);
    wider.properties.priority.minimum = 0;
    const { body } = await change(id, { input_schema: wider });
    expect([body.version, body.input_schema]).toEqual([2, wider]);
    expect((await change(id, { input_schema: null, graph: oneStep })).body.version).toBe(3);
    const version = async (n: number) =>
      (await api.call('GET', `/api/workflows/${id}/versions/${n}`)).body.input_schema;
    expect([await version(1), await version(2), await version(3)]).toEqual([schema, wider, null]);
    const diff = async (from: number, to: number) =>
      (await api.call('GET', `/api/workflows/${id}/versions/diff?from=${from}&to=${to}`)).body;
    expect(await diff(1, 2)).toMatchObject({
      nodes: { added: [], removed: [], changed: [] },
      input_schema: { from: schema, to: wider, paths: ['properties.priority.minimum'] },
    });
    expect((await diff(2, 3)).input_schema).toEqual({ from: wider, to: null, paths: [] });
    expect((await diff(3, 3)).input_schema).toBeNull();
    const [entry] = (await api.call('GET', '/api/audit?limit=1')).body.logs;
    expect(entry.details).toEqual({ changed: ['input_schema'], version: 3 });
  });

  test('is copied into a template and back', async () => {
    const id = await made();
    const { body } = await api.call('POST', '/api/templates', { workflow_id: id });
    expect(body.input_schema).toEqual(schema);
    const copy = await api.call('POST', `/api/templates/${body.id}/instantiate`);
    expect(copy.body.input_schema).toEqual(schema);
    await api.call('PUT', `/api/templates/${body.id}`, { input_schema: null });
    const open = await api.call('POST', `/api/templates/${body.id}/instantiate`);
    expect(open.body.input_schema).toBeNull();
  });

  test('makes validation warn about fields that it lacks', async () => {
    const typo = { id: 'answer', kind: 'agent', prompt: 'Answer {tikcet} for {customer}' };
    const warnings = async (input_schema: unknown) => {
      const graph = { nodes: [typo], edges: [] };
      const { id } = (await api.call('POST', '/api/workflows', { name: 'x', graph, input_schema }))
        .body;
      const report = (await api.call('POST', `/api/workflows/${id}/validate`)).body;
      expect(report.valid).toBe(true);
      return report.warnings.map(({ message }: { message: string }) => message);
    };
    expect(await warnings(schema)).toEqual([
      "Node 'answer' reads 'tikcet', which neither the input nor a node sets; did you mean 'ticket'?",
      "Node 'answer' reads 'customer', which neither the input nor a node before it sets",
    ]);
    expect(await warnings({ ...schema, additionalProperties: true })).toEqual([]);
    expect(await warnings(null)).toEqual([]);
  });
});

describe('a webhook', () => {
  test('refuses an event that does not match, and accepts it once it does', async () => {
    const id = await made();
    const { url } = (await api.call('POST', `/api/workflows/${id}/webhook`)).body;
    await api.call('PUT', `/api/workflows/${id}/webhook/config`, { dedup_window_seconds: 600 });
    const send = (event: unknown) =>
      api.call('POST', new URL(url).pathname, event, { 'x-service-event-id': 'one' });
    expect(await send({})).toMatchObject(refused('input.ticket is missing: add it'));
    expect(await send([1])).toMatchObject(
      refused(
        'input.ticket is missing: add it; input.payload is not a field of the schema: remove it',
      ),
    );
    expect((await send({ ticket: 'abc' })).body.status).toBe('pending');
    // A duplicate is reported as one, even with an input that does not fit.
    expect((await send({})).body.status).toBe('duplicate');
    expect(await runsOf(id)).toBe(1);
  });
});

describe('a schedule', () => {
  const schedule = (workflow_id: string, fields: object = {}) =>
    api.call('POST', '/api/schedules', { workflow_id, cron: '0 0 1 1 *', ...fields });
  const missing = refused('input.ticket is missing: add it');

  test('with an input that does not match cannot be saved or enabled', async () => {
    const id = await made();
    expect(await schedule(id)).toMatchObject(missing);
    const { status, body } = await schedule(id, { input: { ticket: 'abc' } });
    expect(status).toBe(201);
    const put = (fields: object) => api.call('PUT', `/api/schedules/${body.id}`, fields);
    expect(await put({ input: {} })).toMatchObject(missing);
    await change(id, { input_schema: { ...schema, required: ['ticket', 'kind'] } });
    // It can be renamed and disabled while it does not fit.
    expect((await put({ name: 'New', enabled: false })).status).toBe(200);
    expect(await put({ enabled: true })).toMatchObject(refused('input.kind is missing: add it'));
    const fits = { input: { ticket: 'abc', kind: 'refund' } };
    expect((await put({ enabled: true, ...fits })).status).toBe(200);
  });

  test('whose input no longer matches is refused when triggered, and its tick is skipped', async () => {
    const id = await made();
    const { minute, due } = thisMinute();
    const cron = `${minute} * * * *`;
    const { body } = await schedule(id, { cron, input: { ticket: 'abc' } });
    await change(id, { input_schema: { ...schema, required: ['kind'] } });
    const problem = 'input.kind is missing: add it';
    const trigger = await api.call('POST', `/api/schedules/${body.id}/trigger`);
    expect(trigger).toMatchObject(refused(problem));
    await api.db.query(sql.unsafe`
      UPDATE schedules SET effective_from = now() - interval '1 hour' WHERE id = ${body.id}
    `);
    const tick = { workspace_id: api.workspaceId, schedule_id: body.id, timezone: 'UTC' };
    const result = await runTick({ ...api, findRunnable }, { ...tick, cron, due_at: due });
    expect(result).toEqual({ skipped: `Invalid input: ${problem}` });
    const { last_skip: skip } = (await api.call('GET', `/api/schedules/${body.id}`)).body;
    expect(skip).toEqual({ at: due, reason: `Invalid input: ${problem}` });
    expect(await runsOf(id)).toBe(0);
  });
});

// At the end: the workspace's next job waits after one that took long.
describe('a schema that causes endless work', () => {
  test('refuses inputs with the reason', async () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 40 }, (_, at) => [
        `d${at}`,
        at === 39
          ? { type: 'object' }
          : { allOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }] },
      ]),
    );
    const id = await made({ $ref: '#/$defs/d0', $defs });
    expect(await run(id, {})).toMatchObject({
      status: 400,
      body: { detail: expect.stringMatching(/^The input cannot be checked: .* takes more than/) },
    });
  });
});

const thisMinute = () => {
  const now = new Date();
  now.setUTCSeconds(0, 0);
  return { minute: now.getUTCMinutes(), due: now.toISOString() };
};
