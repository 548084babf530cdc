import { describe, expect, test } from '@jest/globals';
import type { ImportedOperation } from '#shared/openapi/imported.ts';
import { documentWith, imported, importOf } from './documents.ts';

/** The only operation of a document with this one. */
function operation(given: object, rest: object = {}): ImportedOperation {
  const { operations, skipped } = imported(
    documentWith({ '/things/{id}': { post: { operationId: 'doIt', ...given } } }, rest),
  );
  expect(skipped).toEqual([]);
  return operations[0]!;
}

/** Why the only operation of a document is skipped. */
const reasonOf = (given: object, rest: object = {}): string | undefined =>
  imported(documentWith({ '/things': { post: { operationId: 'doIt', ...given } } }, rest))
    .skipped[0]?.reason;

const json = (schema: object, required = true) => ({
  requestBody: { required, content: { 'application/json': { schema } } },
});
const string = { type: 'string' };

describe('the arguments of an operation', () => {
  test('are its parameters and the fields of its body', () => {
    const { input_schema, request } = operation({
      parameters: [
        { name: 'id', in: 'path', required: true, schema: { type: 'integer' } },
        {
          name: 'limit',
          in: 'query',
          description: 'How many',
          schema: { type: 'integer', default: 10 },
        },
        { name: 'X-Trace', in: 'header', required: true, schema: string },
        { name: 'session', in: 'cookie', schema: string },
      ],
      ...json({ type: 'object', required: ['name'], properties: { name: string, tag: string } }),
    });
    expect(input_schema).toEqual({
      type: 'object',
      properties: {
        id: { type: 'integer' },
        limit: { type: 'integer', default: 10, description: 'How many' },
        'X-Trace': string,
        session: string,
        name: string,
        tag: string,
      },
      required: ['id', 'X-Trace', 'name'],
      additionalProperties: false,
    });
    expect(request).toEqual({
      server: 'https://api.example.com/v1',
      path: '/things/{id}',
      parameters: [
        { argument: 'id', name: 'id', in: 'path', style: 'simple', explode: false },
        { argument: 'limit', name: 'limit', in: 'query', style: 'form', explode: true },
        { argument: 'X-Trace', name: 'X-Trace', in: 'header', style: 'simple', explode: false },
        { argument: 'session', name: 'session', in: 'cookie', style: 'form', explode: true },
      ],
      body: {
        content_type: 'application/json',
        required: true,
        fields: [
          { argument: 'name', name: 'name' },
          { argument: 'tag', name: 'tag' },
        ],
      },
      operation: 'doIt',
      own_server: false,
    });
  });

  test('whose names clash all get their place as prefix', () => {
    const { input_schema, request } = operation({
      parameters: [
        { name: 'id', in: 'path', required: true, schema: string },
        { name: 'id', in: 'query', schema: string },
        { name: 'path_id', in: 'query', schema: string },
      ],
      ...json({ type: 'object', properties: { id: string } }),
    });
    expect(Object.keys(input_schema['properties'] as object)).toEqual([
      'path_id_2',
      'query_id',
      'path_id',
      'body_id',
    ]);
    expect(input_schema['required']).toEqual(['path_id_2']);
    expect(request.body).toMatchObject({ fields: [{ argument: 'body_id', name: 'id' }] });
  });

  test('have names that every model takes, for any names in the document', () => {
    const names = ['filter[name]', 'a b', '名', 'x'.repeat(80), '__proto__', 'constructor', '$top'];
    const { request } = operation({
      parameters: names.map((name) => ({ name, in: 'query', schema: string })),
    });
    const given = request.parameters.filter(({ in: place }) => place === 'query');
    expect(given.map(({ name }) => name)).toEqual(names);
    expect(given.map(({ argument }) => argument)).toEqual([
      ...['filter_name', 'a_b', 'value', 'x'.repeat(64), 'proto_', 'constructor_', '_top'],
    ]);
  });

  test('do not include credentials, and headers that the service sends', () => {
    const names = ['Authorization', 'host', 'Idempotency-Key', 'Accept', 'x-api-key', 'X-Other'];
    const { request } = operation(
      {
        parameters: [
          ...names.map((name) => ({ name, in: 'header', required: true, schema: string })),
          { name: 'token', in: 'query', schema: string },
        ],
      },
      {
        components: {
          securitySchemes: {
            key: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
            other: { type: 'apiKey', in: 'query', name: 'token' },
          },
        },
      },
    );
    expect(request.parameters.map(({ name }) => name)).toEqual(['X-Other', 'id']);
  });

  test('of an operation replace those of its path, and a name in the path needs no declaration', () => {
    const { operations } = imported(
      documentWith({
        '/things/{id}': {
          parameters: [
            { name: 'q', in: 'query', schema: string },
            { name: 'other', in: 'path', required: true, schema: string },
          ],
          get: { parameters: [{ name: 'q', in: 'query', schema: { type: 'integer' } }] },
        },
      }),
    );
    expect(operations[0]?.input_schema['properties']).toEqual({
      q: { type: 'integer' },
      id: string,
    });
  });

  test('take the parts of an allOf together', () => {
    const { input_schema } = operation(
      json({
        allOf: [
          { $ref: '#/components/schemas/Base' },
          { type: 'object', required: ['b'], properties: { b: string, a: { maxLength: 5 } } },
        ],
      }),
      {
        components: {
          schemas: { Base: { type: 'object', required: ['a'], properties: { a: string } } },
        },
      },
    );
    expect(input_schema).toMatchObject({
      properties: { a: { allOf: [string, { maxLength: 5 }] }, b: string },
      required: ['id', 'a', 'b'],
    });
  });

  test.each<[string, object]>([
    ['a list', { type: 'array', items: string }],
    ['a choice', { oneOf: [{ type: 'object', properties: { a: string } }] }],
    ['a map', { type: 'object', additionalProperties: string }],
    [
      'an object that takes more',
      { type: 'object', properties: { a: string }, additionalProperties: true },
    ],
    ['an object or null', { type: ['object', 'null'], properties: { a: string } }],
    ['anything', {}],
  ])('are the whole body if it is %s', (_what, schema) => {
    const { input_schema, request } = operation(json(schema));
    expect(Object.keys(input_schema['properties'] as object)).toEqual(['id', 'body']);
    expect(request.body).toEqual({
      content_type: 'application/json',
      required: true,
      argument: 'body',
    });
  });

  test('of an optional body are optional', () => {
    const schema = { type: 'object', required: ['a'], properties: { a: string } };
    expect(operation(json(schema, false)).input_schema['required']).toEqual(['id']);
  });

  test('leave out an optional body that allows nothing', () => {
    const form = (schema: object, required: boolean) => ({
      requestBody: { required, content: { 'application/x-www-form-urlencoded': { schema } } },
    });
    const nothing = { type: 'object', properties: {}, additionalProperties: false };
    const { operations } = imported(
      documentWith({
        '/none': { delete: form(nothing, false) },
        '/any': { delete: form({ type: 'object' }, false) },
        '/must': { post: form(nothing, true) },
      }),
    );
    expect(
      operations.map(({ request, input_schema }) => [request.body !== null, input_schema]),
    ).toMatchObject([
      [false, { properties: {} }],
      [true, { properties: { body: {} } }],
      [true, { properties: { body: {} }, required: ['body'] }],
    ]);
  });

  test('leave out what is read-only, also where it is required and deeper', () => {
    const thing = {
      type: 'object',
      required: ['id', 'name'],
      properties: { id: { ...string, readOnly: true }, name: string },
    };
    const { input_schema, response_schema } = operation({
      ...json({ type: 'object', properties: { seen: { readOnly: true }, inner: thing } }),
      responses: { 201: { content: { 'application/json': { schema: thing } } } },
    });
    expect(input_schema['properties']).toEqual({
      id: string,
      inner: { type: 'object', required: ['name'], properties: { name: string } },
    });
    expect(response_schema).toEqual({
      type: 'object',
      required: ['id', 'name'],
      properties: { id: string, name: string },
    });
  });
});

