import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createSecretCutter, secretsOfHeaders } from '#shared/platform/secrets/secret-cutter.ts';
import { growth } from '#test/support/growth.ts';
import { soakTest } from '#test/support/soak.ts';

const HTML: Readonly<Record<string, string>> = {
  ...{ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' },
};

/** Encodings in which services return the values they received. */
const encodings: Record<string, (secret: string) => string> = {
  'as it is': (secret) => secret,
  'in JSON': (secret) => JSON.stringify({ secret }),
  'in JSON with escaped slashes': (secret) => JSON.stringify(secret).replaceAll('/', '\\/'),
  'in JSON of ASCII': (secret) =>
    JSON.stringify(secret).replace(
      /[^\x20-\x7e]/g,
      (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
  'in JSON that is safe in HTML': (secret) =>
    JSON.stringify(secret).replace(/[<>&]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`),
  'in HTML with decimal references': (secret) =>
    secret.replace(/[^a-z0-9]/gi, (char) => `&#${char.codePointAt(0)!};`),
  'in HTML with hexadecimal references': (secret) =>
    secret.replace(/[^a-z0-9]/gi, (char) => `&#x${char.codePointAt(0)!.toString(16)};`),
  'in HTML with references of any form': (secret) =>
    secret.replace(/./gu, (char) => `&#X000${char.codePointAt(0)!.toString(16).toUpperCase()};`),
  'in HTML with named references': (secret) =>
    secret.replace(/[&<>"']/g, (char) => HTML[char] ?? char),
  'in JSON in HTML': (secret) =>
    JSON.stringify(secret).replace(/[&<>"']/g, (char) => `&#${char.codePointAt(0)!};`),
  'in HTML in JSON': (secret) =>
    JSON.stringify(
      secret.replace(/["'<>]/g, (char) => `&#x${char.codePointAt(0)!.toString(16)};`),
    ).replaceAll('&', '\\u0026'),
  'percent-encoded': (secret) => `a=${encodeURIComponent(secret)}&b`,
  'percent-encoded in lower case': (secret) =>
    encodeURIComponent(secret).replace(/%../g, (escape) => escape.toLowerCase()),
  'in a form': (secret) => new URLSearchParams({ secret }).toString(),
  'as hexadecimal': (secret) => Buffer.from(secret).toString('hex'),
  'as upper-case hexadecimal': (secret) => Buffer.from(secret).toString('hex').toUpperCase(),
  'as base64': (secret) => Buffer.from(secret).toString('base64'),
  'as base64url': (secret) => Buffer.from(secret).toString('base64url'),
  'as base64 of latin1': (secret) => Buffer.from(secret, 'latin1').toString('base64'),
};

const anyOf = (chars: string) => fc.constantFrom(...chars.split(''));

/** Text that a header may contain. */
const secretText = fc
  .string({
    unit: anyOf('abcXYZ0189-_.~+/=:"\\&<>\'!* \u00e9\u00ff'),
    minLength: 8,
    maxLength: 200,
  })
  .map((text) => text.trim())
  .filter((text) => text.length >= 8);

describe('a secret', () => {
  test.each(Object.entries(encodings))('is masked %s at any position', (_name, encode) => {
    fc.assert(
      fc.property(secretText, fc.string(), fc.string(), (secret, before, after) => {
        const cut = createSecretCutter([secret]).text(`${before}|${encode(secret)}|${after}`);
        expect(cut).not.toContain(encode(secret));
        expect(cut).toContain('***');
      }),
    );
  });

  test('that is a JSON text is masked in HTML', () => {
    const key = '{"type": "service", "key": "-----BEGIN\\nabc/+=\\n"}';
    const cutter = createSecretCutter([key]);
    for (const [quote, end] of [
      ['&#34;', ''],
      ['&#034', 'x'],
      ['&#x22;', ''],
      ['&#X00022;', ''],
      ['&QUOT;', ''],
      ['&quot;', ''],
    ]) {
      const page = `<pre>${key.replaceAll('"', quote!)}${end}</pre>`;
      expect(cutter.text(page)).toBe(`<pre>***${end}</pre>`);
      expect(cutter.json({ page })).toEqual({ page: `<pre>***${end}</pre>` });
    }
    expect(cutter.text('a &amp; b &#34; &#x110000; &nothing;')).toBe(
      'a &amp; b &#34; &#x110000; &nothing;',
    );
  });

  test('is masked inside base64 text', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: anyOf('abcdefXYZ0189-_'), minLength: 12, maxLength: 80 }),
        fc.string({ maxLength: 9 }),
        fc.string({ maxLength: 9 }),
        (secret, before, after) => {
          const encoded = Buffer.from(`${before}${secret}${after}`).toString('base64');
          const cut = createSecretCutter([secret]).text(`Authorization: Basic ${encoded}`);
          // The rest reveals nothing of the secret except the bits it shares with its neighbors.
          const left = cut.replace('Authorization: Basic ', '').split('***');
          expect(left).toHaveLength(2);
          const leftBytes = (left.join('').replace(/=+$/, '').length * 6) / 8;
          expect(leftBytes).toBeLessThanOrEqual(Buffer.byteLength(before + after) + 3);
        },
      ),
    );
  });

  test('that is very long is masked completely, even next to one with the same prefix', () => {
    const head = 'x'.repeat(100);
    const [one, other] = [`${head}${'1'.repeat(3_000)}`, `${head}${'2'.repeat(2_000)}`];
    const cutter = createSecretCutter([one, other]);
    expect(cutter.text(`a ${one} b ${other} c ${head}3`)).toBe('a *** b *** c ***3');
  });

  test('that contains or overlaps another is masked whole', () => {
    const cutter = createSecretCutter(['abcdefgh', 'cdefghij', '12abcdefgh34', 'Bearer abcdefgh']);
    expect(cutter.text('[abcdefghij]')).toBe('[***]');
    expect(cutter.text('[12abcdefgh34]')).toBe('[***]');
    expect(cutter.text('[12abcdefgh3]')).toBe('[12***3]');
    expect(cutter.text('Bearer abcdefghabcdefgh')).toBe('***');
  });

  test('is masked in strings, keys and numbers only', () => {
    const cutter = createSecretCutter(['tok-12345678', '9876543210']);
    const value = {
      'a tok-12345678': ['x tok-12345678 y', 1, null, true, { deep: 'tok-12345678' }],
      number: 9876543210,
      other: 98765432100,
    };
    expect(cutter.json(value)).toEqual({
      'a ***': ['x *** y', 1, null, true, { deep: '***' }],
      number: '***',
      other: 98765432100,
    });
  });

  test('shorter than eight characters is masked as a whole word only', () => {
    const cutter = createSecretCutter(['prod']);
    expect(cutter.text('prod product "prod" x=prod; prod_2')).toBe(
      '*** product "***" x=***; prod_2',
    );
    expect(cutter.json({ env: 'prod', text: 'in prod, products' })).toEqual({
      env: '***',
      text: 'in ***, products',
    });
  });

  test('shorter than four characters is masked only as a whole value', () => {
    const cutter = createSecretCutter(['a']);
    expect(cutter.json({ key: 'a', text: 'a cat' })).toEqual({ key: '***', text: 'a cat' });
    expect(cutter.text('X-Key: a')).toBe('X-Key: ***');
  });

  test('that is absent changes nothing', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const cutter = createSecretCutter(['not-in-there-0123456789']);
        expect(cutter.json(value as never)).toEqual(value);
      }),
    );
    expect(createSecretCutter([]).text('as it is')).toBe('as it is');
  });

  soakTest('is masked in linear time in a hostile response', () => {
    // A search for each secret at each position takes time for both the length of secrets and that of the text.
    const masking = (length: number) => {
      const cutter = createSecretCutter([
        'a'.repeat(2 * length),
        `${'a'.repeat(63)}b`,
        ...Array.from({ length: 48 }, (_, n) => `${'a'.repeat(length)}${n}`),
      ]);
      const parts = ['a', `${'a'.repeat(63)}c`, `${'a'.repeat(length - 1)}c`];
      const texts = parts.map((part) => part.repeat((250 * length) / part.length));
      return () => texts.map((text) => cutter.text(text));
    };
    expect(growth(masking, 1_000)).toBeLessThan(3);
  });
});

describe('secrets in headers', () => {
  test('are the values, tokens, Basic credentials and cookie values', () => {
    const basic = Buffer.from('user:pass:word').toString('base64');
    expect(secretsOfHeaders({ 'X-Key': ' k ' })).toEqual(['k']);
    expect(secretsOfHeaders({ Authorization: 'Bearer abc' })).toEqual(['Bearer abc', 'abc']);
    expect(secretsOfHeaders({ authorization: `Basic ${basic}` })).toEqual([
      `Basic ${basic}`,
      basic,
      'user:pass:word',
      'pass:word',
    ]);
    expect(secretsOfHeaders({ Cookie: 'a=1x; b=2y' })).toEqual(['a=1x; b=2y', '1x', '2y']);
  });

  test('are not found in headers without credentials', () => {
    const plain = {
      Accept: 'application/json',
      'Content-Type': 'application/json',
      'User-Agent': 'crm',
      'Anthropic-Version': '2023-06-01',
      'Cache-Control': 'no-cache',
    };
    expect(secretsOfHeaders(plain)).toEqual([]);
  });
});
