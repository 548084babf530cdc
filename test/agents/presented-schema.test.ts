import { describe, expect, test } from '@jest/globals';
import { presentedSchema } from '#shared/agents/presented-schema.ts';
import type { JsonObject } from '#shared/json.ts';

const text = { type: 'string' };
const number = { type: 'number' };

describe('the schema that models and clients get', () => {
  test('is unchanged if they accept it', () => {
    const schema = {
      type: 'object',
      description: 'An order',
      properties: { id: text, lines: { type: 'array', items: { $ref: '#/$defs/line' } } },
      required: ['id'],
      additionalProperties: { type: 'number' },
      $defs: { line: { anyOf: [text, number] } },
    };
    expect(presentedSchema(schema)).toEqual(schema);
    expect(presentedSchema({ ...schema, additionalProperties: false })).toEqual({
      ...schema,
      additionalProperties: false,
    });
  });

  test.each([{}, { type: 'object' }, { type: ['object', 'null'] }, { required: [] }])(
    'has properties even without arguments: %j',
    (schema) => {
      expect(presentedSchema(schema as JsonObject)).toEqual({ type: 'object', properties: {} });
    },
  );

  test('has the fields of its choices, and describes what they require', () => {
    const choices = { anyOf: [{ required: ['a'] }, { required: ['b'] }] };
    const schema = { type: 'object', properties: { a: {}, b: {} }, ...choices };
    expect(presentedSchema(schema)).toEqual({
      type: 'object',
      properties: { a: {}, b: {} },
      description: `Must also fit this JSON Schema: ${JSON.stringify(choices)}`,
    });
  });

  test.each([
    [
      'oneOf',
      {
        oneOf: [
          {
            properties: { kind: { const: 'refund' }, amount: number },
            required: ['kind', 'amount'],
          },
          { properties: { kind: { const: 'reply' }, text }, required: ['kind', 'text'] },
        ],
      },
      { kind: { anyOf: [{ const: 'refund' }, { const: 'reply' }] }, amount: number, text },
      ['kind'],
    ],
    [
      'allOf',
      {
        properties: { a: text },
        allOf: [{ properties: { b: number }, required: ['b'] }, { $ref: '#/$defs/c' }],
        $defs: { c: { properties: { c: text }, required: ['c'] } },
      },
      { a: text, b: number, c: text },
      ['b', 'c'],
    ],
    [
      '$ref',
      { $ref: '#/$defs/c', $defs: { c: { properties: { c: text }, required: ['c'] } } },
      { c: text },
      ['c'],
    ],
    ['enum', { enum: [{ a: 1 }, { a: 2 }] }, { a: { anyOf: [{ const: 1 }, { const: 2 }] } }, ['a']],
    ['not', { properties: { a: text }, not: { required: ['b'] } }, { a: text }, undefined],
    [
      'if',
      { properties: { a: text }, if: { required: ['a'] }, then: { properties: { b: number } } },
      { a: text, b: number },
      undefined,
    ],
    ['nothing to follow', { $ref: '#/$defs/gone' }, {}, undefined],
    [
      'a circle',
      { allOf: [{ $ref: '#' }, { $ref: '#' }], properties: { a: text } },
      { a: text },
      undefined,
    ],
    [
      'parts of a choice',
      { properties: { a: { $ref: '#/anyOf/0' } }, anyOf: [text, number] },
      { a: {} },
      undefined,
    ],
  ])('joins %s', (_what, schema, properties, required) => {
    const shown = presentedSchema({ type: 'object', ...schema } as JsonObject);
    expect(shown['properties']).toEqual(properties);
    expect(shown['required']).toEqual(required);
    expect(Object.keys(shown).filter((name) => /Of$|^not$|^enum$|^\$ref$|^if$/.test(name))).toEqual(
      [],
    );
    expect(shown['type']).toBe('object');
  });

  test('only has fields that are allowed', () => {
    const schema = {
      properties: { a: text },
      additionalProperties: false,
      anyOf: [{ properties: { b: text } }, { properties: { a: { maxLength: 3 } } }],
    };
    expect(presentedSchema(schema as unknown as JsonObject)).toMatchObject({
      properties: { a: { anyOf: [text, { maxLength: 3 }] } },
      additionalProperties: false,
    });
    const evaluated = { allOf: [{ properties: { a: text } }], unevaluatedProperties: false };
    expect(presentedSchema(evaluated)).toMatchObject({
      properties: { a: text },
      additionalProperties: false,
    });
  });

  test('has names that providers accept as properties, and describes the others', () => {
    const schema = {
      properties: { plain: text, Größe: number, ['x'.repeat(65)]: true },
      required: ['plain', 'Größe'],
      additionalProperties: false,
    };
    expect(presentedSchema(schema)).toEqual({
      type: 'object',
      properties: { plain: text },
      required: ['plain'],
      description: `Has these fields, too, by their exact names: {"Größe":{"type":"number"},"${'x'.repeat(65)}":{}}`,
    });
  });

  test('is just as simple for schemas that are booleans', () => {
    expect(presentedSchema({ properties: { a: true, b: false } })).toEqual({
      type: 'object',
      properties: { a: {}, b: { not: {} } },
    });
  });
});
