import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { operationsReached } from './operations-reached.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const openApi = read('docs/openapi/ops.json');

const { all, conditional } = await operationsReached();

describe('the API contract', () => {
  test('has a client method for every operation', async () => {
    const { paths } = JSON.parse(openApi) as { paths: Record<string, object> };
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map(
        (method) => `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, '{}')}`,
      ),
    );
    // MCP clients use it.
    const ours = operations.filter((operation) => !operation.endsWith(' /api/mcp'));
    expect(ours.length).toBeGreaterThan(40);
    expect(ours.filter((operation) => !all.has(operation))).toEqual([]);
  });

  test('has a client method for every change of a record that sends the tag', async () => {
    const { paths } = JSON.parse(openApi) as { paths: Record<string, Record<string, any>> };
    const changes = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, { parameters = [] }]) =>
          parameters.some(({ name }: any) => name === 'if-match'),
        )
        .map(([method]) => `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, '{}')}`),
    );
    expect(changes.length).toBeGreaterThan(30);
    expect(changes.filter((operation) => !conditional.has(operation))).toEqual([]);
  });

  test('has the same version as the client', () => {
    const versionOf = (path: string): unknown => (JSON.parse(read(path)) as any).version;
    expect(versionOf('client/package.json')).toBe(versionOf('package.json'));
  });

  test('adds no dependencies to the client', () => {
    const { dependencies, peerDependencies, peerDependenciesMeta } = JSON.parse(
      read('client/package.json'),
    ) as any;
    expect(dependencies).toBeUndefined();
    // Only for the hook.
    expect(peerDependencies).toEqual({ react: expect.any(String) });
    expect(peerDependenciesMeta).toEqual({ react: { optional: true } });
  });
});
