import { describe, expect, test } from '@jest/globals';
import type { Json, JsonObject } from '#shared/json.ts';
import {
  argumentsProblem,
  checkArgumentSchema,
  schemaErrors,
} from '#shared/platform/calls/argument-schema.ts';
import { checkInputSchema, inputProblem } from '#shared/platform/calls/input-schema.ts';

const fits = (schema: object, value: Json): boolean =>
  schemaErrors(schema as JsonObject, value, 'first').length === 0;

describe('the draft of a schema', () => {
  const spellings = (path: string): string[] =>
    ['http', 'https'].flatMap((scheme) =>
      ['', '#'].map((end) => `${scheme}://json-schema.org/${path}${end}`),
    );

  test.each(
    [
      ...['draft-04/schema', 'draft-06/schema', 'draft-07/schema', 'draft/2019-09/schema'],
      ...['draft/2020-12/schema', 'schema'],
    ].flatMap(spellings),
  )('is read from %s', ($schema) => {
    const schema = { $schema, type: 'object', properties: { a: { type: 'string' } } };
    expect(argumentsProblem(schema, { a: 'x' })).toBeUndefined();
    expect(argumentsProblem(schema, { a: 1 })).toBe('arguments.a must be string');
    expect(() => checkInputSchema(schema)).not.toThrow();
  });

  test.each(['http://json-schema.org/draft-03/schema#', 'https://a.example/schema', 7])(
    'is not read from %s',
    ($schema) => {
      expect(() => checkArgumentSchema({ $schema } as JsonObject)).toThrow(
        "'$schema' must be that of draft 2020-12, 2019-09, 7, 6 or 4 of JSON Schema",
      );
    },
  );

  test('decides which keywords next to a reference count', () => {
    const schema = {
      definitions: { text: { type: 'string' } },
      properties: { a: { $ref: '#/definitions/text', maxLength: 1 } },
    };
    const draft = (name: string) => ({
      $schema: `http://json-schema.org/${name}/schema#`,
      ...schema,
    });
    expect(fits(draft('draft-07'), { a: 'long' })).toBe(true);
    expect(fits(draft('draft-04'), { a: 'long' })).toBe(true);
    expect(fits(draft('draft-07'), { a: 1 })).toBe(false);
    expect(fits(draft('draft/2019-09'), { a: 'long' })).toBe(false);
    expect(fits(schema, { a: 'long' })).toBe(false);
  });

  test('decides which keywords are limits and ids', () => {
    const $schema = 'http://json-schema.org/draft-04/schema#';
    const schema = {
      $schema,
      id: 'https://a.example/root',
      properties: { a: { minimum: 1, exclusiveMinimum: true }, b: { const: 1 } },
    };
    expect(fits(schema, { a: 2, b: 2 })).toBe(true);
    expect(fits(schema, { a: 1 })).toBe(false);
  });

  test('is an older one if items is a list', () => {
    const schema = { properties: { a: { items: [{ type: 'string' }], additionalItems: false } } };
    expect(() => checkInputSchema({ type: 'object', ...schema })).not.toThrow();
    expect(fits(schema, { a: ['x'] })).toBe(true);
    expect(fits(schema, { a: [1] })).toBe(false);
    expect(fits(schema, { a: ['x', 'y'] })).toBe(false);
  });
});

describe('schemas as they are written', () => {
  test('can name a required field twice, and list no values', () => {
    const schema = { type: 'object', required: ['a', 'a'], properties: { b: { enum: [] } } };
    expect(() => checkInputSchema(schema)).not.toThrow();
    expect(fits(schema, { a: 1 })).toBe(true);
    expect(fits(schema, { a: 1, b: 1 })).toBe(false);
    expect(inputProblem(schema, {})).toBe('input.a is missing: add it');
  });

  test('can have anchors', () => {
    const schema = {
      type: 'object',
      $defs: { text: { $anchor: 'text', type: 'string' } },
      properties: { a: { $ref: '#text' } },
    };
    expect(() => checkInputSchema(schema)).not.toThrow();
    expect(fits(schema, { a: 1 })).toBe(false);
  });

  test.each([
    ['\\u00e9', 'é', 'e'],
    ['^\\p{Letter}+$', 'Żółw', '1'],
    ['^\\p{Script=Greek}$', 'λ', 'l'],
    ['^\\ud83d\\ude00$', '😀', ':)'],
    ['^\\cA$', '\u0001', 'A'],
  ])('can have the pattern %s', (pattern, one, other) => {
    expect(fits({ pattern }, one)).toBe(true);
    expect(fits({ pattern }, other)).toBe(false);
  });

  test.each([
    [{ type: 'strng' }, /^is not a valid JSON Schema: schema\/type must be/],
    [{ $ref: '#/$defs/gone' }, /can't resolve reference #\/\$defs\/gone/],
    [{ $ref: 'https://a.example/order.json' }, /can't resolve reference https:\/\/a\.example/],
    [{ pattern: '(?=a)' }, /the pattern is not valid/],
    [{ minimum: '1' }, /^is not a valid JSON Schema: schema\/minimum must be number/],
  ])('are refused if they cannot be used: %j', (schema, message) => {
    expect(() => checkArgumentSchema(schema)).toThrow(message);
  });
});

describe("names of JavaScript's own members", () => {
  const names = ['constructor', 'toString', 'valueOf', 'hasOwnProperty', '__proto__'];
  const having = (name: string, value: Json): Json =>
    JSON.parse(`{"${name}":${JSON.stringify(value)}}`) as Json;

  test.each(names)('%s is a field like any other', (name) => {
    const schema = { type: 'object', properties: having(name, { type: 'string' }) };
    expect(fits(schema, {})).toBe(true);
    expect(fits(schema, having(name, 'x'))).toBe(true);
    expect(fits(schema, having(name, 1))).toBe(false);
    const closed = { ...schema, additionalProperties: false };
    expect(fits(closed, having(name, 'x'))).toBe(true);
    expect(fits({ additionalProperties: false }, having(name, 'x'))).toBe(false);
    expect(fits({ required: [name] }, {})).toBe(false);
    expect(fits({ required: [name] }, having(name, 'x'))).toBe(true);
    expect(fits({ dependentRequired: having(name, ['a']) }, {})).toBe(true);
    expect(fits({ dependentRequired: having(name, ['a']) }, having(name, 1))).toBe(false);
  });

  test.each(names)('%s is compared like any other', (name) => {
    const [one, other] = [having(name, { a: 1 }), having(name, { a: 2 })];
    const same = having(name, { a: 1 });
    expect([fits({ const: one }, same), fits({ const: one }, other)]).toEqual([true, false]);
    expect([fits({ enum: [one] }, same), fits({ enum: [one] }, other)]).toEqual([true, false]);
    const unique = { uniqueItems: true };
    expect([fits(unique, [one, same]), fits(unique, [one, other])]).toEqual([false, true]);
  });

  test('are evaluated only when a schema names them', () => {
    const schema = {
      anyOf: [{ properties: { a: { type: 'string' } }, required: ['a'] }, { required: ['b'] }],
      unevaluatedProperties: false,
    };
    expect(fits(schema, { a: 'x' })).toBe(true);
    expect(fits(schema, { a: 'x', constructor: 1 })).toBe(false);
  });
});
