import { describe, expect, test } from '@jest/globals';
import {
  fieldsOfSchema,
  problemOfField,
  problemsInWords,
  startOfSchema,
} from '#console/src/parts/forms/schema-fields.ts';

const schema = {
  type: 'object',
  required: ['amount', 'agreed', 'payee'],
  properties: {
    amount: { type: 'integer', minimum: 1, title: 'Amount', description: 'In cents' },
    agreed: { type: 'boolean' },
    method: { enum: ['card', 'bank'], default: 'bank' },
    due: { type: ['string', 'null'], format: 'date' },
    tags: { type: 'array', items: { type: 'string' } },
    rows: { type: 'array', items: { type: 'object' } },
    payee: { type: 'object', properties: { name: { type: 'string' } } },
    either: { anyOf: [{ type: 'string' }, { type: 'number' }] },
  },
};

describe('the fields of a schema', () => {
  test('have the type of each property, or are JSON if there is none', () => {
    const fields = fieldsOfSchema(schema) ?? [];
    expect(fields.map(({ name, input }) => [name, input])).toEqual([
      ['amount', 'number'],
      ['agreed', 'flag'],
      ['method', 'choice'],
      ['due', 'text'],
      ['tags', 'names'],
      ['rows', 'json'],
      ['payee', 'group'],
      ['either', 'json'],
    ]);
    expect(fields[0]).toMatchObject({
      ...{ label: 'Amount', hint: 'In cents', required: true, whole: true, least: 1 },
    });
    expect(fields[3]).toMatchObject({ type: 'date', label: 'due', required: false });
  });

  test.each([[{}], [{ type: 'object' }], [{ properties: {} }], [null], [[]]])(
    'are only JSON without properties: %j',
    (other) => {
      expect(fieldsOfSchema(other)).toBeUndefined();
      expect(startOfSchema(other)).toEqual({});
    },
  );

  test('start with the defaults, and with the apparent value of required fields', () => {
    expect(startOfSchema(schema)).toEqual({ agreed: false, method: 'bank', payee: {} });
  });

  test.each([
    ['Invalid input: input.amount must be >= 1', ['input', 'amount'], 'amount must be >= 1'],
    ['Invalid input: input.tags.0 must be a text', ['input', 'tags'], 'tags.0 must be a text'],
    [
      "Invalid body: input.payee must have required property 'name'",
      ['input', 'payee', 'name'],
      'This field is required',
    ],
    [
      'Invalid input: input.payee is missing: add it; input.amount must be a number, not a text; input.x must be 1',
      ['input', 'amount'],
      'amount must be a number, not a text',
    ],
    ['Invalid input: input.a is missing: add it', ['input', 'a'], 'This field is required'],
    ['Invalid input: input.amounts must be 1', ['input', 'amount'], undefined],
    ['Run is failed, not paused at a gate', ['input', 'amount'], undefined],
    [undefined, ['input', 'amount'], undefined],
  ])('show %s at the field %j', (refusal, path, shown) => {
    expect(problemOfField(refusal, path)).toBe(shown);
  });
});

test('an error names the fields by their labels', () => {
  const said = (problem: string) => problemsInWords(problem, schema);
  expect(said('Invalid input: input.amount is missing: add it')).toBe('Amount is required.');
  expect(said('Invalid input: input.amount must be >= 1; input.due is missing: add it')).toBe(
    'Amount must be >= 1. due is required.',
  );
  expect(said('Invalid input: input must be an object')).toBeUndefined();
});
