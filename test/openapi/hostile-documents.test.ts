import { describe, expect, test } from '@jest/globals';
import { buildRequest } from '#shared/openapi/request.ts';
import { readDocument } from '#shared/openapi/document.ts';
import type { JsonObject } from '#shared/json.ts';
import { checkArgumentSchema } from '#shared/platform/calls/argument-schema.ts';
import { growth } from '#test/support/growth.ts';
import { documentWith, imported, importOf } from './documents.ts';

const problemOf = (text: string): string | undefined => {
  const read = readDocument(text);
  return 'problem' in read ? read.problem : undefined;
};
const get = (given: object, rest: object = {}) =>
  imported(documentWith({ '/a': { get: given } }, rest));
const bodyOf = (schema: object, schemas: object = {}) =>
  imported(
    documentWith(
      {
        '/a': {
          post: { requestBody: { required: true, content: { 'application/json': { schema } } } },
        },
      },
      { components: { schemas } },
    ),
  );
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

describe('a text that is no document', () => {
  test.each<[string, string | RegExp]>([
    ['', 'The document is not OpenAPI 3.0, OpenAPI 3.1 or Swagger 2.0'],
    ['null', 'The document is not OpenAPI 3.0, OpenAPI 3.1 or Swagger 2.0'],
    ['[]', 'The document is not OpenAPI 3.0, OpenAPI 3.1 or Swagger 2.0'],
    ['<html>', 'The document is not OpenAPI 3.0, OpenAPI 3.1 or Swagger 2.0'],
    ['{"asyncapi": "2.0.0", "paths": {}}', /is not OpenAPI/],
    ['{"swagger": "1.2", "paths": {}}', /is not OpenAPI/],
    ['{"openapi": "3.1.0"}', 'The document has no paths'],
    ['{"openapi": "3.1.0", "paths": []}', 'The document has no paths'],
    ['{"openapi": ', /^The document cannot be read: it is neither JSON nor YAML: /],
    ['a: [', /^The document cannot be read: it is neither JSON nor YAML: /],
    ['a: *unknown', /^The document cannot be read: it is neither JSON nor YAML: /],
    ['\0\0', /^The document/],
  ])('%j has a problem', (text, problem) => {
    expect(problemOf(text)).toEqual(
      typeof problem === 'string' ? problem : expect.stringMatching(problem),
    );
  });

  test('is too long from 20 MB on', () => {
    expect(problemOf(`{"openapi": "3.1.0", "x": "${'x'.repeat(21 * 1024 * 1024)}"}`)).toBe(
      'The document cannot be read: it is longer than 20 MB',
    );
  });

  test('is nested too deeply, in JSON and in YAML', () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    expect(problemOf(deep)).toMatch(/^The document /);
    expect(problemOf(`a: ${deep}`)).toBe('The document cannot be read: it is nested too deeply');
  });

  test('has aliases that grow without bound', () => {
    const lines = Array.from({ length: 12 }, (_, n) =>
      n === 0
        ? 'a0: &a0 [x, x, x, x, x, x, x, x, x]'
        : `a${n}: &a${n} [${Array.from({ length: 9 }, () => `*a${n - 1}`).join(', ')}]`,
    );
    expect(problemOf(['openapi: 3.1.0', 'paths: {}', ...lines].join('\n'))).toMatch(/alias/i);
  });

  test('of YAML may use an anchor some hundred times', () => {
    const paths = Array.from({ length: 500 }, (_, n) => `  /p${n}: { get: *get }`);
    const text = ['openapi: 3.1.0', 'x: &get { responses: {} }', 'paths:', ...paths].join('\n');
    expect(problemOf(text)).toBeUndefined();
  });

  test('of YAML that contains itself is read or refused', () => {
    const text = `openapi: 3.1.0
servers: [{ url: https://a.example }]
paths:
  /a:
    post:
      requestBody: { content: { application/json: { schema: &s { type: object, properties: { s: *s } } } } }
`;
    const outcome = importOf(text);
    if (!('problem' in outcome)) expect(outcome.operations.length + outcome.skipped.length).toBe(1);
  });
});

