import { execFile } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { buildApp } from '#api/app.ts';
import type { App } from '#api/deps.ts';
import { checkSignature } from '#api/inbound/signature.ts';
import { sql } from '#shared/db/pool.ts';
import { dropPastEvents } from '#shared/db/inbound/webhooks.ts';
import { findRunnable } from '#shared/operations/runs/find-runnable.ts';
import { createLogger } from '#shared/platform/logger.ts';
import { oneStep, startTestApi, type TestApi } from '#test/api/test-api.ts';

// Events arrive over real sockets at an application that requires credentials everywhere else and logs at `trace`.

let api: TestApi;
let receiver: App;
/** The same service in open mode, with the same log. */
let office: App;
let port: number;
let logged = '';
let answered = '';
const secrets: string[] = [];

let workflowId: string;
let secret: string;

beforeAll(async () => {
  api = await startTestApi();
  const log = createLogger(
    { name: 'test', level: 'trace' },
    { write: (line) => void (logged += line) },
  );
  const required = { ...api.config, auth: { ...api.config.auth, mode: 'required' as const } };
  receiver = buildApp({ ...api, log, config: required, findRunnable });
  office = buildApp({ ...api, log, findRunnable });
  await receiver.listen({ host: '127.0.0.1', port: 0 });
  ({ port } = receiver.server.address() as { port: number });
});
afterAll(async () => {
  await receiver.close();
  await office.close();
  await api.stop();
});
beforeEach(async () => {
  workflowId = await define();
  secret = await enable(workflowId);
});

const define = async (graph: unknown = oneStep): Promise<string> =>
  (await api.call('POST', '/api/workflows', { name: 'x', graph })).body.id as string;
const enable = async (id: string): Promise<string> => {
  const { url } = (await api.call('POST', `/api/workflows/${id}/webhook`)).body;
  secrets.push((url as string).slice(-32));
  return secrets.at(-1)!;
};
const configure = async (settings: object): Promise<void> => {
  const { status } = await api.call('PUT', `/api/workflows/${workflowId}/webhook/config`, settings);
  expect(status).toBe(200);
};
const run = (statement: ReturnType<typeof sql.fragment>) => api.db.query(sql.unsafe`${statement}`);
const count = (statement: ReturnType<typeof sql.fragment>): Promise<number> =>
  api.db.oneFirst(sql.type(z.object({ n: z.number() }))`SELECT count(*) AS n ${statement}`);
const runs = () => count(sql.fragment`FROM runs WHERE workflow_id = ${workflowId}`);

interface Answer {
  status: number;
  /** The whole response, without the lines that differ between requests. */
  text: string;
  body: any;
}

/** Sends raw bytes, so that no client normalizes them. */
async function send(
  target: string,
  body: string | Buffer = '',
  headers: readonly string[] = [],
  method = 'POST',
): Promise<Answer> {
  const bytes = Buffer.from(body);
  const socket = connect(port, '127.0.0.1');
  const head = [
    `${method} ${target} HTTP/1.1`,
    'Host: ops.example.com',
    'Connection: close',
    ...(headers.some((line) => /^transfer-encoding/i.test(line))
      ? []
      : [`Content-Length: ${bytes.length}`]),
    ...headers,
  ];
  // A refusal may arrive, and the connection close, while the body is still being sent.
  socket.on('error', () => undefined);
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  socket.write(bytes);
  let text = '';
  for await (const chunk of socket) text += String(chunk);
  answered += text;
  const [, status = '', json = ''] = /^HTTP\/1\.1 (\d+)[^]*?\r\n\r\n([^]*)$/.exec(text) ?? [];
  return {
    status: Number(status),
    text: text.replace(/^(?:x-request-id|date): .*\r\n/gim, ''),
    body: JSON.parse(json),
  };
}