describe('schemas', () => {
  const inner = (schema: object, rest: object = {}) =>
    (
      operation(json({ type: 'object', properties: { a: schema } }), rest).input_schema[
        'properties'
      ] as {
        a: object;
      }
    ).a;

  test('lose what the validator does not take, and what says nothing about values', () => {
    expect(
      inner({
        type: 'integer',
        format: 'int64',
        minimum: -9.3e18,
        maximum: 9_223_372_036_854_775_807,
        exclusiveMaximum: true,
        multipleOf: 0,
        discriminator: { propertyName: 'x' },
        xml: { name: 'a' },
        example: 1,
        'x-internal': true,
        enum: [],
        pattern: '(?=look)',
        minLength: -1,
      }),
    ).toEqual({ type: 'integer', format: 'int64' });
  });

  test('keep patterns that RE2 takes, in the syntax of JavaScript', () => {
    expect(inner({ type: 'string', pattern: '^\\u0041+$' })).toEqual({
      type: 'string',
      pattern: '^\\u0041+$',
    });
  });

  test('of OpenAPI 3.0 allow null where they are nullable, and have exclusive bounds', () => {
    const old = { openapi: '3.0.3', components: { schemas: { Name: string } } };
    expect(inner({ ...string, nullable: true, enum: ['x'] }, old)).toEqual({
      type: ['string', 'null'],
      enum: ['x', null],
    });
    expect(inner({ nullable: true, oneOf: [string, { type: 'integer' }] }, old)).toEqual({
      anyOf: [{ oneOf: [string, { type: 'integer' }] }, { type: 'null' }],
    });
    expect(inner({ $ref: '#/components/schemas/Name', nullable: true }, old)).toEqual({
      anyOf: [string, { type: 'null' }],
    });
    expect(inner({ type: 'number', minimum: 1, exclusiveMinimum: true }, old)).toEqual({
      type: 'number',
      exclusiveMinimum: 1,
    });
  });

  test('that are used once stand in place, others are definitions, also those of themselves', () => {
    const tree = {
      type: 'object',
      properties: {
        left: { $ref: '#/components/schemas/Tree' },
        name: { $ref: '#/components/schemas/Name' },
      },
    };
    const { input_schema } = operation(
      json({ type: 'object', properties: { tree: { $ref: '#/components/schemas/Tree' } } }),
      { components: { schemas: { Tree: tree, Name: { ...string, description: 'Of it' } } } },
    );
    expect(input_schema).toMatchObject({
      properties: { tree: { $ref: '#/$defs/Tree' } },
      $defs: {
        Tree: {
          type: 'object',
          properties: { left: { $ref: '#/$defs/Tree' }, name: { ...string, description: 'Of it' } },
        },
      },
    });
  });

  test('have texts where a document of YAML has numbers', () => {
    const document = `
openapi: 3.1
info: { title: T, version: 1 }
servers: [{ url: https://api.example.com }]
paths:
  /a:
    get:
      parameters:
        - { name: v, in: query, schema: { type: string, enum: [1, 2.5, true], default: 1 } }
`;
    expect(imported(document)).toMatchObject({
      version: '1',
      operations: [
        { input_schema: { properties: { v: { enum: ['1', '2.5', 'true'], default: '1' } } } },
      ],
    });
  });

  test('that are too long lose their inner descriptions, and are skipped if that is not enough', () => {
    const properties = (count: number) =>
      Object.fromEntries(
        Array.from({ length: count }, (_, n) => [
          `p${n}`,
          { ...string, description: 'x'.repeat(300) },
        ]),
      );
    const nested = (count: number) =>
      json({
        type: 'object',
        properties: {
          a: {
            description: 'Kept',
            type: 'object',
            properties: { b: { properties: properties(count) } },
          },
        },
      });
    const { input_schema } = operation(nested(300));
    expect(input_schema).toMatchObject({
      properties: { a: { description: 'Kept', properties: { b: { properties: { p0: string } } } } },
    });
    expect(JSON.stringify(input_schema)).not.toContain('xxx');
    expect(reasonOf(nested(3_000))).toBe(
      'the schema of its arguments is longer than 65,536 characters',
    );
  });
});

