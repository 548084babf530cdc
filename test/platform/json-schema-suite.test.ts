import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { Json, JsonObject } from '#shared/json.ts';
import { schemaErrors } from '#shared/platform/calls/argument-schema.ts';

/**
 * The required tests of the JSON Schema Test Suite (github.com/json-schema-org/JSON-Schema-Test-Suite, August 2026), a
 * group of tests a line. Its license is beside them.
 */
const SUITE = join(import.meta.dirname, '../fixtures/json-schema-suite');

interface Group {
  keyword: string;
  description: string;
  schema: Json;
  tests: { description: string; data: Json; valid: boolean }[];
}

/** Schemas that are refused, by the reason that the refusal gives. */
const REFUSED: readonly { why: string; because: RegExp }[] = [
  { why: 'nothing is fetched', because: /can't resolve reference .*(localhost:1234|\.json)/ },
  { why: 'grammars of authors are not read', because: /'\$schema' must be that of draft/ },
  {
    why: 'a dynamic reference to one of several anchors depends on the way to it',
    because: /'\$dynamicRef' to one of several anchors of the same name is not supported/,
  },
  {
    why: 'an anchor that a dynamic reference finds in another resource only',
    because: /can't resolve reference #items from id https:\/\/test\.json-schema\.org\/unmatched/,
  },
];

/** Values that are refused although they fit: `contains` evaluates items only beside `unevaluatedItems`. */
const STRICTER = [
  'unevaluatedItems depends on multiple nested contains: 5 not evaluated, passes unevaluatedItems',
  "unevaluatedItems and contains interact to control item dependency relationship: only a's are valid",
  "unevaluatedItems and contains interact to control item dependency relationship: a's and b's are valid",
  "unevaluatedItems and contains interact to control item dependency relationship: a's, b's and c's are valid",
];

const groupsOf = (draft: string): Group[] =>
  readFileSync(join(SUITE, `${draft}.ndjson`), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Group);

/** As a schema that names its draft; a bare true or false in one. */
function named(schema: Json, $schema: string): JsonObject {
  if (typeof schema !== 'object') return { $schema, allOf: [schema] };
  return { $schema, ...(schema as JsonObject) };
}

test.each([
  ['draft2020-12', 'https://json-schema.org/draft/2020-12/schema', STRICTER, 1_200],
  ['draft7', 'http://json-schema.org/draft-07/schema#', [], 890],
])('schemas of %s are judged like in the public test suite', (draft, $schema, stricter, least) => {
  const wrong: string[] = [];
  let right = 0;
  for (const { keyword, description, schema, tests } of groupsOf(draft)) {
    for (const { description: value, data, valid } of tests) {
      const title = `${description}: ${value}`;
      try {
        const fits = schemaErrors(named(schema, $schema), data, 'first').length === 0;
        if (fits === valid) right += 1;
        else wrong.push(title);
      } catch (error) {
        const { message } = error as Error;
        if (REFUSED.every(({ because }) => !because.test(message))) {
          wrong.push(`${keyword}: ${title}: ${message}`);
        }
      }
    }
  }
  expect(wrong).toEqual(stricter);
  expect(right).toBeGreaterThan(least);
});