const target = () => `/api/hooks/${workflowId}/${secret}`;
const event = (body?: string | Buffer, ...headers: string[]) => send(target(), body, headers);
/** The run that an event started. */
const started = async (answer: Promise<Answer>): Promise<any> => {
  const { status, body } = await answer;
  expect([status, body]).toEqual([
    201,
    { run_id: expect.stringMatching(/^run_/), status: 'pending' },
  ]);
  return (await api.call('GET', `/api/runs/${body.run_id}`)).body;
};
const expectDuplicate = async (answer: Promise<Answer>, of: { id: string }): Promise<void> => {
  const { status, body } = await answer;
  expect([status, body]).toEqual([201, { run_id: of.id, status: 'duplicate', deduplicated: true }]);
};
const expectRefused = async (
  answer: Promise<Answer>,
  status: number,
  detail: string | RegExp,
): Promise<void> => {
  const sent = await answer;
  expect([sent.status, sent.body]).toEqual([
    status,
    { detail: typeof detail === 'string' ? detail : expect.stringMatching(detail) },
  ]);
  expect(sent.text).toContain('\r\ncontent-type: application/json; charset=utf-8\r\n');
};

const seconds = () => Math.floor(Date.now() / 1_000);
const hmac = (timestamp: number | string, body: string | Buffer, key = secret) =>
  createHmac('sha256', key).update(`${timestamp}.`).update(body).digest('hex');
const signed = (body: string | Buffer, timestamp: number | string = seconds(), key = secret) =>
  event(
    body,
    `X-Service-Timestamp: ${timestamp}`,
    `X-Service-Signature: sha256=${hmac(timestamp, body, key)}`,
  );

describe('an event', () => {
  test('starts a run with its body as input and no creator', async () => {
    const { id, ...started_ } = await started(event('{"ticket":"The printer is on fire"}'));
    expect(started_).toMatchObject({
      workflow_id: workflowId,
      status: 'pending',
      trigger: 'webhook',
      input: { ticket: 'The printer is on fire' },
      created_by: null,
    });
    const [newest] = (await api.call('GET', '/api/audit?limit=1')).body.logs;
    expect(newest).toMatchObject({
      action: 'webhook_run',
      target_type: 'workflow',
      target_id: workflowId,
      actor_id: null,
      actor_name: null,
      details: { run_id: id },
    });
  });

  test.each<[string, unknown]>([
    ['', {}],
    ['{}', {}],
    [' {"a": [1, {"b": null}]}\r\n', { a: [1, { b: null }] }],
    ['[1,2]', { payload: [1, 2] }],
    ['"text"', { payload: 'text' }],
    ['7', { payload: 7 }],
    ['true', { payload: true }],
    ['null', { payload: null }],
    ['{"constructor":"x","hasOwnProperty":1}', { constructor: 'x', hasOwnProperty: 1 }],
  ])('with body %j has input %j', async (body, input) => {
    expect((await started(event(body))).input).toEqual(input);
  });

  test.each([
    ' ',
    '\r\n\t',
    '{',
    'nonsense',
    'undefined',
    "{'a':1}",
    '{"a":1}}',
    'a=1&b=2',
    '<event/>',
    '\ufeff',
    '\ufeff\ufeff{}',
    Buffer.from([0x22, 0xff, 0xfe, 0x22]),
    Buffer.from([0x1f, 0x8b, 0x08, 0x00]),
    Buffer.from('{"a":1}', 'utf16le'),
    Buffer.from([0]),
  ])('that is not JSON is refused (%j)', async (body) => {
    await expectRefused(event(body), 400, 'Body must be JSON (or empty)');
    expect(await runs()).toBe(0);
  });

  test.each<[string, RegExp]>([
    ['{"a":"x\\u0000"}', /^Invalid body: a contains a NUL/],
    ['{"a\\u0000":1}', /^Invalid body: has a key that contains a NUL/],
    ['{"__proto__":{"admin":true}}', /^Invalid body: must not have the key '__proto__'/],
    ['[{"constructor":{"prototype":{}}}]', /constructor\.prototype/],
    [`${'['.repeat(50_000)}${']'.repeat(50_000)}`, /^Invalid body: nested deeper than 100/],
  ])('that cannot be stored is refused (%#)', async (body, detail) => {
    await expectRefused(event(body), 400, detail);
    expect(await runs()).toBe(0);
  });

  test.each([
    [],
    ['Content-Type:'],
    ['Content-Type: application/json'],
    ['Content-Type: text/plain'],
    ['Content-Type: application/x-www-form-urlencoded'],
    ['Content-Type: multipart/form-data; boundary=x'],
    ['Content-Type: application/json\ttext/plain'],
    ['Content-Type:    application/json'],
    ['Content-Type: application/json garbage'],
    ['Content-Type: application/json; charset=latin1; ;;'],
    ['Content-Type: application/json, text/plain'],
    ['Content-Type: garbage'],
    ['Content-Type: /'],
    ['Content-Type: text/plain', 'Content-Type: application/json'],
  ])('can have any content type (%j)', async (...headers) => {
    expect((await started(event('{"a":"ü"}', ...headers))).input).toEqual({ a: 'ü' });
    await expectRefused(event('{', ...headers), 400, 'Body must be JSON (or empty)');
    expect((await started(event('', ...headers))).input).toEqual({});
  });

  test('can be chunked', async () => {
    const chunked = (text: string) => event(text, 'Transfer-Encoding: chunked');
    expect((await started(chunked('5\r\n{"a":\r\n2\r\n1}\r\n0\r\n\r\n'))).input).toEqual({ a: 1 });
    expect((await started(chunked('0\r\n\r\n'))).input).toEqual({});
  });

  test('of 1 MB is accepted, and a larger one is refused', async () => {
    const sized = (bytes: number) => `"${'x'.repeat(bytes - 2)}"`;
    await expectRefused(event(sized(1_048_577)), 413, 'The body is larger than 1 MB');
    expect((await started(event(sized(1_048_576)))).input.payload).toHaveLength(1_048_574);
  });

  test('can have a query, which is ignored', async () => {
    await started(send(`${target()}?source=a&__proto__=1&x=%00`, '{}'));
  });

  test('needs no credential, and a wrong one is ignored', async () => {
    await started(event('{}', 'X-API-Key: nonsense', 'Authorization: Bearer nonsense'));
  });

  test('for an invalid workflow is refused', async () => {
    workflowId = await define({ nodes: [], edges: [] });
    secret = await enable(workflowId);
    await expectRefused(event('{}'), 400, /^Workflow graph invalid: /);
  });
});