describe('a tool', () => {
  test('has the name of its operation, with a prefix, or of its method and path', () => {
    const { operations } = imported(
      documentWith({
        '/a': { get: { operationId: 'listThings' }, post: { operationId: 'things/create' } },
        '/b/{id}': { get: {}, put: { operationId: 'listThings!' } },
        '/c': { get: { operationId: '一覧' } },
      }),
      { prefix: 'crm_' },
    );
    expect(operations.map(({ operation, name }) => [operation, name])).toEqual([
      ['listThings', 'crm_list_things'],
      ['things/create', 'crm_things_create'],
      ['GET /b/{id}', 'crm_get_b_id'],
      ['listThings!', 'crm_list_things_2'],
      ['一覧', 'crm_get_c'],
    ]);
  });

  test('has a name of its own, and the same one however few are imported', () => {
    const paths = {
      '/a': { get: { operationId: 'getIt' } },
      '/b': { get: { operationId: 'get_it' } },
      '/c': {
        get: { operationId: `${'long'.repeat(20)}a` },
        put: { operationId: `${'long'.repeat(20)}b` },
      },
    };
    const names = imported(documentWith(paths)).operations.map(({ name }) => name);
    expect(names).toEqual([
      'get_it',
      'get_it_2',
      'long'.repeat(16),
      `${'long'.repeat(16).slice(0, 62)}_2`,
    ]);
    const alone = imported(documentWith(paths), { operations: ['get_it'] });
    expect(alone.operations.map(({ name }) => name)).toEqual(['get_it_2']);
  });

  test('says what it does, and first that it is deprecated', () => {
    const given = { summary: 'Sum', description: `Long ${'x'.repeat(2_000)}`, deprecated: true };
    const tool = operation(given);
    expect(tool).toMatchObject({ label: 'Sum', deprecated: true, read_only: false });
    expect(tool.description).toHaveLength(1_000);
    expect(tool.description).toMatch(/^Deprecated\.\n\nSum\n\nLong x/);
  });

  test('only reads with GET and HEAD', () => {
    const methods = ['get', 'head', 'post', 'put', 'patch', 'delete'];
    const paths = { '/a': Object.fromEntries(methods.map((method) => [method, {}])) };
    const { operations } = imported(documentWith(paths));
    expect(operations.filter((each) => each.read_only).map(({ method }) => method)).toEqual(
      expect.arrayContaining(['GET', 'HEAD']),
    );
    expect(operations.filter((each) => each.read_only)).toHaveLength(2);
  });
});

