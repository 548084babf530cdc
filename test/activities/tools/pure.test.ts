import { describe, expect, it } from '@jest/globals';
import { delay } from '#activities/tools/delay.ts';
import { jsonTransform } from '#activities/tools/json-transform.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { parseDelay, renderUrl, type UrlPart } from '#shared/tools.ts';
import { toolCall } from '#test/fakes/node-call.ts';

describe('json_transform', () => {
  const transform = (params: JsonObject) =>
    jsonTransform(
      toolCall('json_transform', params, { state: { items: [1, 2, 3], who: { name: 'Ada' } } }),
    );

  it.each([
    ['len(items) * 2', 6],
    ["upper(who.name) + '!'", 'ADA!'],
    ['items', [1, 2, 3]],
    ['gone.deep', null],
  ])('%s returns %j', async (expression, output) => {
    expect(await transform({ expression })).toEqual({ output, costMicros: 0 });
  });

  it.each([
    [{ expression: 'items +' }],
    [{ expression: 'items + who' }],
    [{ expression: '' }],
    [{ expression: 3 }],
    [{}],
  ])('refuses %j permanently', async (params) => {
    await expect(transform(params as JsonObject)).rejects.toMatchObject({
      name: 'NodeError',
      retryable: false,
    });
  });
});

describe('delay', () => {
  it.each([
    [{ seconds: 5 }, 5],
    [{ seconds: '2.5' }, 2.5],
    [{ seconds: 0 }, 0],
  ])('does not wait for %j', async (params, seconds) => {
    expect(parseDelay(params)).toEqual({ seconds });
    expect(await delay(toolCall('delay', params))).toEqual({
      output: { delayed_seconds: seconds },
      costMicros: 0,
    });
  });

  it.each([
    [{}],
    [{ seconds: -1 }],
    [{ seconds: 'soon' }],
    [{ seconds: '' }],
    [{ seconds: true }],
    [{ seconds: null }],
    [{ seconds: [5] }],
    [{ seconds: 1e12 }],
    [{ seconds: 1, minutes: 1 }],
  ])('refuses %j permanently', async (params) => {
    expect(parseDelay(params)).toEqual({ error: expect.stringContaining('delay:') });
    await expect(delay(toolCall('delay', params))).rejects.toMatchObject({
      name: 'NodeError',
      retryable: false,
    });
  });
});

describe('values in a URL', () => {
  const value = (of: Json): UrlPart => ({ value: of });
  const text = (of: string): UrlPart => ({ text: of });

  it.each<[UrlPart[], string]>([
    [
      [text('https://a.example/u/'), value('x/y?z#w'), text('/e')],
      'https://a.example/u/x%2Fy%3Fz%23w/e',
    ],
    [[text('https://a.example?q='), value('a&b=c d')], 'https://a.example?q=a%26b%3Dc%20d'],
    [[text('https://a.example/'), value(7), text('/'), value(null)], 'https://a.example/7/null'],
    [[text('https://a.example/'), value('@evil.example')], 'https://a.example/%40evil.example'],
    [[text('https://a.example/'), value('\ud800')], 'https://a.example/%EF%BF%BD'],
    [[text('anything at all')], 'anything at all'],
  ])('%j become %s', (parts, url) => {
    expect(renderUrl(parts)).toEqual({ url });
  });

  it.each<[UrlPart[]]>([
    [[value('https://a.example/')]],
    [[text('https://'), value('a.example'), text('/')]],
    [[text('https://a.example'), value('.evil.example'), text('/')]],
    [[text('https://a.example:'), value(22), text('/')]],
    [[value('https'), text('://a.example/')]],
    [[text('https://a.example/u/'), value('..'), text('/admin')]],
    [[text('https://a.example/u/'), value('.'), value('.'), text('/admin')]],
    [[text('https://a.example/u/%2e'), value('.'), text('/admin')]],
  ])('%j are refused', (parts) => {
    expect(renderUrl(parts)).toEqual({ error: expect.any(String) });
  });
});
