import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestApi, type TestApi } from '#test/api/test-api.ts';

// Wrong keys of the data API, and forged addresses with which clients try to be counted as another client.

let api: TestApi;
let proxied: TestApi;
beforeAll(async () => {
  api = await startTestApi({ DATA_KEY_FAILURES_PER_MINUTE: '5' });
  proxied = await startTestApi({
    DATA_KEY_FAILURES_PER_MINUTE: '5',
    TRUSTED_PROXIES: '10.0.0.0/8',
  });
});
afterAll(async () => {
  await api.stop();
  await proxied.stop();
});

const ask = (to: TestApi, from: string, headers: Record<string, string>) =>
  to.send({ method: 'GET', url: '/v1/usage', remoteAddress: from, headers });
const wrong = { 'x-api-key': `svc_live_${'0'.repeat(48)}` };

async function makeKey(to: TestApi): Promise<Record<string, string>> {
  const key = { name: 'x', mode: 'live', scopes: ['usage:read'] };
  const { secret } = (await to.call('POST', '/api/data/keys', key)).body;
  return { 'x-api-key': secret as string };
}
const untilRefused = async (to: TestApi, from: string, headers: Record<string, string>) => {
  for (let n = 1; n <= 20; n += 1) {
    const answer = await ask(to, from, headers);
    if (answer.status === 429) return { after: n - 1, answer };
    expect(answer.status).toBe(401);
  }
  throw new Error('never refused');
};

test('invalid keys are limited per minute and address, while valid ones still work', async () => {
  const valid = await makeKey(api);
  const { after, answer } = await untilRefused(api, '203.0.113.1', wrong);
  expect(after).toBe(5);
  expect(answer.body.detail).toMatch(
    /^Too many requests with invalid API keys from this address\. Try again in \d+ s$/,
  );
  expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  expect(Number(answer.headers['retry-after'])).toBeLessThanOrEqual(60);
  expect((await ask(api, '203.0.113.1', valid)).status).toBe(200);
  const revoked = await makeKey(api);
  expect((await ask(api, '203.0.113.1', revoked)).status).toBe(200);
  expect((await ask(api, '203.0.113.1', {})).status).toBe(401);
  expect((await ask(api, '203.0.113.2', wrong)).status).toBe(401);
});

test('invalid credentials of all kinds count together, valid ones do not', async () => {
  const valid = await makeKey(api);
  for (let n = 0; n < 10; n += 1) {
    expect((await ask(api, '203.0.113.3', valid)).status).toBe(200);
  }
  const kinds = [
    wrong,
    { 'x-api-key': 'ops_x' },
    { authorization: 'Bearer x' },
    { authorization: 'x' },
  ];
  for (const headers of [...kinds, wrong]) {
    expect((await ask(api, '203.0.113.3', headers)).status).toBe(401);
  }
  expect((await ask(api, '203.0.113.3', wrong)).status).toBe(429);
});

test('invalid keys count for the whole IPv6 network', async () => {
  for (let n = 0; n < 5; n += 1) await ask(api, `2001:db8:1:2::${n + 1}`, wrong);
  expect((await ask(api, '2001:db8:1:2:ffff::1', wrong)).status).toBe(429);
  expect((await ask(api, '2001:db8:1:3::1', wrong)).status).toBe(401);
});

test('a forged X-Forwarded-For does not evade the limit for keys', async () => {
  const claim = (n: number) => ({ ...wrong, 'x-forwarded-for': `198.51.100.${n}` });
  for (let n = 0; n < 5; n += 1) await ask(api, '203.0.113.4', claim(n));
  expect((await ask(api, '203.0.113.4', claim(99))).status).toBe(429);
  // Behind a trusted proxy, the address that the proxy has seen counts, and nothing to the left of it.
  const through = (n: number, seen: string) => ({
    ...wrong,
    'x-forwarded-for': `198.51.100.${n}, 10.0.0.9, ${seen}`,
  });
  for (let n = 0; n < 5; n += 1) await ask(proxied, '10.0.0.1', through(n, '203.0.113.5'));
  expect((await ask(proxied, '10.0.0.1', through(99, '203.0.113.5'))).status).toBe(429);
  expect((await ask(proxied, '10.0.0.1', through(99, '203.0.113.6'))).status).toBe(401);
});

test('a forged X-Forwarded-For does not evade the limit for sign-ins', async () => {
  const body = { email: 'owner@localhost', password: 'not the password' };
  const login = (to: TestApi, from: string, forwarded: string) =>
    to.send({
      method: 'POST',
      url: '/api/auth/login',
      remoteAddress: from,
      headers: { 'content-type': 'application/json', 'x-forwarded-for': forwarded },
      payload: JSON.stringify(body),
    });
  for (const [to, from, forwarded] of [
    [api, '203.0.113.7', (n: number) => `198.51.100.${n}`],
    [proxied, '10.0.0.1', (n: number) => `198.51.100.${n}, 203.0.113.7`],
    // A value from a trusted proxy that is not an address counts for the proxy.
    [proxied, '10.0.0.2', (n: number) => `unknown-${n}`],
  ] as const) {
    for (let n = 0; n < 10; n += 1) {
      expect((await login(to, from, forwarded(n))).status).toBe(401);
    }
    expect((await login(to, from, forwarded(99))).status).toBe(429);
  }
});
