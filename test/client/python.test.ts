import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { OpenApi } from '#scripts/python/document.ts';
import { pythonFiles } from '#scripts/python/generate.ts';
import { methodsOf } from '#scripts/python/methods.ts';
import { dataOperations, handwritten, omitted, operations } from '#scripts/python/names.ts';
import { snakeCase } from '#scripts/python/types.ts';
import { operationsReached } from './operations-reached.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const sources = 'clients/python/src/durable_workflows';
const files = pythonFiles();

const documents = {
  ops: JSON.parse(read('docs/openapi/ops.json')) as OpenApi,
  data: JSON.parse(read('docs/openapi/data.json')) as OpenApi,
};
/** The operations of a document as `POST /api/runs/{}/fork`, with their ids. */
const operationsOf = ({ paths }: OpenApi): Map<string, string> =>
  new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([verb, { operationId }]): [string, string] => [
        `${verb.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, '{}')}`,
        operationId,
      ]),
    ),
  );
/** The public methods of the classes in a module. */
const methodsIn = (text: string, className: string): string[] => {
  const [, body = ''] = text.split(new RegExp(`^class ${className}\\b.*:$`, 'm'));
  const [own = ''] = body.split(/^\S/m);
  return [...own.matchAll(/^ {4}(?:async )?def ([a-z]\w*)\(/gm)].map(([, name = '']) => name);
};

describe('the Python client', () => {
  // Not `expectCommitted`: `npm run python:generate` updates these files.
  test.each(Object.keys(files))('has a current %s: npm run python:generate updates it', (path) => {
    expect(read(path) === files[path]).toBe(true);
  });

  test('has one method for each operation of the operations API, and no other', () => {
    const methods = methodsOf(documents.ops, operations).filter(
      ({ answer, fixed }) => answer !== 'str' || fixed['format'] === undefined,
    );
    const requested = methods.map(
      ({ verb, path }) => `${verb} ${path.replaceAll(/\{\w+\}/g, '{}')}`,
    );
    const all = operationsOf(documents.ops);
    const byHand = [...all].filter(([, id]) => id in handwritten).map(([operation]) => operation);
    const left = [...all].filter(([, id]) => omitted.includes(id)).map(([operation]) => operation);
    expect(byHand).toHaveLength(Object.keys(handwritten).length);
    expect([...requested, ...byHand, ...left].sort()).toEqual([...all.keys()].sort());
  });

  test('has one method for each operation of the data API', () => {
    const methods = methodsOf(documents.data, dataOperations).filter(
      ({ name }) => name !== 'create_export_csv',
    );
    const requested = methods.map(
      ({ verb, path }) => `${verb} ${path.replaceAll(/\{\w+\}/g, '{}')}`,
    );
    expect(requested.sort()).toEqual([...operationsOf(documents.data).keys()].sort());
  });

  test.each([
    ['_operations.py', 'Operations'],
    ['_data_operations.py', 'DataOperations'],
  ])('has the same methods in both classes of %s', (file, name) => {
    const methods = methodsIn(read(`${sources}/${file}`), name);
    expect(methods.length).toBeGreaterThan(15);
    expect(methodsIn(read(`${sources}/_async${file}`), `Async${name}`)).toEqual(methods);
  });

  test('has the handwritten methods in both clients', () => {
    const text = read(`${sources}/client.py`);
    const both = [...Object.values(handwritten), 'run', 'wait_for_run', 'data'].sort();
    for (const [name, close] of [
      ['Client', 'close'],
      ['AsyncClient', 'aclose'],
    ] as const) {
      expect(methodsIn(text, name).sort()).toEqual([...both, close].sort());
    }
  });

  test('calls operations what the TypeScript client calls them', async () => {
    const { all } = await operationsReached();
    const others = methodsOf(documents.ops, operations)
      .map(({ name, verb, path }) => ({
        name,
        known: [...(all.get(`${verb} ${path.replaceAll(/\{\w+\}/g, '{}')}`) ?? [])].map(snakeCase),
      }))
      .filter(({ name, known }) => !known.includes(name));
    expect(others).toEqual([]);
    expect(
      Object.values(handwritten).filter(
        (name) => ![...all.values()].some((names) => [...names].map(snakeCase).includes(name)),
      ),
    ).toEqual([]);
  });

  test('names no operation in its tables that there is not', () => {
    const ids = new Set([
      ...operationsOf(documents.ops).values(),
      ...operationsOf(documents.data).values(),
    ]);
    const named = [operations, dataOperations, handwritten].flatMap((table) => Object.keys(table));
    expect([...named, ...omitted].filter((id) => !ids.has(id))).toEqual([]);
  });

  test('depends on httpx alone', () => {
    expect(read('clients/python/pyproject.toml')).toMatch(/^dependencies = \["httpx[^",]*,<1"\]$/m);
  });
});
