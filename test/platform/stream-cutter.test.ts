import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createSecretCutter } from '#shared/platform/secrets/secret-cutter.ts';
import { createStreamCutter } from '#shared/platform/secrets/stream-cutter.ts';

const short = 'sk-0123456789abcdef';
const long = `sk-long-${'abcdefgh'.repeat(20)}`;
const secrets = createSecretCutter([short, long]);

function streamed(pieces: readonly string[]): string[] {
  const received: string[] = [];
  const cutter = createStreamCutter(secrets, (text) => void received.push(text));
  for (const piece of pieces) cutter.add(piece);
  cutter.end();
  return received;
}

describe('a text in pieces', () => {
  it.each([1, 2, 7, 50, 1_000])('has no secret, in pieces of %d', (length) => {
    const text = `${'a '.repeat(60)}${short}, ${long}${short} ${'b'.repeat(200)}${long}`;
    const pieces = text.match(new RegExp(`[^]{1,${length}}`, 'g'))!;
    const received = streamed(pieces);
    expect(received.join('')).toBe(secrets.text(text));
    expect(received.join('')).not.toMatch(/0123456789|abcdefghabc/);
  });

  it.each([
    ['HTML', (char: string) => `&#x000${char.charCodeAt(0).toString(16)};`],
    ['a URL', (char: string) => `%${char.charCodeAt(0).toString(16)}`],
    ['JSON', (char: string) => `\\u00${char.charCodeAt(0).toString(16)}`],
  ])('has no secret as in %s, in pieces of any length', (_where, escape) => {
    for (const secret of [short, long]) {
      const text = `${'a '.repeat(60)}${secret.replace(/./g, escape)} ${'b'.repeat(200)}`;
      for (const length of [1, 7, 50, 1_000]) {
        const received = streamed(text.match(new RegExp(`[^]{1,${length}}`, 'g'))!).join('');
        expect(received).toBe(`${'a '.repeat(60)}*** ${'b'.repeat(200)}`);
      }
    }
  });

  it('is the redacted text, no matter how it is split', () => {
    const parts = fc.array(
      fc.oneof(
        fc.constantFrom(short, long, short.slice(0, 9), long.slice(0, 70), '😀', 'sk-'),
        fc.string({ maxLength: 90 }),
      ),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(parts, fc.array(fc.nat(400), { maxLength: 20 }), (texts, cuts) => {
        const text = texts.join('');
        const places = [0, ...cuts.filter((at) => at < text.length), text.length];
        places.sort((one, other) => one - other);
        const pieces = places.slice(1).map((end, index) => text.slice(places[index], end));
        expect(streamed(pieces).join('')).toBe(secrets.text(text));
      }),
      { numRuns: 500 },
    );
  });

  it('is not held back longer than a secret could require', () => {
    const received: string[] = [];
    const cutter = createStreamCutter(secrets, (text) => void received.push(text));
    cutter.add('x'.repeat(100));
    expect(received).toEqual(['x'.repeat(36)]);
  });

  it('is never split within a character', () => {
    for (let length = 60; length < 70; length += 1) {
      for (const text of streamed([`${'x'.repeat(length)}😀`, '😀'.repeat(40)])) {
        expect(text.isWellFormed()).toBe(true);
      }
    }
  });
});
