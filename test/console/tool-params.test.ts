import { describe, expect, test } from '@jest/globals';
import { paramsOf, scalarOf } from '#console/src/pages/workflows/editor/authoring/tool-params.ts';
import { schemaOfTool } from '#console/src/pages/workflows/editor/authoring/tool-schemas.ts';
import { builtinTools, toolParams } from '#shared/tools.ts';

describe('the form of a tool', () => {
  test.each([...builtinTools])('has the parameters that %s accepts', (tool) => {
    const { required, optional } = toolParams[tool as keyof typeof toolParams];
    const names = paramsOf(tool, schemaOfTool(tool, []) ?? {}, {}).map(({ name }) => name);
    expect(names.toSorted()).toEqual([...required.flat(), ...optional].toSorted());
  });

  test('knows the kind of each, and keeps what the schema does not have', () => {
    const schema = {
      properties: {
        count: { type: 'integer' },
        tone: { enum: ['calm', 'loud'], description: 'How it sounds' },
        body: {},
        lines: { type: 'array' },
        headers: { type: 'object', additionalProperties: { type: ['string', 'number'] } },
        query: { type: 'object', additionalProperties: { type: 'string' } },
        to: { anyOf: [{ type: 'string' }, { type: 'array' }] },
      },
      required: ['tone'],
    };
    const given = {
      body: { a: 1 },
      headers: { accept: '*/*' },
      query: { page: 2 },
      to: 'ada@example.com',
      extra: 'kept',
    };
    const params = paramsOf('custom:crm', schema, given);
    expect(params.map(({ name, kind }) => [name, kind])).toEqual([
      ['tone', 'text'],
      ['count', 'scalar'],
      ['body', 'json'],
      ['lines', 'json'],
      ['headers', 'texts'],
      ['query', 'json'],
      ['to', 'text'],
      ['extra', 'text'],
    ]);
    expect(params[0]).toMatchObject({
      required: true,
      values: ['calm', 'loud'],
      description: 'How it sounds',
    });
  });

  test('finds the schema of a custom tool, and none for other names', () => {
    const custom = [{ name: 'crm', input_schema: { type: 'object' } }];
    expect(schemaOfTool('custom:crm', custom)).toEqual({ type: 'object' });
    expect(schemaOfTool('custom:other', custom)).toBeUndefined();
    expect(schemaOfTool('toString', custom)).toBeUndefined();
  });

  test('parses numbers, true and false, and treats anything else as a template', () => {
    expect(['5', '0.5', 'true', '{order.amount}', '"5"', '5 or so'].map(scalarOf)).toEqual([
      ...[5, 0.5, true, '{order.amount}', '"5"', '5 or so'],
    ]);
  });
});
