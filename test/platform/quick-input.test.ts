import { describe, expect, test } from '@jest/globals';
import { schemaErrors } from '#shared/platform/calls/argument-schema.ts';
import { isQuickInput } from '#shared/platform/threads/quick-input.ts';

const names = (count: number): string[] => Array.from({ length: count }, (_, n) => `name${n}`);
const list = (count: number): number[] => Array.from({ length: count }, (_, n) => n);
const listOf = (items: object) => ({ type: 'object', properties: { list: { items } } }) as never;

describe('a comparison on the main thread', () => {
  test.each([
    ['types and limits', { type: 'number', minimum: 1 }],
    ['choices', { anyOf: [{ type: 'number' }, { oneOf: [{ type: 'string' }, { const: 1 }] }] }],
  ])('is allowed for %s', (_what, schema) => {
    expect(isQuickInput(listOf(schema), { list: list(100) }, 'first')).toBe(true);
  });

  test.each([
    ['references', { $ref: '#/$defs/a' }],
    ['patterns', { pattern: 'a+' }],
    ['a pattern in a choice', { anyOf: [{ pattern: 'a+' }] }],
    ['unique items', { uniqueItems: true }],
    ['an unknown keyword', { dependentSchemas: {} }],
    ['a choice that is no list', { anyOf: { type: 'number' } }],
  ])('is not allowed for %s', (_what, schema) => {
    expect(isQuickInput(listOf(schema), { list: [1] }, 'first')).toBe(false);
  });

  test('is limited in number of problems if all are collected', () => {
    const schema = listOf({ required: names(80) });
    const value = { list: list(1_900).map(() => ({})) };
    expect(isQuickInput(schema, value, 'first')).toBe(true);
    expect(schemaErrors(schema, value, 'first')).toHaveLength(1);
    expect(isQuickInput(schema, value, 'all')).toBe(false);
    const fewer = { list: list(100).map(() => ({})) };
    expect(isQuickInput(schema, fewer, 'all')).toBe(true);
    expect(schemaErrors(schema, fewer, 'all').length).toBeLessThanOrEqual(10_000);
  });
});
