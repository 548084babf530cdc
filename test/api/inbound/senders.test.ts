import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { signed, useReceiver } from './receiver.ts';

// Senders that cannot be set up to send what the service expects.

const receiver = useReceiver();
const { call, define, send, logged, read } = receiver;
const inputOf = async (runId: string) => (await call('GET', `/api/runs/${runId}`)).body.input;
const replay = (id: string, body: object = {}) =>
  call('POST', `/api/inbound-events/${id}/replay`, body);
const urlEncoded = { 'content-type': 'application/x-www-form-urlencoded; charset=UTF-8' };

const parts = (boundary: string, ...each: string[]) =>
  `${each.map((part) => `--${boundary}\r\n${part}\r\n`).join('')}--${boundary}--\r\n`;
const field = (name: string, text: string) =>
  `Content-Disposition: form-data; name="${name}"\r\n\r\n${text}`;

describe('a form', () => {
  test('is refused by default, and accepted by a setting, with its fields as the input', async () => {
    const { workflowId, path } = await define();
    const body = 'To=%2B1+555&text=a%26b+%C3%BC&list=1&list=2&empty=&__x';
    const refused = await send(path, body, urlEncoded);
    expect([refused.status, refused.body.detail]).toEqual([400, 'Body must be JSON (or empty)']);
    await call('PUT', `/api/workflows/${workflowId}/webhook/config`, { accept_forms: true });
    const { status, body: answer } = await send(path, body, urlEncoded);
    expect(status).toBe(201);
    const input = { To: '+1 555', text: 'a&b ü', list: ['1', '2'], empty: '', __x: '' };
    expect(await inputOf(answer.run_id)).toEqual(input);
    // JSON and an empty body stay what they are.
    expect(await inputOf((await send(path, '{"a":"b=c"}')).body.run_id)).toEqual({ a: 'b=c' });
    expect(await inputOf((await send(path, '', urlEncoded)).body.run_id)).toEqual({});
  });

  test.each(['x', '----WebKitFormBoundary7MA4', '"quoted boundary"'])(
    'of several parts has texts, and of files their names (%s)',
    async (written) => {
      const { path } = await define({ accept_forms: true });
      const body = parts(
        written.replaceAll('"', ''),
        field('from', 'Ann <ann@example.com>'),
        field('text', 'Line 1\r\n--not the end\r\n\r\nLine 2 ü'),
        field('tag', 'a'),
        field('tag', 'b'),
        'content-type: image/png\r\ncontent-disposition: form-data; filename="a%22;.png"; name="photo"\r\n\r\n\0PNG',
      );
      const type = `multipart/form-data; charset=utf-8; boundary=${written}`;
      const { status, body: answer } = await send(path, body, { 'content-type': type });
      expect(status).toBe(201);
      expect(await inputOf(answer.run_id)).toEqual({
        from: 'Ann <ann@example.com>',
        text: 'Line 1\r\n--not the end\r\n\r\nLine 2 ü',
        tag: ['a', 'b'],
        photo: { filename: 'a";.png', content_type: 'image/png', size: 4 },
      });
    },
  );

  const multipart = { 'content-type': 'multipart/form-data; boundary=x' };
  test.each<[string, Record<string, string>, RegExp]>([
    ['a=%00', urlEncoded, /^Invalid body: a contains a NUL/],
    ['__proto__=1', urlEncoded, /must not have the key '__proto__'/],
    ['a&'.repeat(10_000), urlEncoded, /more than 10000 fields/],
    ['', { 'content-type': 'multipart/form-data' }, /./],
    ['--x\r\n\r\na\r\n--x--', multipart, /a part without a name/],
    [`--x\r\n${field('a', 'b')}`, multipart, /does not end/],
    [parts('x', ...Array<string>(1_001).fill(field('a', 'b'))), multipart, /more than 1000 parts/],
  ])('that is malformed is refused (%#)', async (body, headers, detail) => {
    const { path } = await define({ accept_forms: true });
    const { status, body: answer } = await send(path, body === '' ? 'x' : body, headers);
    expect([status, answer.detail]).toEqual([400, expect.stringMatching(detail)]);
  });

  test('is signed by its bytes, identified by a field, and replayed', async () => {
    const settings = { require_signature: true, dedup_window_seconds: 60, event_id_field: 'sid' };
    const { workflowId, path, secret } = await define({ ...settings, accept_forms: true });
    const body = 'sid=SM1&Body=caf%c3%a9';
    const first = await send(path, body, { ...urlEncoded, ...signed(secret, body) });
    expect(first.status).toBe(201);
    const decoded = signed(secret, 'sid=SM1&Body=café');
    expect((await send(path, body, { ...urlEncoded, ...decoded })).status).toBe(401);
    const again = await send(path, `${body}&x`, { ...urlEncoded, ...signed(secret, `${body}&x`) });
    expect(again.body).toMatchObject({ run_id: first.body.run_id, status: 'duplicate' });
    const [, , event] = await logged(workflowId, 3);
    expect(await read(event!.id)).toMatchObject({ body, event_id: 'SM1' });
    const replayed = await replay(event!.id);
    expect([replayed.status, replayed.body.input]).toEqual([201, { sid: 'SM1', Body: 'café' }]);
    const none = await replay(event!.id, { deduplicate: true });
    expect(none.body.id).toBe(first.body.run_id);
  });
});