describe('an invalid webhook URL', () => {
  const other = 'f'.repeat(32);

  test('gets the same response, byte for byte, for any mistake', async () => {
    const reference = await send(`/api/hooks/${workflowId}/${other}`, '{}');
    expect([reference.status, reference.body]).toEqual([404, { detail: 'Not found' }]);
    const never = await define();
    const old = secret;
    secret = await enable(workflowId);
    const disabled = await define();
    const gone = await enable(disabled);
    await api.call('DELETE', `/api/workflows/${disabled}/webhook`);
    const escaped = `%${secret.charCodeAt(0).toString(16)}${secret.slice(1)}`;
    const wrong = [
      `/api/hooks/wf_00000000000000000000000000/${secret}`,
      `/api/hooks/${never}/${secret}`,
      `/api/hooks/${never}/${other}`,
      `/api/hooks/${disabled}/${gone}`,
      `/api/hooks/${workflowId}/${old}`,
      `/api/hooks/${workflowId}/${gone}`,
      `/api/hooks/${workflowId}/${secret.slice(1)}`,
      `/api/hooks/${workflowId}/${secret}0`,
      `/api/hooks/${workflowId}/${secret.slice(1)}A`,
      `/api/hooks/${workflowId}/${secret.slice(0, 31)}G`,
      `/api/hooks/${workflowId}/${'%C3%A9'.repeat(16)}`,
      `/api/hooks/${workflowId}/${'0'.repeat(5_000)}`,
      `/api/hooks/${workflowId}/${secret}/`,
      `/api/hooks/${workflowId}/${secret}//`,
      `/api/hooks/${workflowId}/${secret}/x`,
      `/api/hooks/${workflowId}/${secret};x`,
      `/api/hooks/${workflowId}/${secret}%00`,
      `/api/hooks/${workflowId}/${secret}%20`,
      `/api/hooks/${workflowId}/${escaped}`,
      `/api/hooks/${workflowId}/%E0%A4%A`,
      `/api/hooks/${workflowId}//${secret}`,
      `/api/hooks//${workflowId}/${secret}`,
      `/api/hooks/./${workflowId}/${secret}`,
      `/api/hooks/${workflowId}/`,
      `/api/hooks/${workflowId}`,
      `/api/hooks/${workflowId.toUpperCase()}/${secret}`,
      `/api/hooks/%77${workflowId.slice(1)}/${secret}`,
      `/api/hooks/${workflowId}?/${secret}`,
      `/api/hooks/__proto__/${secret}`,
      `/api/hooks/`,
      `/api/h%6foks/${workflowId}/${secret}`,
    ];
    for (const path of wrong) {
      expect([path, (await send(path, '{}')).text]).toEqual([path, reference.text]);
    }
    expect(await runs()).toBe(0);
    await started(event('{}'));
  });

  test('is refused before the body, content type or signature is checked', async () => {
    const wrong = `/api/hooks/${workflowId}/${other}`;
    const reference = await send(wrong, '{}');
    await configure({ require_signature: true });
    for (const [body, ...headers] of [
      ['{'],
      ['\ufeff'],
      ['{"__proto__":1}', 'Content-Type: multipart/form-data'],
      ['{}', 'Content-Type: application/json\ttext/plain'],
      ['x'.repeat(3_000), 'Content-Type: garbage'],
      ['{}', 'X-Service-Signature: sha256=x', 'X-Service-Timestamp: NaN'],
      ['{}', 'Content-Encoding: gzip', 'X-API-Key: nonsense'],
    ] as const) {
      expect((await send(wrong, body, headers)).text).toBe(reference.text);
    }
    const large = await send(wrong, `"${'x'.repeat(1_100_000)}"`);
    expect(large.status).toBe(404);
  });

  test('gets 405 for other methods, like a valid one', async () => {
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
      const right = await send(target(), '', [], method);
      const wrong = await send(`/api/hooks/${workflowId}/${other}`, '', [], method);
      expect([method, right.status, right.text]).toEqual([method, 405, wrong.text]);
    }
  });
});

