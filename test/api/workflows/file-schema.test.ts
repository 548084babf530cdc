import { beforeAll, describe, expect, test } from '@jest/globals';
import { Ajv, type ValidateFunction } from 'ajv';
import { builtInTemplates } from '#shared/templates/index.ts';
import { limitsInput } from '#shared/contract/limits/limits.ts';
import { useTestApi } from '#test/api/test-api.ts';

const api = useTestApi();
let validate: ValidateFunction;
beforeAll(async () => {
  const answer = await api.call('GET', '/schemas/workflow.json');
  expect(answer).toMatchObject({
    status: 200,
    headers: {
      'content-type': 'application/schema+json; charset=utf-8',
      'cache-control': 'public, max-age=3600',
    },
  });
  validate = new Ajv({ strict: false }).compile(JSON.parse(answer.text) as object);
});

const graph = { nodes: [{ id: 'a', kind: 'agent', prompt: 'Answer' }], edges: [] };

describe('the schema of workflow files', () => {
  test.each(builtInTemplates.map((template) => [template.name, template] as const))(
    'accepts the template %s',
    (name, template) => {
      const { description, graph: drawn, inputSchema = null, checks, limits = null } = template;
      validate({ name, description, graph: drawn, input_schema: inputSchema, checks, limits });
      expect(validate.errors ?? []).toEqual([]);
    },
  );

  test.each([
    ['without a name', { graph }, 'name'],
    ['with an unknown setting', { name: 'W', cheks: [] }, 'cheks'],
    [
      'with an unknown kind of node',
      { name: 'W', graph: { nodes: [{ id: 'a', kind: 'agnt' }] } },
      'kind',
    ],
    [
      'with an unknown key of a node',
      { name: 'W', graph: { nodes: [{ ...graph.nodes[0], promt: 'x' }] } },
      'promt',
    ],
    ['with a limit of nothing', { name: 'W', limits: { concurrency: { limit: 0 } } }, 'limit'],
  ])('refuses a file %s', (_title, file, part) => {
    expect(validate(file)).toBe(false);
    expect(JSON.stringify(validate.errors)).toContain(part);
  });

  test('accepts limits as they are stored, and a file that names the schema', () => {
    const limits = limitsInput.parse({ rate: { limit: 1, per_seconds: 60 } });
    validate({ $schema: 'https://example.com/schemas/workflow.json', name: 'W', limits, graph });
    expect(validate.errors ?? []).toEqual([]);
  });
});
