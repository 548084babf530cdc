import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { arbitraryOf } from './arbitrary.ts';
import { createChecker } from './checker.ts';
import { type OpenApiDocument, operationsOf } from './document.ts';

const folder = join(import.meta.dirname, '../../docs/openapi');
const documents = Object.fromEntries(
  ['ops', 'data'].map((name) => [
    name,
    JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8')) as OpenApiDocument,
  ]),
);
const operations = Object.values(documents).flatMap(operationsOf);
const checker = createChecker(documents);

describe.each(['plain', 'edge'] as const)('generated bodies with %s values', (taste) => {
  test.each(operations.filter(({ body }) => body !== undefined))(
    'match the schema: $name',
    (operation) => {
      const values = fc.sample(arbitraryOf(operation.body!.schema, operation.document, taste), {
        numRuns: 12,
        seed: 1,
      });
      // As sent: JSON has no undefined.
      const sent = values.map((value) => JSON.parse(JSON.stringify(value)) as unknown);
      expect(sent.filter((value) => !checker.allows(operation, value))).toEqual([]);
    },
  );
});

test('generated values reach the bounds of texts, numbers and lists', () => {
  const schema = {
    type: 'object',
    required: ['text', 'count', 'list'],
    properties: {
      text: { type: 'string', minLength: 2, maxLength: 9 },
      count: { type: 'integer', minimum: 3, maximum: 40 },
      list: { type: 'array', minItems: 1, maxItems: 7, items: { type: 'boolean' } },
    },
  };
  const values = fc.sample(arbitraryOf(schema, { paths: {} }, 'edge'), { numRuns: 300, seed: 1 });
  const of = (name: string) => values.map((value) => (value as Record<string, any>)[name]);
  const lengths = of('text').map((text: string) => [...text].length);
  expect([Math.min(...lengths), Math.max(...lengths)]).toEqual([2, 9]);
  expect([Math.min(...of('count')), Math.max(...of('count'))]).toEqual([3, 40]);
  const sizes = of('list').map((list: unknown[]) => list.length);
  expect([Math.min(...sizes), Math.max(...sizes)]).toEqual([1, 7]);
});