describe('bodies', () => {
  const content = (...types: string[]) => ({
    requestBody: {
      required: true,
      content: Object.fromEntries(
        types.map((type) => [type, { schema: { type: 'object', properties: { a: string } } }]),
      ),
    },
  });

  test.each<[string[], string]>([
    [['application/xml', 'application/json; charset=utf-8'], 'application/json'],
    [
      ['multipart/form-data', 'application/x-www-form-urlencoded', 'application/vnd.api+json'],
      'application/vnd.api+json',
    ],
    [['*/*'], 'application/json'],
    [
      ['multipart/form-data', 'application/x-www-form-urlencoded'],
      'application/x-www-form-urlencoded',
    ],
    [['text/plain', 'multipart/form-data'], 'multipart/form-data'],
    [['text/html', 'text/plain'], 'text/plain'],
  ])('of %j are sent as %s', (types, expected) => {
    expect(operation(content(...types)).request.body?.content_type).toBe(expected);
  });

  test.each<[object, string]>([
    [content('application/xml'), 'its body is application/xml, which cannot be sent'],
    [content('application/octet-stream'), 'its body is a file (application/octet-stream)'],
    [
      {
        requestBody: {
          content: {
            'multipart/form-data': {
              schema: {
                type: 'object',
                required: ['f'],
                properties: { f: { ...string, format: 'binary' } },
              },
            },
          },
        },
      },
      "its field 'f' is a file",
    ],
  ])('that cannot be sent are a reason to skip: %j', (given, reason) => {
    expect(reasonOf(given)).toBe(reason);
  });

  test('of a multipart form leave out files that are optional', () => {
    const schema = {
      type: 'object',
      properties: { f: { ...string, format: 'binary' }, a: string },
    };
    const { request } = operation({
      requestBody: { required: true, content: { 'multipart/form-data': { schema } } },
    });
    expect(request.body).toMatchObject({ fields: [{ argument: 'a', name: 'a' }] });
  });
});

