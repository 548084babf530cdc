import { describe, expect, test } from '@jest/globals';
import { argumentsProblem } from '#shared/platform/calls/argument-schema.ts';
import { contradictionIn } from '#shared/platform/calls/contradictions.ts';
import { checkInputSchema } from '#shared/platform/calls/input-schema.ts';
import type { JsonObject } from '#shared/json.ts';

const field = (schema: JsonObject | boolean): JsonObject => ({
  type: 'object',
  properties: { a: schema },
  required: ['a'],
});

describe('a schema that no input matches', () => {
  test.each<[JsonObject, string]>([
    [
      { properties: { b: {} }, required: ['a'], additionalProperties: false },
      "input_schema.required has 'a', which additionalProperties: false forbids: add it to properties, or remove it from required",
    ],
    [field(false), 'input_schema.properties.a is false, which allows no value: remove it'],
    [
      field({ type: 'integer', enum: ['1', '2'] }),
      'input_schema.properties.a.enum has no value of the type integer: add one, or change the type',
    ],
    [
      field({ type: 'string', const: 1 }),
      'input_schema.properties.a.const is not of the type string: change one of them',
    ],
    [
      field({ type: 'number', minimum: 5, maximum: 4 }),
      'input_schema.properties.a.minimum 5 leaves nothing up to maximum 4: change one of them',
    ],
    [
      field({ type: 'integer', exclusiveMinimum: 4, maximum: 4 }),
      'input_schema.properties.a.exclusiveMinimum 4 leaves nothing up to maximum 4: change one of them',
    ],
    [
      field({ type: 'string', minLength: 3, maxLength: 2 }),
      'input_schema.properties.a.minLength 3 leaves nothing up to maxLength 2: change one of them',
    ],
    [
      field(field({ type: 'array', minItems: 2, maxItems: 1 })),
      'input_schema.properties.a.properties.a.minItems 2 leaves nothing up to maxItems 1: change one of them',
    ],
    [
      field({ allOf: [{}, { type: 'null', const: 1 }] }),
      'input_schema.properties.a.allOf.1.const is not of the type null: change one of them',
    ],
    [
      field({ anyOf: [false, { type: 'null', const: 1 }] }),
      'input_schema.properties.a.anyOf.0 is false, which allows no value: remove it',
    ],
  ])('%j is refused with the location and a remedy', (schema, contradiction) => {
    expect(contradictionIn(schema)).toBe(contradiction);
    expect(() => checkInputSchema(schema)).toThrow(`fits no input, since ${contradiction}`);
    const values: JsonObject[] = [
      {},
      { a: {} },
      { a: 1 },
      { a: '1' },
      { a: 4 },
      { a: [] },
      { b: 1 },
    ];
    for (const value of values) {
      expect(argumentsProblem(schema, value)).toBeDefined();
    }
  });

  test.each<[JsonObject, JsonObject]>([
    // The limits are about another type, or about a field that may be absent.
    [field({ minimum: 5, maximum: 4 }), { a: 'text' }],
    [field({ type: ['number', 'string'], minimum: 5, maximum: 4 }), { a: 'text' }],
    [{ properties: { a: false } }, {}],
    [{ required: ['a'], additionalProperties: false, patternProperties: { '^a$': {} } }, { a: 1 }],
    [{ required: ['a'] }, { a: 1 }],
    [field({ required: ['b'], additionalProperties: false }), { a: 1 }],
    [field({ anyOf: [false, { const: null, type: 'null' }] }), { a: null }],
    [field({ type: 'integer', enum: ['1', 2] }), { a: 2 }],
    [field({ type: 'number', minimum: 4, maximum: 4 }), { a: 4 }],
  ])('%j is not refused, because %j matches', (schema, value) => {
    expect(() => checkInputSchema(schema)).not.toThrow();
    expect(argumentsProblem(schema, value)).toBeUndefined();
  });
});