describe('a signature', () => {
  beforeEach(async () => configure({ require_signature: true }));

  test('admits the event it was made for', async () => {
    expect((await started(signed('{"a": "ü"}'))).input).toEqual({ a: 'ü' });
    expect((await started(signed(''))).input).toEqual({});
    expect((await started(signed('[1]'))).input).toEqual({ payload: [1] });
  });

  test('is accepted if made as documented', async () => {
    const page = readFileSync(join(import.meta.dirname, '../../../docs/triggers.md'), 'utf8');
    const example = /```sh\n(URL=[^]*?)```/.exec(page)?.[1] ?? '';
    const script = example.replace(/^URL=.*$/m, `URL=http://127.0.0.1:${port}${target()}`);
    expect(script).not.toBe(example);
    const { stdout } = await promisify(execFile)('sh', ['-euc', script]);
    const { run_id: id, ...rest } = JSON.parse(stdout) as { run_id: string };
    expect(rest).toEqual({ status: 'pending' });
    const { input } = (await api.call('GET', `/api/runs/${id}`)).body;
    expect(input).toEqual({ event_id: 'evt_1042', ticket: 'The printer is on fire' });
  });

  test('covers the bytes, not the parsed JSON', async () => {
    const of = (made: string, sent: string) => {
      const now = seconds();
      return event(
        sent,
        `X-Service-Timestamp: ${now}`,
        `X-Service-Signature: sha256=${hmac(now, made)}`,
      );
    };
    const mismatch = 'X-Service-Signature does not match';
    await expectRefused(of('{"a":1}', '{"a": 1}'), 401, mismatch);
    await expectRefused(of('{}', ''), 401, mismatch);
    await expectRefused(of('', '{}'), 401, mismatch);
    await expectRefused(of('{}', '\ufeff{}'), 401, mismatch);
  });

  test.each<[string, (now: number) => string[]]>([
    ['both missing', () => []],
    ['no timestamp', (now) => [`X-Service-Signature: sha256=${hmac(now, '{}')}`]],
    ['no signature', (now) => [`X-Service-Timestamp: ${now}`]],
    ...(
      [
        ['empty', () => ''],
        ['without its scheme', (hex) => hex],
        ['of another scheme', (hex) => `sha512=${hex}`],
        ['with its scheme in upper case', (hex) => `SHA256=${hex}`],
        ['truncated', (hex) => `sha256=${hex.slice(0, -1)}`],
        ['cut to nothing', () => 'sha256='],
        ['too long', (hex) => `sha256=${hex}0`],
        ['in upper case', (hex) => `sha256=${hex.toUpperCase()}`],
        ['in base64', (hex) => `sha256=${Buffer.from(hex, 'hex').toString('base64')}`],
        ['with a space inside', (hex) => `sha256= ${hex}`],
        ['twice in one', (hex) => `sha256=${hex}, sha256=${hex}`],
        ['all zeros', () => `sha256=${'0'.repeat(64)}`],
        [
          'with one digit changed',
          (hex) => `sha256=${hex.slice(0, -1)}${hex.endsWith('0') ? 1 : 0}`,
        ],
      ] as [string, (hex: string) => string][]
    ).map(([name, make]): [string, (now: number) => string[]] => [
      `signature ${name}`,
      (now) => [`X-Service-Timestamp: ${now}`, `X-Service-Signature: ${make(hmac(now, '{}'))}`],
    ]),
    [
      'the signature sent twice',
      (now) => [
        `X-Service-Timestamp: ${now}`,
        `X-Service-Signature: sha256=${hmac(now, '{}')}`,
        `X-Service-Signature: sha256=${hmac(now, '{}')}`,
      ],
    ],
    [
      'the timestamp sent twice',
      (now) => [
        `X-Service-Timestamp: ${now}`,
        `X-Service-Timestamp: ${now}`,
        `X-Service-Signature: sha256=${hmac(now, '{}')}`,
      ],
    ],
    [
      'the timestamp of another signature',
      (now) => [
        `X-Service-Timestamp: ${now - 1}`,
        `X-Service-Signature: sha256=${hmac(now, '{}')}`,
      ],
    ],
    [
      'another key',
      (now) => [
        `X-Service-Timestamp: ${now}`,
        `X-Service-Signature: sha256=${hmac(now, '{}', '0'.repeat(32))}`,
      ],
    ],
    [
      'the bytes of the secret as the key',
      (now) => {
        const key = createHmac('sha256', Buffer.from(secret, 'hex')).update(`${now}.{}`);
        return [`X-Service-Timestamp: ${now}`, `X-Service-Signature: sha256=${key.digest('hex')}`];
      },
    ],
  ])('is refused if invalid: %s', async (_name, headers) => {
    await expectRefused(event('{}', ...headers(seconds())), 401, /^X-Service-/);
    expect(await runs()).toBe(0);
  });

  test.each([
    'NaN',
    'Infinity',
    '1e400',
    '1e9',
    '-1',
    '+1',
    '0x65000000',
    '1_700_000_000',
    '',
    '01700000000',
    '9'.repeat(400),
    '１７００００００００',
  ])('is refused if the timestamp is not a plain number: %j', async (timestamp) => {
    await expectRefused(
      signed('{}', timestamp),
      401,
      'X-Service-Timestamp is missing or malformed',
    );
  });

  test('is refused with a fractional or millisecond timestamp', async () => {
    await expectRefused(signed('{}', `${seconds()}.0`), 401, /malformed/);
    await expectRefused(signed('{}', Date.now()), 401, /malformed|too far/);
  });

  test('is valid exactly up to the tolerance, in both directions', () => {
    const toleranceSeconds = 300;
    const now = 1_700_000_000;
    const check = (timestamp: number) => {
      const headers = {
        'x-service-timestamp': String(timestamp),
        'x-service-signature': `sha256=${hmac(timestamp, '{}')}`,
      };
      checkSignature(headers, Buffer.from('{}'), { secret, toleranceSeconds, now });
    };
    for (const off of [-300, -299, 0, 299, 300]) expect(() => check(now + off)).not.toThrow();
    for (const off of [-301, 301, -now]) expect(() => check(now + off)).toThrow(/too far from now/);
  });

  test('follows the tolerance of the webhook', async () => {
    const tooFar = 'X-Service-Timestamp is too far from now';
    // The clock may tick between signing and checking, so no refused timestamp is exactly at the limit.
    await configure({ timestamp_tolerance_seconds: 60 });
    await started(signed('{}', seconds() - 55));
    await started(signed('{}', seconds() + 60));
    await expectRefused(signed('{}', seconds() - 61), 401, tooFar);
    await expectRefused(signed('{}', seconds() + 65), 401, tooFar);
    await configure({ timestamp_tolerance_seconds: 300 });
    await started(signed('{}', seconds() - 61));
  });

  test('is checked before the body', async () => {
    for (const body of ['{', '\ufeff', ' ', '{"__proto__":1}']) {
      await expectRefused(event(body), 401, /^X-Service-/);
    }
    await expectRefused(signed('{'), 400, 'Body must be JSON (or empty)');
    await expectRefused(signed('\ufeff'), 400, 'Body must be JSON (or empty)');
    await expectRefused(signed('{"__proto__":1}'), 400, /^Invalid body/);
  });

  test('is checked before duplicates are detected', async () => {
    await configure({ dedup_window_seconds: 60 });
    await started(signed('{"id":1}'));
    await expectRefused(event('{"id":1}'), 401, /^X-Service-/);
  });

  test('with the old secret is refused after a rotation', async () => {
    const old = secret;
    secret = await enable(workflowId);
    await expectRefused(signed('{}', seconds(), old), 401, /does not match/);
    await started(signed('{}'));
  });

  test('is ignored if not required', async () => {
    await configure({ require_signature: false });
    await started(event('{}', 'X-Service-Timestamp: NaN', 'X-Service-Signature: nonsense'));
  });
});

