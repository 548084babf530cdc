import { describe, expect, test } from '@jest/globals';
import {
  fieldsOfSchema,
  problemOfField,
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
  test('each property has the field of its type, and JSON without one', () => {
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
    'without properties there is only JSON: %j',
    (other) => {
      expect(fieldsOfSchema(other)).toBeUndefined();
      expect(startOfSchema(other)).toEqual({});
    },
  );

  test('a form starts with the defaults, and with what required fields look like', () => {
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
  ])('%s is at its field %j', (refusal, path, shown) => {
    expect(problemOfField(refusal, path)).toBe(shown);
  });
});