describe('a body', () => {
  const json = Buffer.from('{"n":"ü","id":7615917337495251231}');
  test.each<[string, Buffer, Record<string, string>]>([
    ['with a byte order mark', Buffer.concat([Buffer.from('\ufeff'), json]), {}],
    ['that is zipped', gzipSync(json), { 'content-encoding': 'gzip' }],
    ['that is zipped, without a header', gzipSync(json), {}],
    ['that is not zipped, under a header', json, { 'content-encoding': 'gzip' }],
    [
      'that is zipped in two members',
      Buffer.concat([gzipSync('{"n":"ü",'), gzipSync(json.subarray(9 + 1))]),
      {},
    ],
    [
      'that is zipped, with a byte order mark',
      gzipSync(Buffer.concat([Buffer.from('\ufeff'), json])),
      {},
    ],
  ])('%s is JSON, signed by its bytes, and replayed', async (_what, body, headers) => {
    const { workflowId, path, secret } = await define({ require_signature: true });
    const { status, body: answer } = await send(path, body, {
      ...headers,
      ...signed(secret, body),
    });
    expect(status).toBe(201);
    const input = { n: 'ü', id: '7615917337495251231' };
    expect(await inputOf(answer.run_id)).toEqual(input);
    const [event] = await logged(workflowId, 1);
    expect(event!.size).toBe(body.length);
    expect((await replay(event!.id)).body.input).toEqual(input);
  });

  test('that is zipped is limited and validated like any other', async () => {
    const { path } = await define();
    const bomb = gzipSync(Buffer.alloc(300_000_000, ' '), { level: 9 });
    expect(bomb.length).toBeLessThan(1_000_000);
    const costOf = async (work: () => unknown): Promise<number> => {
      const before = process.cpuUsage();
      await work();
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };
    const sent = async () => expect((await send(path, bomb)).status).toBe(413);
    const costs = [await costOf(sent), await costOf(sent), await costOf(sent)];
    // It stops at the limit.
    expect(Math.min(...costs)).toBeLessThan((await costOf(() => gunzipSync(bomb))) / 3);
    expect((await send(path, gzipSync(`"${'x'.repeat(1_048_574)}"`))).status).toBe(201);
    expect((await send(path, gzipSync(`"${'x'.repeat(1_048_575)}"`))).status).toBe(413);
    for (const broken of [
      gzipSync('{'),
      gzipSync('{}').subarray(0, 15),
      gzipSync(gzipSync('{}')),
    ]) {
      const { status, body } = await send(path, broken);
      expect([status, body.detail]).toEqual([400, 'Body must be JSON (or empty)']);
    }
    expect((await send(path, gzipSync('{"a\\u0000":1}'))).body.detail).toMatch(/NUL/);
    expect(await inputOf((await send(path, gzipSync(''))).body.run_id)).toEqual({});
  });

  test('with half of a surrogate pair gets U+FFFD in its place', async () => {
    const { path } = await define();
    const { body } = await send(
      path,
      '{"a":"Hi \\ud83d","b\\udc00":["\\uD83D\\uDE00","\\\\ud83d"]}',
    );
    expect(await inputOf(body.run_id)).toEqual({ a: 'Hi \ufffd', 'b\ufffd': ['😀', '\\ud83d'] });
  });
});

