import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { createConfig, lintFromString } from '@redocly/openapi-core';

const projectDir = join(import.meta.dirname, '../../..');

/** Places where a rule does not apply, and why. */
const exceptions: Record<string, readonly string[]> = {
  // A WebSocket succeeds with 101.
  'operation-2xx-response': [
    '#/paths/~1api~1runs~1{id}~1stream/get/responses',
    '#/paths/~1api~1stream/get/responses',
  ],
};

/** Violations of the recommended rules in a document, both errors and warnings. */
async function problemsOf(source: string): Promise<{ rule: string; at: string; says: string }[]> {
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config });
  return problems.map(({ ruleId, location: [place], message }) => ({
    rule: ruleId,
    at: place?.pointer ?? '',
    says: message,
  }));
}

test.each(['ops', 'data'])('the document %s.json passes the linter', async (name) => {
  const source = readFileSync(join(projectDir, 'docs/openapi', `${name}.json`), 'utf8');
  const problems = await problemsOf(source);
  expect(problems.filter(({ rule, at }) => exceptions[rule]?.includes(at) !== true)).toEqual([]);
});

test('the linter reports an invalid document', async () => {
  const document = {
    openapi: '3.1.0',
    info: { title: 'Wrong', version: '1', license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: '/' }],
    security: [],
    paths: { '/things/{id}': { get: { operationId: 'getThing', responses: {} } } },
  };
  const found = (await problemsOf(JSON.stringify(document))).map(({ rule }) => rule);
  expect(found).toEqual(
    expect.arrayContaining(['path-parameters-defined', 'operation-4xx-response']),
  );
});
