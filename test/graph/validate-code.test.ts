import { expect, test } from '@jest/globals';
import type { GraphIssue } from '#shared/contract/workflows/graph.ts';
import { checkGraph } from '#shared/graph/graph-check.ts';
import { checkGraphUntrusted } from '#shared/platform/threads/untrusted.ts';

const context = { tools: new Set<string>(), customTools: new Map() };
const graphOf = (source: string, rest: object = {}) => ({
  nodes: [{ id: 'c', kind: 'code', source, ...rest }],
  edges: [],
});
const issues = async (source: string, rest?: object): Promise<GraphIssue[]> => {
  const { errors, warnings } = await checkGraphUntrusted('ws_1', graphOf(source, rest), context);
  return [...errors, ...warnings];
};

test('code is parsed and never executed', async () => {
  expect(await issues('export default (state) => state;')).toEqual([]);
  expect(await issues('for (;;); export default (state) => state;')).toEqual([]);
  expect(
    await issues('export default (state: object) => state;', { language: 'typescript' }),
  ).toEqual([]);
  expect(await issues('const a = 1;\nexport default (;')).toEqual([
    {
      code: 'code_invalid',
      message: 'nodes[0].source: Unexpected token (line 2, column 17)',
      node_id: 'c',
      path: 'nodes[0].source',
      position: 29,
    },
  ]);
  expect((await issues('const a = 1;'))[0]?.message).toContain('It needs `export default`');
});

test('the browser, which does not parse it, accepts it for now', () => {
  expect(checkGraph(graphOf('const a = ;'), context).errors).toEqual([]);
});

test('its processor time and its language are limited', () => {
  const found = checkGraph(graphOf('x', { timeout_seconds: 11, language: 'python' }), context);
  expect(found.errors.map(({ path }) => path)).toEqual([
    'nodes[0].timeout_seconds',
    'nodes[0].language',
  ]);
});