describe('a challenge', () => {
  const body = '{"token":"t","challenge":"abc <b>","type":"url_verification"}';

  test('is answered by a setting, without a run', async () => {
    const { workflowId, path } = await define({ answer_challenges: true });
    const inBody = await send(path, body);
    expect([inBody.status, inBody.body]).toEqual([200, { challenge: 'abc <b>' }]);
    const inQuery = await send(`${path}?x=1&validationToken=Validation%3A+a%2Bb%20%3Cb%3E`, '');
    expect([inQuery.status, inQuery.body]).toEqual([200, 'Validation: a+b <b>']);
    expect(inQuery.headers).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
    });
    expect((await call('GET', `/api/workflows/${workflowId}/runs`)).body.runs).toEqual([]);
    // Events start runs as before.
    for (const [query, event] of [
      ['?validationToken=', '{}'],
      ['', '{"type":"event_callback","challenge":"abc"}'],
      ['', '{"type":"url_verification","challenge":7}'],
      ['', JSON.stringify({ type: 'url_verification', challenge: 'x'.repeat(5_000) })],
    ]) {
      expect((await send(`${path}${query}`, event!)).status).toBe(201);
    }
  });

  test('is an event by default, and never answered at a wrong address or without a signature', async () => {
    const { path } = await define();
    expect(await inputOf((await send(path, body)).body.run_id)).toEqual(JSON.parse(body));
    expect((await send(`${path}?validationToken=x`, '')).status).toBe(201);
    const strict = await define({ answer_challenges: true, require_signature: true });
    const wrong = `${strict.path.slice(0, -32)}${'0'.repeat(32)}`;
    for (const query of ['', '?validationToken=x']) {
      expect((await send(wrong + query, body)).status).toBe(404);
      expect((await send(strict.path + query, body)).status).toBe(401);
    }
    expect((await send(strict.path, body, signed(strict.secret, body))).status).toBe(200);
  });
});

describe('the id of an event', () => {
  test('only comes from the configured header, if one is configured', async () => {
    const settings = { dedup_window_seconds: 60, event_id_header: 'X-GitHub-Delivery' };
    const { workflowId, path } = await define(settings);
    const sent = (id: string | undefined, body: object, own: object = {}) =>
      send(path, JSON.stringify(body), {
        ...own,
        ...(id === undefined ? {} : { 'x-github-delivery': id }),
      });
    const first = (await sent('d1', { id: 'record' })).body;
    expect(first.status).toBe('pending');
    expect((await sent('d2', { id: 'record' })).body.status).toBe('pending');
    expect((await sent('d1', { id: 'other' })).body).toMatchObject({
      run_id: first.run_id,
      status: 'duplicate',
    });
    // Neither the body nor the header of the service counts.
    const service = { 'x-service-event-id': 'd1' };
    for (const _each of [1, 2]) {
      expect((await sent(undefined, { id: 'd1', event_id: 'd1' }, service)).body.status).toBe(
        'pending',
      );
    }
    expect((await sent('d3', {}, service)).body.status).toBe('pending');
    const events = await logged(workflowId, 6);
    expect(events.map(({ event_id: id }) => id).sort()).toEqual(
      [null, null, 'd1', 'd1', 'd2', 'd3'].sort(),
    );
    const withoutId = events.find(({ event_id: id }) => id === null)!;
    expect((await replay(withoutId.id, { deduplicate: true })).body.id).not.toBe(withoutId.run_id);
    const known = events.find(({ event_id: id }) => id === 'd2')!;
    expect((await replay(known.id, { deduplicate: true })).body.id).toBe(known.run_id);
  });

  test.each([
    '',
    'a b',
    'x:y',
    'é',
    'Authorization',
    'COOKIE',
    'x-service-signature',
    'x'.repeat(101),
  ])('cannot be in a header named %j', async (event_id_header) => {
    const { workflowId } = await define();
    const url = `/api/workflows/${workflowId}/webhook/config`;
    expect((await call('PUT', url, { event_id_header })).status).toBe(400);
    expect((await call('PUT', url, { event_id_header: null })).status).toBe(200);
  });
});