describe('references', () => {
  test.each<[object, string]>([
    [
      { parameters: [{ $ref: '#/components/parameters/none' }] },
      "it refers to '#/components/parameters/none', which is not there",
    ],
    [
      { parameters: [{ $ref: '#/paths/~1a/get/parameters/0' }] },
      'a parameter of it refers to itself',
    ],
    [{ parameters: [{ $ref: '#none' }] }, "it refers to '#none', which is not there"],
    [
      { parameters: [{ $ref: '#/constructor/prototype' }] },
      "it refers to '#/constructor/prototype', which is not there",
    ],
    [
      { parameters: [{ $ref: './other.yaml#/p' }] },
      "it refers to './other.yaml#/p', which has no address without the URL of the document",
    ],
    [
      { parameters: [{ $ref: 'https://b.example/o.yaml' }] },
      "it refers to 'https://b.example/o.yaml', which was not loaded",
    ],
    [
      { parameters: [{ $ref: 'file:///etc/passwd' }] },
      "it refers to 'file:///etc/passwd', which has no address without the URL of the document",
    ],
    [{ parameters: ['text'] }, 'a parameter of it is not an object'],
    [
      { parameters: [{ in: 'query', name: 'q', schema: ref('none') }] },
      "it refers to '#/components/schemas/none', which is not there",
    ],
    [
      { parameters: [{ in: 'header', name: 'a b' }] },
      "its header parameter 'a b' has a name that cannot be sent",
    ],
  ])('and parameters are named in the reason: %j', (given, reason) => {
    expect(get(given)).toMatchObject({
      operations: [],
      skipped: [{ operation: 'GET /a', reason }],
    });
  });

  test.each<[string, object]>([
    ['A', { A: ref('A') }],
    ['A', { A: ref('B'), B: ref('A') }],
    [
      'A',
      { A: { allOf: [ref('B')] }, B: { description: 'x', anyOf: [ref('A'), { type: 'null' }] } },
    ],
    ['A', { A: { not: ref('A') } }],
  ])('that require themselves are a reason to skip', (name, schemas) => {
    const { operations, skipped } = bodyOf(
      { type: 'object', properties: { a: ref(name) } },
      schemas,
    );
    expect(operations).toEqual([]);
    expect(skipped[0]?.reason).toMatch(/itself/);
  });

  test('of a chain of ten thousand schemas end', () => {
    const schemas = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, n) => [
        `S${n}`,
        { type: 'object', properties: { n: ref(`S${n + 1}`) } },
      ]),
    );
    const { skipped } = bodyOf({ ...ref('S0') }, { ...schemas, S10000: { type: 'string' } });
    expect(skipped[0]?.reason).toBe('the schema of its arguments is longer than 65,536 characters');
  });

  test('lead to other documents by their URL, and from there relative to it', () => {
    const document = documentWith({
      '/a': { $ref: 'paths/a.yaml' },
      '/b': { get: { parameters: [{ $ref: 'missing.json#/x' }] } },
    });
    const documentUrl = 'https://docs.example.com/api/openapi.json';
    expect(imported(document, { documentUrl }).missing.sort()).toEqual([
      'https://docs.example.com/api/missing.json',
      'https://docs.example.com/api/paths/a.yaml',
    ]);
    const documents = new Map([
      [
        'https://docs.example.com/api/paths/a.yaml',
        'get:\n  parameters:\n    - { name: q, in: query, schema: { $ref: "../schemas.json#/Q" } }\n',
      ],
      ['https://docs.example.com/api/schemas.json', '{"Q": {"type": "integer"}}'],
    ]);
    const outcome = imported(document, { documentUrl, documents });
    expect(outcome.operations).toMatchObject([
      { operation: 'GET /a', input_schema: { properties: { q: { type: 'integer' } } } },
    ]);
    expect(outcome.missing).toEqual(['https://docs.example.com/api/missing.json']);
    documents.delete('https://docs.example.com/api/schemas.json');
    expect(imported(document, { documentUrl, documents }).missing).toEqual([
      'https://docs.example.com/api/schemas.json',
      'https://docs.example.com/api/missing.json',
    ]);
  });

  test('may name the document itself by its URL', () => {
    const documentUrl = 'https://docs.example.com/openapi.json';
    const parameters = [
      { name: 'q', in: 'query', schema: { $ref: 'openapi.json#/components/schemas/Q' } },
    ];
    const document = documentWith(
      { '/a': { get: { parameters } } },
      { components: { schemas: { Q: { type: 'integer' } } } },
    );
    expect(imported(document, { documentUrl }).operations).toMatchObject([
      { input_schema: { properties: { q: { type: 'integer' } } } },
    ]);
  });
});