describe('a repeated event', () => {
  beforeEach(async () => configure({ dedup_window_seconds: 3_600 }));
  const eventId = (id: string) => `X-Service-Event-Id: ${id}`;

  test('starts no second run, even with another body', async () => {
    const first = await started(event('{"a":1}', eventId('evt_1')));
    await expectDuplicate(event('{"a":1}', eventId('evt_1')), first);
    await expectDuplicate(event('{"a":2}', eventId('evt_1')), first);
    await expectDuplicate(event('', eventId('evt_1')), first);
    expect(await runs()).toBe(1);
    const [newest] = (await api.call('GET', '/api/audit?limit=1')).body.logs;
    expect(newest.details).toMatchObject({ run_id: first.id, event_id: 'evt_1' });
    await started(event('{"a":1}', eventId('evt_2')));
  });

  test('is identified by the header, then the configured field, then `id`', async () => {
    await configure({ event_id_field: 'delivery' });
    const byHeader = await started(event('{"delivery":"b","id":"c"}', eventId('a')));
    const byField = await started(event('{"delivery":"b","id":"c"}'));
    const byId = await started(event('{"id":"c"}'));
    await expectDuplicate(event('{"delivery":"x","id":"y"}', eventId('a')), byHeader);
    await expectDuplicate(event('{"delivery":"b","id":"z"}'), byField);
    await expectDuplicate(event('{"id":"c","event_id":"q"}'), byId);
    await expectDuplicate(event('{"delivery":"","id":"c"}', 'X-Service-Event-Id:'), byId);
    await expectDuplicate(event('{"delivery":null,"id":"c"}'), byId);
    await expectDuplicate(event('{}', eventId('c')), byId);
  });

  test('can have an integer ID', async () => {
    const first = await started(event('{"id":42}'));
    await expectDuplicate(event('{"id":42}'), first);
    await expectDuplicate(event('{"id":"42"}'), first);
    await started(event('{"id":43}'));
  });

  test.each([
    '{}',
    '',
    '[{"id":1}]',
    '"id"',
    '{"id":null}',
    '{"id":""}',
    '{"id":true}',
    '{"id":{"a":1}}',
    '{"id":["a"]}',
    '{"id":1.5}',
    '{"event":{"id":1}}',
  ])('is new each time without an ID: %s', async (body) => {
    const first = await started(event(body));
    expect((await started(event(body))).id).not.toBe(first.id);
  });

  test('keeps every digit of numbers that no double can represent, including in its ID', async () => {
    const first = await started(
      event('{"id":9007199254740993,"order":[{"id":-12345678901234567890}],"rate":1e999}'),
    );
    expect(first.input).toEqual({
      id: '9007199254740993',
      order: [{ id: '-12345678901234567890' }],
      rate: '1e999',
    });
    expect((await started(event('{"id":9007199254740992}'))).id).not.toBe(first.id);
    const again = await event('{"id":"9007199254740993"}');
    expect(again.body).toMatchObject({ run_id: first.id, deduplicated: true });
  });

  test('can have an ID of any length', async () => {
    for (const length of [255, 256, 100_000]) {
      const id = 'e'.repeat(length - 1);
      const first = await started(event(`{"id":"${id}1"}`));
      await started(event(`{"id":"${id}2"}`));
      await expectDuplicate(event(`{"id":"${id}1"}`), first);
    }
    const kept = await api.db.anyFirst(sql.type(z.object({ event_id: z.string() }))`
      SELECT event_id FROM webhook_events WHERE workflow_id = ${workflowId} ORDER BY length(event_id)
    `);
    expect(kept.map((id) => id.length)).toEqual([71, 71, 71, 71, 255, 255]);
  });

  test('starts another run without a dedup window', async () => {
    await configure({ dedup_window_seconds: 0 });
    await started(event('{"id":1}'));
    await started(event('{"id":1}'));
    expect(await count(sql.fragment`FROM webhook_events WHERE workflow_id = ${workflowId}`)).toBe(
      0,
    );
  });

  test('starts another run and a new window once the window is over', async () => {
    const first = await started(event('{"id":1}'));
    const age = (interval: string) =>
      run(sql.fragment`
        UPDATE webhook_events SET received_at = now() - ${interval}::interval WHERE workflow_id = ${workflowId}
      `);
    await age('59 minutes 55 seconds');
    await expectDuplicate(event('{"id":1}'), first);
    await age('60 minutes');
    const second = await started(event('{"id":1}'));
    expect(second.id).not.toBe(first.id);
    await expectDuplicate(event('{"id":1}'), second);
    await age('59 minutes 55 seconds');
    await expectDuplicate(event('{"id":1}'), second);
  });

  test('uses the current window setting', async () => {
    const first = await started(event('{"id":1}'));
    await run(sql.fragment`UPDATE webhook_events SET received_at = now() - interval '30 seconds'`);
    await configure({ dedup_window_seconds: 20 });
    const second = await started(event('{"id":1}'));
    expect(second.id).not.toBe(first.id);
  });

  test('is recognized by other processes, after a rotation, and after re-enabling', async () => {
    const first = await started(event('{"id":1}'));
    secret = await enable(workflowId);
    await expectDuplicate(event('{"id":1}'), first);
    await api.call('DELETE', `/api/workflows/${workflowId}/webhook`);
    secret = await enable(workflowId);
    const other = await api.another();
    const { body } = await other.call('POST', target(), { id: 1 });
    await other.app.close();
    expect(body).toEqual({ run_id: first.id, status: 'duplicate', deduplicated: true });
  });

  test('is new at another workflow', async () => {
    const first = await started(event('{"id":1}'));
    workflowId = await define();
    secret = await enable(workflowId);
    await configure({ dedup_window_seconds: 3_600 });
    expect((await started(event('{"id":1}'))).id).not.toBe(first.id);
  });

  test('stays a duplicate when its run is deleted', async () => {
    const first = await started(event('{"id":1}'));
    await run(sql.fragment`DELETE FROM runs WHERE id = ${first.id}`);
    await expectDuplicate(event('{"id":1}'), first);
  });

  test('stays a duplicate after a new workflow version', async () => {
    const first = await started(event('{"id":1}'));
    const graph = { nodes: [{ id: 'other', kind: 'agent' }], edges: [] };
    await api.call('PUT', `/api/workflows/${workflowId}`, { graph });
    await expectDuplicate(event('{"id":1}'), first);
    expect(await started(event('{"id":2}'))).toMatchObject({ workflow_version: 2 });
  });
});

