import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startSecretWorld } from '#test/support/secret-world.ts';
import { chain, eventually } from '#test/support/engine.ts';

let world: Awaited<ReturnType<typeof startSecretWorld>>;
/** Tokens of addresses that the service has sent. */
const tokens: string[] = [];

beforeAll(async () => {
  world = await startSecretWorld();
  const { engine, call, home } = world;
  const graph = (path: string) =>
    chain(
      {
        ...{ id: 'ask', kind: 'tool', tool_name: 'http_request', retry: { max_attempts: 1 } },
        params: {
          ...{
            url: `${home.url}/${path}`,
            method: 'POST',
            headers: { 'X-To': '{callbacks.paid}' },
          },
          body: { to: '{callbacks.paid}', text: '{text}' },
        },
      },
      { id: 'paid', kind: 'wait', callback: true },
    );
  // The second one repeats what it got in an error, and the third one breaks off.
  for (const path of ['', 'to/302', 'hang']) {
    const before = home.seen.length;
    const runId = await engine.start(graph(path), { text: 'Call {callbacks.paid}' });
    await eventually(() => home.seen.length > before);
    const { to, text } = JSON.parse(home.seen.at(-1)!.body) as { to: string; text: string };
    expect(text).toBe('Call {callbacks.paid}');
    const address = new URL(to).pathname;
    tokens.push(address.split('/').at(-1)!);
    for (const [method, url, body] of [
      ['GET', address, undefined],
      ['HEAD', address, undefined],
      ['PUT', address, {}],
      ['POST', `${address}?copy=${tokens.at(-1)}`, { n: 1 }],
      ['POST', address, { n: 2 }],
      ['POST', `${address}x`, { n: 1 }],
      ['POST', `${address}%00`, { n: 1 }],
      ['GET', `${address}/../${tokens.at(-1)}`, undefined],
    ] as const) {
      await call(method, url, body, { referer: address, 'x-request-id': 'req' });
    }
    await engine.ended(runId);
    await call('GET', `/api/runs/${runId}`);
    await call('GET', '/metrics');
  }
});
afterAll(() => world.close());

test.each(['rows', 'logs', 'histories', 'traces', 'answers of every route that reads'] as const)(
  'the address of a callback is nowhere in the %s',
  async (place) => {
    const texts = await world.places[place]();
    expect(texts.join('\n').length).toBeGreaterThan(100);
    for (const token of tokens) {
      const mac = token.split('.')[1]!;
      expect(texts.filter((text) => text.includes(mac))).toEqual([]);
    }
  },
);

test('the metrics name the route, not the address', async () => {
  const { text } = await world.call('GET', '/metrics');
  expect(text).toContain('route="/api/callbacks/:token"');
  for (const token of tokens) expect(text).not.toContain(token.split('.')[1]);
});