describe('Swagger 2.0', () => {
  const swagger = (given: object, rest: object = {}) =>
    imported({
      swagger: '2.0',
      info: { title: 'Old', version: '1' },
      host: 'api.example.com',
      basePath: '/v2/',
      schemes: ['http', 'https'],
      paths: { '/a': { post: given } },
      ...rest,
    });

  test('has lists, forms and bodies of its own', () => {
    const parameters = [
      { name: 'csv', in: 'query', type: 'array', items: string },
      { name: 'multi', in: 'query', type: 'array', items: string, collectionFormat: 'multi' },
      { $ref: '#/parameters/Form' },
      { name: 'list', in: 'formData', type: 'array', items: string },
    ];
    const { operations, servers } = swagger(
      { parameters },
      {
        parameters: {
          Form: {
            name: 'form',
            in: 'formData',
            type: 'string',
            required: true,
            'x-nullable': true,
          },
        },
      },
    );
    expect(servers).toEqual(['https://api.example.com/v2']);
    expect(operations[0]?.input_schema).toMatchObject({
      properties: { form: { type: ['string', 'null'] }, csv: { type: 'array', items: string } },
      required: ['form'],
    });
    expect(operations[0]?.request).toMatchObject({
      parameters: [
        { name: 'csv', style: 'form', explode: false },
        { name: 'multi', style: 'form', explode: true },
      ],
      body: {
        content_type: 'application/x-www-form-urlencoded',
        fields: [{ name: 'form' }, { name: 'list', style: 'form', explode: false }],
      },
    });
  });

  test('has a body of the type that it consumes, and files', () => {
    const body = { name: 'b', in: 'body', required: true, schema: { $ref: '#/definitions/Thing' } };
    const { operations } = swagger(
      { parameters: [body], responses: { 200: { schema: { $ref: '#/definitions/Thing' } } } },
      {
        definitions: { Thing: { type: 'object', properties: { a: string } } },
        consumes: ['application/xml', 'application/json'],
      },
    );
    expect(operations[0]).toMatchObject({
      request: { body: { content_type: 'application/json', fields: [{ argument: 'a' }] } },
      response_schema: { type: 'object', properties: { a: string } },
    });
    const file = { name: 'f', in: 'formData', type: 'file', required: true };
    expect(swagger({ parameters: [file] }).skipped[0]?.reason).toBe("its field 'f' is a file");
  });

  test('names a format of lists that cannot be sent', () => {
    const parameters = [
      { name: 'a', in: 'query', type: 'array', items: string, collectionFormat: 'tsv' },
    ];
    expect(swagger({ parameters }).skipped[0]?.reason).toBe(
      "its parameter 'a' is a list in the format 'tsv'",
    );
  });
});