describe('the order of refusals', () => {
  const useUp = () =>
    run(sql.fragment`
      INSERT INTO run_counters (workspace_id, month, shard, runs)
      VALUES (${api.workspaceId}, date_trunc('month', now() AT TIME ZONE 'UTC')::date, 0, 1000)
      ON CONFLICT (workspace_id, month, shard) DO UPDATE SET runs = 1000`);
  const freeUp = () => run(sql.fragment`DELETE FROM run_counters`);
  const exhausted = /^Monthly run limit reached \(1000\/1000 on the free plan\)/;
  beforeEach(async () => configure({ dedup_window_seconds: 3_600 }));
  afterAll(freeUp);

  test('a duplicate is answered when the quota is used up', async () => {
    const first = await started(event('{"id":1}'));
    await useUp();
    await expectDuplicate(event('{"id":1}'), first);
    await expectRefused(event('{"id":2}'), 402, exhausted);
    await freeUp();
  });

  test('the quota comes before budgets, and both before the graph', async () => {
    await api.call('PUT', `/api/workflows/${workflowId}`, { graph: { nodes: [], edges: [] } });
    const { body: budget } = await api.call('POST', '/api/budgets', {
      name: 'B',
      scope: 'workflow',
      workflow_id: workflowId,
      limit_usd: 1,
      reservation_estimate_usd: 2,
    });
    await useUp();
    await expectRefused(event('{"id":1}'), 402, exhausted);
    await freeUp();
    await expectRefused(
      event('{"id":1}'),
      402,
      "Budget 'B' exhausted: $0.00 of $1.00 committed; this run needs an estimate of $2.00",
    );
    await api.call('DELETE', `/api/budgets/${budget.id}`);
    await expectRefused(event('{"id":1}'), 400, /^Workflow graph invalid: /);
    await api.call('PUT', `/api/workflows/${workflowId}`, { graph: oneStep });
    const first = await started(event('{"id":1}'));
    await expectDuplicate(event('{"id":1}'), first);
    expect(await runs()).toBe(1);
  });

  test('a duplicate is answered when the graph has become invalid', async () => {
    const first = await started(event('{"id":1}'));
    await api.call('PUT', `/api/workflows/${workflowId}`, { graph: { nodes: [], edges: [] } });
    await expectDuplicate(event('{"id":1}'), first);
  });
});