describe('names of prototypes', () => {
  const document = JSON.stringify(
    documentWith({
      '/{constructor}/{__proto__}': {
        post: {
          operationId: '__proto__',
          parameters: [{ name: 'hasOwnProperty', in: 'query', schema: { type: 'string' } }],
          requestBody: {
            content: {
              'application/json': {
                schema: {
                  type: 'object',
                  properties: {
                    PROTO: { type: 'object', properties: { PROTO: { type: 'string' } } },
                    toString: { type: 'string' },
                  },
                },
              },
            },
          },
        },
      },
    }),
  ).replaceAll('PROTO', '__proto__');

  test('are data', () => {
    const { operations } = imported(document);
    const { request, input_schema } = operations[0]!;
    expect(input_schema['required']).toEqual(['constructor_', 'path_proto_']);
    expect(() => checkArgumentSchema(input_schema)).not.toThrow();
    const args = {
      constructor_: 'a',
      path_proto_: 'b',
      hasOwnProperty: 'c',
      body_proto_: JSON.parse('{"__proto__": "d"}') as JsonObject,
      toString: 'e',
    };
    expect(buildRequest(request, args as unknown as JsonObject)).toEqual({
      url: 'https://api.example.com/v1/a/b?hasOwnProperty=c',
      headers: { 'Content-Type': 'application/json' },
      body: '{"__proto__":{"__proto__":"d"},"toString":"e"}',
    });
  });

  test('select and name nothing else', () => {
    expect(get({ operationId: 'constructor' }).operations[0]?.name).toBe('constructor');
    expect(
      imported(documentWith({ '/a': { get: {} } }), { operations: ['__proto__'] }),
    ).toMatchObject({
      operations: [],
      skipped: [{ operation: '__proto__' }],
    });
    const schema = { type: 'constructor', required: 'toString', enum: {}, properties: [] };
    expect(
      get({ parameters: [{ name: 'q', in: 'query', schema, style: 'toString' }] }).operations,
    ).toHaveLength(1);
  });
});

describe('a document', () => {
  test('of values of the wrong type is imported as far as it makes sense', () => {
    const odd = [null, 1, 'text', [], {}, true];
    for (const value of odd) {
      const outcome = importOf({
        openapi: '3.0.0',
        info: value,
        servers: [value, { url: 'https://a.example', variables: value }],
        components: { securitySchemes: { a: value }, schemas: value },
        paths: {
          '/a': value,
          '/b': {
            parameters: value,
            servers: value,
            get: value,
            post: { parameters: [], requestBody: value, responses: value },
          },
          '/c': {
            get: {
              operationId: value,
              summary: value,
              description: value,
              deprecated: value,
              servers: [value],
            },
            put: {
              requestBody: { content: value },
              parameters: [{ name: value, in: 'query', schema: value }],
            },
            post: {
              requestBody: {
                content: {
                  'application/json': {
                    schema: {
                      type: value,
                      properties: value,
                      required: value,
                      allOf: value,
                      enum: value,
                      items: value,
                    },
                  },
                },
              },
            },
          },
        },
      });
      expect(outcome).not.toHaveProperty('problem');
    }
  });

  test.each(['/../admin', '/%2e%2E/admin', '/a?b=c', 'a', '/a/{b', '/%zz', '/a\\b'])(
    'with the path %s has it skipped',
    (path) => {
      const { operations, skipped } = imported(documentWith({ [path]: { get: {} } }));
      expect([operations, skipped.length]).toEqual([[], 1]);
    },
  );

  test('contains nothing that Postgres cannot store', () => {
    const { operations } = get({
      summary: 'a\0b\ud800',
      parameters: [{ name: 'q\0', in: 'query', description: '\udfff' }],
    });
    expect(JSON.stringify(operations)).not.toMatch(/\\u0000|\\ud[89a-f]/i);
  });

  test('with schemas nested more deeply than the validator takes allows everything below', () => {
    let schema: object = { type: 'string' };
    for (let n = 0; n < 2_000; n += 1) schema = { type: 'object', properties: { a: schema } };
    const { operations } = bodyOf({ type: 'object', properties: { a: schema } });
    expect(() => checkArgumentSchema(operations[0]!.input_schema)).not.toThrow();
  });

  test('takes time linear in its operations', () => {
    const shared = {
      type: 'object',
      properties: Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`p${n}`, ref('S')])),
    };
    const work = (size: number) => {
      const paths = Array.from({ length: size }, (_, n) => [
        `/a${n}/{id}`,
        {
          post: {
            operationId: 'same',
            requestBody: { content: { 'application/json': { schema: ref('T') } } },
          },
        },
      ]);
      const text = JSON.stringify(
        documentWith(Object.fromEntries(paths), {
          components: { schemas: { S: shared, T: shared } },
        }),
      );
      return () => void imported(text, { limit: 10_000 });
    };
    expect(growth(work, 400)).toBeLessThan(3);
  });
});
