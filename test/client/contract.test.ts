import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { createClient } from '../../client/index.ts';
import { contractTypes } from '../../scripts/client/contract-types.ts';
import { expectCommitted } from '../api/committed-file.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const openApi = read('docs/openapi/ops.json');

interface Reached {
  /** The operations that the methods of a client request, each called with ids, an empty body and options. */
  all: Set<string>;
  /** Those that send the tag of the options. */
  conditional: Set<string>;
}

async function operationsReached(): Promise<Reached> {
  const reached = new Set<string>();
  const conditional = new Set<string>();
  const note = (method: string, url: string, headers: object = {}): void => {
    const path = new URL(url).pathname.replaceAll(/\b(?:first|second|7)\b/g, '{}');
    reached.add(`${method} ${path}`);
    if ('if-match' in headers) conditional.add(`${method} ${path}`);
  };
  class Socket {
    constructor(url: string) {
      note('GET', url);
    }
    addEventListener(type: string, listener: (event: any) => void): void {
      if (type === 'close') setImmediate(() => listener({ code: 1001, reason: '' }));
    }
    close(): void {}
  }
  const client = createClient({
    fetch: async (url, init) => {
      note(init?.method ?? '', url as string, init?.headers);
      return new Response(
        '{"runs": [], "approvals": [], "versions": [], "logs": [], "events": []}',
      );
    },
    webSocket: Socket,
  });
  for (const method of Object.values(client) as ((...args: unknown[]) => unknown)[]) {
    const second = method === client.getVersion ? 7 : 'second';
    await callOrIterate(() => method('first', second, {}));
    const known = { ifMatch: 'tag' };
    for (const given of [
      [known, {}],
      ['first', known, known],
      ['first', second, known],
    ]) {
      await callOrIterate(() => method(...given));
    }
  }
  return { all: reached, conditional };
}

/** Errors from fields that the fake response lacks, or from arguments of another method, do not matter here. */
async function callOrIterate(call: () => unknown): Promise<void> {
  try {
    const result = call() as AsyncGenerator | Promise<unknown>;
    await (Symbol.asyncIterator in result ? result.next() : result);
  } catch {}
}

describe('the API contract', () => {
  test('has its types in the client, as committed', async () => {
    expectCommitted('client/openapi.ts', await contractTypes(openApi));
  });

  test('has a client method for every operation', async () => {
    const { paths } = JSON.parse(openApi) as { paths: Record<string, object> };
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map(
        (method) => `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, '{}')}`,
      ),
    );
    const { all: reached } = await operationsReached();
    // MCP clients use the first, and the others are those of /api/webhooks by another name.
    const ours = operations.filter(
      (operation) =>
        !operation.endsWith(' /api/mcp') && !operation.includes(' /api/data/endpoints'),
    );
    expect(ours.length).toBeGreaterThan(40);
    expect(ours.filter((operation) => !reached.has(operation))).toEqual([]);
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
    const ours = changes.filter((operation) => !operation.includes(' /api/data/endpoints'));
    expect(ours.length).toBeGreaterThan(30);
    const { conditional } = await operationsReached();
    expect(ours.filter((operation) => !conditional.has(operation))).toEqual([]);
  });

  test('has the same version as the client', () => {
    const versionOf = (path: string): unknown => (JSON.parse(read(path)) as any).version;
    expect(versionOf('client/package.json')).toBe(versionOf('package.json'));
  });

  test('adds no dependencies to the client', () => {
    const { dependencies, peerDependencies } = JSON.parse(read('client/package.json')) as any;
    expect({ dependencies, peerDependencies }).toEqual({});
  });
});