test('events are deleted after the window of their webhook', async () => {
  await configure({ dedup_window_seconds: 3_600 });
  const [long, shared] = [workflowId, sql.fragment`FROM webhook_events WHERE workflow_id`];
  for (const id of [1, 2, 3]) await started(event(`{"id":${id}}`));
  workflowId = await define();
  secret = await enable(workflowId);
  await configure({ dedup_window_seconds: 60 });
  for (const id of [1, 2, 3]) await started(event(`{"id":${id}}`));
  await run(sql.fragment`
    UPDATE webhook_events SET received_at = now() - interval '2 minutes' WHERE event_id <> '3'
  `);
  await dropPastEvents(api.db, 1_000);
  const left = async (id: string) => count(sql.fragment`${shared} = ${id}`);
  expect([await left(long), await left(workflowId)]).toEqual([3, 1]);
  await run(sql.fragment`UPDATE webhook_events SET received_at = now() - interval '2 hours'`);
  expect(await dropPastEvents(api.db, 3)).toBe(3);
  while ((await dropPastEvents(api.db, 3)) > 0);
  expect([await left(long), await left(workflowId)]).toEqual([0, 0]);
});

describe('no secret appears', () => {
  test('in logs at any level, on success or failure', async () => {
    await started(event('{}'));
    await send(`${target()}/`, '{}');
    await send(`${target()}?token=${secret}`, '{');
    await send(`/api/h%6foks/${workflowId}/${secret}/x`, '{}');
    const rename = (from: string, to: string) =>
      run(sql.fragment`
        ALTER TABLE workflow_webhooks RENAME COLUMN ${sql.identifier([from])} TO ${sql.identifier([to])}`);
    await rename('secret', 'away');
    await expectRefused(event('{}'), 500, 'Internal error');
    const url = `/api/workflows/${workflowId}/webhook`;
    const failed = await office.inject({ method: 'POST', url });
    await rename('away', 'secret');
    expect(failed.statusCode).toBe(500);
    await run(sql.fragment`ALTER TABLE webhook_events RENAME COLUMN event_id TO away`);
    await configure({ dedup_window_seconds: 60 });
    await expectRefused(event('{"id":1}'), 500, 'Internal error');
    await run(sql.fragment`ALTER TABLE webhook_events RENAME COLUMN away TO event_id`);
    expect(logged).toContain('"route":"/api/hooks/:workflow_id/:secret"');
    expect(logged).toContain(`"workflowId":"${workflowId}"`);
    expect(logged).toContain('request failed');
    expect(secrets.length).toBeGreaterThan(100);
    for (const each of secrets) expect(logged).not.toContain(each);
  });
});