describe('servers', () => {
  const paths = { '/a': { get: {} } };
  const serverOf = (servers: object[] | undefined, options: object = {}) => {
    const outcome = importOf(documentWith(paths, { servers }), options);
    return 'problem' in outcome ? outcome.problem : outcome.operations[0]?.request.server;
  };

  test.each<[object[] | undefined, object, string | undefined]>([
    [[{ url: 'https://a.example/v1/' }], {}, 'https://a.example/v1'],
    [
      [{ url: '/v1' }],
      { documentUrl: 'https://b.example/docs/openapi.json' },
      'https://b.example/v1',
    ],
    [
      [{ url: 'v1' }],
      { documentUrl: 'https://b.example/docs/openapi.json' },
      'https://b.example/docs/v1',
    ],
    [[{ url: '/v1' }, { url: 'https://c.example' }], {}, 'https://c.example'],
    [
      [
        {
          url: 'https://{region}.example:{port}',
          variables: { region: { default: 'eu' }, port: { default: 8443 } },
        },
      ],
      {},
      'https://eu.example:8443',
    ],
    [[{ url: 'https://a.example' }], { server: 'https://d.example/x' }, 'https://d.example/x'],
    [undefined, { server: '/x', documentUrl: 'https://b.example/y' }, 'https://b.example/x'],
  ])('%j with %j: %s', (servers, options, expected) => {
    expect(serverOf(servers, options)).toBe(expected);
  });

  test.each<[object[] | undefined, object]>([
    [undefined, {}],
    [[{ url: '/v1' }], {}],
    [[{ url: 'ftp://a.example' }], {}],
    [[{ url: 'https://{unknown}.example' }], {}],
    [[{ url: 'https://user:password@a.example' }], {}],
  ])('%j without a usable one have a problem', (servers, options) => {
    expect(serverOf(servers, options)).toBe(
      'The document names no server with an absolute URL: say which one to call',
    );
  });

  test('of an operation are its own, and marked if they have another origin', () => {
    const own = (url: string) => ({ get: { servers: [{ url }] } });
    const document = documentWith({
      '/a': own('https://api.example.com/v2'),
      '/b': own('https://files.example.com'),
      '/c': { servers: [{ url: 'https://api.example.com:8443' }], get: {} },
    });
    const of = (server?: string) =>
      imported(document, server === undefined ? {} : { server }).operations.map(({ request }) => [
        request.server,
        request.own_server,
      ]);
    expect(of()).toEqual([
      ['https://api.example.com/v2', false],
      ['https://files.example.com', true],
      ['https://api.example.com:8443', true],
    ]);
    expect(of('https://staging.example.com')).toEqual([
      ['https://staging.example.com/v2', false],
      ['https://files.example.com', true],
      ['https://api.example.com:8443', true],
    ]);
  });
});

describe('the choice of operations', () => {
  const document = documentWith({
    '/a': { get: { operationId: 'same' }, post: { operationId: 'same' } },
    '/b': { get: { operationId: 'other' }, delete: {} },
  });
  const of = (...operations: string[]) => {
    const outcome = imported(document, { operations });
    return [outcome.operations.map(({ operation }) => operation), outcome.skipped];
  };

  test('takes ids, and methods with paths', () => {
    expect(of('other', 'delete /b', 'GET /a')).toEqual([['GET /a', 'other', 'DELETE /b'], []]);
  });

  test('says which are not there, and which are several', () => {
    expect(of('missing', 'same')).toEqual([
      [],
      [
        { operation: 'missing', reason: 'the document has no such operation' },
        {
          operation: 'same',
          reason:
            "several operations have this id: name it by its method and path, such as 'GET /pets'",
        },
      ],
    ]);
  });

  test('ends at the limit', () => {
    expect(imported(document, { limit: 3 })).toMatchObject({
      operations: [{}, {}, {}],
      beyond_limit: 1,
    });
  });
});
