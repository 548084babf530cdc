import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { lengthOf, shortened } from '#api/mcp/shortened.ts';
import type { Json } from '#shared/json.ts';

const json = fc.jsonValue({ maxDepth: 5 }) as fc.Arbitrary<Json>;
const kindOf = (value: Json) =>
  Array.isArray(value) ? 'list' : value === null ? 'null' : typeof value;

describe('shortening a value', () => {
  test('keeps its type, and leaves a value that fits unchanged', () => {
    fc.assert(
      fc.property(json, fc.integer({ min: 0, max: 2_000 }), (value, room) => {
        const result = shortened(value, room);
        expect(kindOf(result)).toBe(kindOf(value));
        if (lengthOf(value) <= room) expect(result).toBe(value);
      }),
      { numRuns: 500 },
    );
  });

  test.each<[string, Json]>([
    ['a text', 'x'.repeat(500_000)],
    ['a text of characters that are escaped', '"\u0001'.repeat(200_000)],
    ['a list of texts', Array.from({ length: 5_000 }, () => 'x'.repeat(200))],
    ['a list of lists', Array.from({ length: 500 }, () => Array.from({ length: 500 }, () => 1))],
    [
      'a payload with many keys',
      Object.fromEntries(Array.from({ length: 9_000 }, (_, at) => [`key ${at}`, 'x'.repeat(50)])),
    ],
    [
      'a record with large payloads',
      { id: 'run_1', state: { a: 'x'.repeat(90_000) }, steps: [{ output: 'y'.repeat(90_000) }] },
    ],
  ])('%s comes close to the limit', (_what, value) => {
    const length = lengthOf(shortened(value, 20_000));
    expect(length).toBeLessThan(22_000);
    expect(length).toBeGreaterThan(6_000);
  });

  test('keeps small fields complete, and states the length of a truncated text', () => {
    const record = {
      id: 'run_1',
      created_at: '2026-11-21T09:30:00.000Z',
      output: 'x'.repeat(9_000),
    };
    const result = shortened(record, 1_000) as typeof record;
    expect(result).toMatchObject({ id: record.id, created_at: record.created_at });
    expect(result.output).toMatch(/^x{800,} ?… \(9000 characters\)$/);
  });

  test('does not split a character', () => {
    const result = shortened('😀'.repeat(1_000), 501) as string;
    expect(result.isWellFormed()).toBe(true);
  });
});
