import { describe, expect, test } from '@jest/globals';
import type {
  MappedBody,
  MappedParameter,
  RequestMapping,
} from '#shared/contract/tools/request-mapping.ts';
import { buildRequest } from '#shared/openapi/request.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { growth } from '#test/support/growth.ts';

const mapping = (given: Partial<RequestMapping>): RequestMapping => ({
  server: 'https://api.example.com/v1',
  path: '/things',
  parameters: [],
  body: null,
  operation: 'test',
  own_server: false,
  ...given,
});

const parameter = (given: Partial<MappedParameter>): MappedParameter => ({
  argument: 'color',
  name: 'color',
  in: 'query',
  style: 'form',
  explode: true,
  ...given,
});

const object = { R: 100, G: 200, B: 150 };
const list = ['blue', 'black', 'brown'];

/** The table of OpenAPI's section “Style Examples”. */
const styles: [
  place: MappedParameter['in'],
  style: MappedParameter['style'],
  explode: boolean,
  ...texts: Record<'empty' | 'string' | 'array' | 'object', string | undefined>[],
][] = [
  [
    ...(['path', 'matrix', false] as const),
    {
      empty: undefined,
      string: ';color=blue',
      array: ';color=blue,black,brown',
      object: ';color=R,100,G,200,B,150',
    },
  ],
  [
    ...(['path', 'matrix', true] as const),
    {
      empty: undefined,
      string: ';color=blue',
      array: ';color=blue;color=black;color=brown',
      object: ';R=100;G=200;B=150',
    },
  ],
  [
    ...(['path', 'label', false] as const),
    { empty: undefined, string: '.blue', array: '.blue,black,brown', object: '.R,100,G,200,B,150' },
  ],
  [
    ...(['path', 'label', true] as const),
    { empty: undefined, string: '.blue', array: '.blue.black.brown', object: '.R=100.G=200.B=150' },
  ],
  [
    ...(['path', 'simple', false] as const),
    { empty: undefined, string: 'blue', array: 'blue,black,brown', object: 'R,100,G,200,B,150' },
  ],
  [
    ...(['path', 'simple', true] as const),
    { empty: undefined, string: 'blue', array: 'blue,black,brown', object: 'R=100,G=200,B=150' },
  ],
  [
    ...(['query', 'form', false] as const),
    {
      empty: 'color=',
      string: 'color=blue',
      array: 'color=blue,black,brown',
      object: 'color=R,100,G,200,B,150',
    },
  ],
  [
    ...(['query', 'form', true] as const),
    {
      empty: 'color=',
      string: 'color=blue',
      array: 'color=blue&color=black&color=brown',
      object: 'R=100&G=200&B=150',
    },
  ],
  [
    ...(['query', 'spaceDelimited', false] as const),
    {
      empty: 'color=',
      string: 'color=blue',
      array: 'color=blue%20black%20brown',
      object: 'color=R%20100%20G%20200%20B%20150',
    },
  ],
  [
    ...(['query', 'pipeDelimited', false] as const),
    {
      empty: 'color=',
      string: 'color=blue',
      array: 'color=blue%7Cblack%7Cbrown',
      object: 'color=R%7C100%7CG%7C200%7CB%7C150',
    },
  ],
  [
    ...(['query', 'deepObject', true] as const),
    {
      empty: 'color=',
      string: 'color=blue',
      array: 'color[0]=blue&color[1]=black&color[2]=brown',
      object: 'color[R]=100&color[G]=200&color[B]=150',
    },
  ],
  [
    ...(['header', 'simple', false] as const),
    { empty: '', string: 'blue', array: 'blue,black,brown', object: 'R,100,G,200,B,150' },
  ],
  [
    ...(['header', 'simple', true] as const),
    { empty: '', string: 'blue', array: 'blue,black,brown', object: 'R=100,G=200,B=150' },
  ],
  [
    ...(['cookie', 'form', false] as const),
    {
      empty: 'color=',
      string: 'color=blue',
      array: 'color=blue,black,brown',
      object: 'color=R,100,G,200,B,150',
    },
  ],
  [
    ...(['cookie', 'form', true] as const),
    {
      empty: 'color=',
      string: 'color=blue',
      array: 'color=blue; color=black; color=brown',
      object: 'R=100; G=200; B=150',
    },
  ],
];

/** What a parameter becomes in its place; undefined when it is refused. */
function written(given: MappedParameter, value: Json): string | undefined {
  const path = given.in === 'path' ? '/{color}' : '/';
  const built = buildRequest(mapping({ server: 'https://a.example', path, parameters: [given] }), {
    color: value,
  });
  if ('problem' in built) return undefined;
  if (given.in === 'header') return built.headers['color'] ?? '';
  if (given.in === 'cookie') return built.headers['Cookie'] ?? '';
  const { pathname, search } = new URL(built.url);
  return given.in === 'path' ? pathname.slice(1) : search.slice(1);
}

const built = (given: Partial<RequestMapping>, args: JsonObject) =>
  buildRequest(mapping(given), args);

const problemOf = (given: Partial<RequestMapping>, args: JsonObject): string => {
  const outcome = built(given, args);
  if (!('problem' in outcome)) throw new Error(`Not refused: ${outcome.url}`);
  return outcome.problem;
};

describe('parameters', () => {
  test.each(styles)('in a %s of style %s, explode %s', (place, style, explode, texts) => {
    const given = parameter({ in: place, style, explode });
    expect({
      empty: written(given, ''),
      string: written(given, 'blue'),
      array: written(given, list),
      object: written(given, object),
    }).toEqual(texts);
  });

  test('are encoded, so that a value adds no other parameter and no other part of the path', () => {
    const parameters = [
      parameter({ argument: 'id', name: 'id', in: 'path', style: 'simple', explode: false }),
      parameter({ argument: 'q', name: 'a b[]' }),
    ];
    expect(built({ path: '/x/{id}/y', parameters }, { id: 'a/../?#ü%2e', q: "b&c=d+e'" })).toEqual({
      url: 'https://api.example.com/v1/x/a%2F..%2F%3F%23%C3%BC%252e/y?a%20b%5B%5D=b%26c%3Dd%2Be%27',
      headers: {},
    });
  });

  test('keep reserved characters where the document allows them', () => {
    const parameters = [parameter({ allow_reserved: true })];
    expect(built({ parameters }, { color: '/a:b?c&d#e+f[g]' })).toMatchObject({
      url: 'https://api.example.com/v1/things?color=/a:b?c%26d%23e%2Bf%5Bg%5D',
    });
  });

  test('with a content type are one text', () => {
    const parameters = [parameter({ content_type: 'application/json' })];
    expect(built({ parameters }, { color: { a: [1, null] } })).toMatchObject({
      url: `https://api.example.com/v1/things?color=${encodeURIComponent('{"a":[1,null]}')}`,
    });
  });

  test('that are null or missing, and empty lists and objects, are left out', () => {
    const parameters = ['a', 'b', 'c', 'd', 'e'].map((name) =>
      parameter({ argument: name, name, in: name < 'd' ? 'query' : 'header' }),
    );
    expect(built({ parameters }, { a: null, b: [], c: {}, d: null, e: [] })).toEqual({
      url: 'https://api.example.com/v1/things',
      headers: {},
    });
  });

  test('have numbers as JavaScript prints them', () => {
    const parameters = [parameter({})];
    const text = (value: number) =>
      (built({ parameters }, { color: value }) as { url: string }).url;
    expect([1e21, 0.1 + 0.2, -0, 5e-324].map(text)).toEqual(
      ['1e%2B21', '0.30000000000000004', '0', '5e-324'].map(
        (each) => `https://api.example.com/v1/things?color=${each}`,
      ),
    );
  });

  test.each<[MappedParameter['in'], MappedParameter['style'], boolean, Json]>([
    ['query', 'spaceDelimited', false, ['a b']],
    ['query', 'pipeDelimited', false, { a: 'b|c' }],
    ['header', 'simple', false, ['a,b']],
    ['header', 'simple', true, { a: 'b,c' }],
  ])(
    'in a %s of style %s, explode %s, are refused if a receiver would read others: %j',
    (place, style, explode, color) => {
      const parameters = [parameter({ in: place, style, explode })];
      expect(problemOf({ parameters }, { color })).toMatch(
        /^A part of 'color' contains the character/,
      );
    },
  );

  test('in a path of style label have dots that are no separators', () => {
    const parameters = [parameter({ in: 'path', style: 'label' })];
    expect(built({ path: '/{color}', parameters }, { color: ['a.b', 'c'] })).toMatchObject({
      url: 'https://api.example.com/v1/.a%2Eb.c',
    });
    expect(problemOf({ path: '/{color}', parameters }, { color: ['.'] })).not.toBe('');
  });

  test('in a query of style form have their separators encoded', () => {
    const parameters = [parameter({ explode: false })];
    expect(built({ parameters }, { color: ['a,b', 'c'] })).toMatchObject({
      url: 'https://api.example.com/v1/things?color=a%2Cb,c',
    });
  });

  test('of an unknown name are refused', () => {
    expect(problemOf({}, { color: 1 })).toBe("The argument 'color' is not known");
    expect(problemOf({}, JSON.parse('{"__proto__": 1}') as JsonObject)).toMatch('__proto__');
  });
});

describe('a path', () => {
  const one = (style: 'simple' | 'label' | 'matrix' = 'simple', explode = false) => [
    parameter({ argument: 'id', name: 'id', in: 'path', style, explode }),
  ];

  test.each<[string, Json]>([
    ['/{id}', '.'],
    ['/{id}', '..'],
    ['/{id}', ''],
    ['/{id}', null],
    ['/{id}', []],
    ['/{id}', ['', '']],
    ['/{id}', {}],
    ['/.{id}', '.'],
    ['/{id}.', '.'],
    ['/%2e{id}', '.'],
    ['/a/{id}/b', '..'],
  ])('%s refuses %j', (path, id) => {
    expect(problemOf({ path, parameters: one() }, { id })).not.toBe('');
  });

  test('refuses two values that make a dot segment together', () => {
    const parameters = ['a', 'b'].map((name) =>
      parameter({ argument: name, name, in: 'path', style: 'simple', explode: false }),
    );
    expect(problemOf({ path: '/{a}{b}', parameters }, { a: '.', b: '.' })).toBe(
      "A part of the path must not be '.' or '..'",
    );
  });

  test('refuses a label whose value makes it a dot segment', () => {
    expect(problemOf({ path: '/{id}', parameters: one('label') }, { id: '.' })).not.toBe('');
  });

  test('takes dots beside other characters', () => {
    expect(built({ path: '/{id}', parameters: one() }, { id: '...' })).toMatchObject({
      url: 'https://api.example.com/v1/...',
    });
  });

  test('encodes what the document writes literally', () => {
    expect(built({ path: '/a b/ü^|/%20' }, {})).toMatchObject({
      url: 'https://api.example.com/v1/a%20b/%C3%BC%5E%7C/%20',
    });
  });

  test.each(['//evil.example/x', '/\\evil.example', '/../x', '/%2E%2e/x'])(
    '%s does not lead elsewhere',
    (path) => {
      const outcome = built({ path }, {});
      if (!('problem' in outcome)) {
        expect(outcome.url).toMatch(/^https:\/\/api\.example\.com\/v1\//);
      }
    },
  );
});

describe('headers and cookies', () => {
  test.each(['a\r\nX: 1', 'a\nb', 'a\0b', 'a\x7fb', 'snowman ☃'])('refuse %j', (value) => {
    const parameters = [parameter({ in: 'header', style: 'simple' })];
    expect(problemOf({ parameters }, { color: value })).toBe(
      "The argument 'color' has a character that a header cannot have",
    );
    expect(problemOf({ parameters }, { color: [value] })).not.toBe('');
    expect(problemOf({ parameters }, { color: { [value]: 1 } })).not.toBe('');
  });

  test('of cookies are encoded', () => {
    const parameters = [
      parameter({ in: 'cookie' }),
      parameter({ argument: 'b', name: 'b', in: 'cookie' }),
    ];
    expect(built({ parameters }, { color: 'a; b=1\r\n', b: 2 })).toMatchObject({
      headers: { Cookie: 'color=a%3B%20b%3D1%0D%0A; b=2' },
    });
  });
});

describe('a body', () => {
  const fields = (content_type: string, ...names: string[]): MappedBody => ({
    content_type,
    required: true,
    fields: names.map((name) => ({ argument: name, name })),
  });

  test('of JSON has its fields under their names, and keeps null', () => {
    const body: MappedBody = {
      content_type: 'application/merge-patch+json',
      required: true,
      fields: [
        { argument: 'body_id', name: 'id' },
        { argument: 'proto', name: '__proto__' },
        { argument: 'c', name: 'c' },
      ],
    };
    expect(built({ body }, { body_id: null, proto: [1], c: 'ü' })).toEqual({
      url: 'https://api.example.com/v1/things',
      headers: { 'Content-Type': 'application/merge-patch+json' },
      body: '{"id":null,"__proto__":[1],"c":"ü"}',
    });
  });

  test('that is optional is not sent without fields; one that is required is empty', () => {
    const body = fields('application/json', 'a');
    expect(built({ body }, {})).toMatchObject({ body: '{}' });
    expect(built({ body: { ...body, required: false } }, {})).not.toHaveProperty('body');
  });

  test('that is one argument is sent whole, and required', () => {
    const body: MappedBody = { content_type: 'application/json', required: true, argument: 'body' };
    expect(built({ body }, { body: [1, null] })).toMatchObject({ body: '[1,null]' });
    expect(problemOf({ body }, {})).toBe("The argument 'body' is missing");
  });

  test('of text is a text', () => {
    const body: MappedBody = { content_type: 'text/plain', required: true, argument: 'body' };
    expect(built({ body }, { body: 'a\r\nb' })).toMatchObject({
      headers: { 'Content-Type': 'text/plain; charset=utf-8' },
      body: 'a\r\nb',
    });
    expect(problemOf({ body }, { body: {} })).toBe("The argument 'body' must be a text");
  });

  test('of a form repeats lists, has objects as JSON, and follows its encoding', () => {
    const body: MappedBody = {
      content_type: 'application/x-www-form-urlencoded',
      required: true,
      fields: [
        { argument: 'a', name: 'a' },
        { argument: 'b', name: 'b' },
        { argument: 'c', name: 'c', style: 'deepObject', explode: true },
        { argument: 'd', name: 'd', style: 'form', explode: false },
        { argument: 'e', name: 'e', content_type: 'application/json' },
        { argument: 'f', name: 'f' },
      ],
    };
    const args = {
      a: ['x&y', 2],
      b: { z: 1 },
      c: { d: { e: [true] } },
      d: [1, 2],
      e: [1],
      f: null,
    };
    expect(
      (built({ body }, args) as { body: string }).body.split('&').map(decodeURIComponent),
    ).toEqual(['a=x&y', 'a=2', 'b={"z":1}', 'c[d][e][0]=true', 'd=1,2', 'e=[1]']);
  });

  test('of multipart text has a boundary that does not occur in it', () => {
    const body = fields('multipart/form-data', 'a', 'b');
    const outcome = built(
      { body },
      { a: '--form-boundary-000000', b: ['form-boundary-000001', { c: 1 }] },
    );
    expect(outcome).toMatchObject({
      headers: { 'Content-Type': 'multipart/form-data; boundary=form-boundary-000002' },
      body: [
        '--form-boundary-000002',
        'Content-Disposition: form-data; name="a"',
        '',
        '--form-boundary-000000',
        '--form-boundary-000002',
        'Content-Disposition: form-data; name="b"',
        '',
        'form-boundary-000001',
        '--form-boundary-000002',
        'Content-Disposition: form-data; name="b"',
        'Content-Type: application/json',
        '',
        '{"c":1}',
        '--form-boundary-000002--',
        '',
      ].join('\r\n'),
    });
  });

  test('of multipart text has names that end no header', () => {
    const body: MappedBody = {
      content_type: 'multipart/form-data',
      required: true,
      fields: [{ argument: 'a', name: 'a"\r\nX: 1' }],
    };
    expect(built({ body }, { a: 'b' })).toMatchObject({
      body: expect.stringContaining('name="a%22%0D%0AX: 1"\r\n\r\nb\r\n'),
    });
  });
});

describe('a request', () => {
  test('whose URL or form becomes too long is refused before it is written', () => {
    const long = 'x'.repeat(10_000);
    const deep = { [long]: Array.from({ length: 10_000 }, () => 1) };
    const parameters = [parameter({ style: 'deepObject' })];
    expect(problemOf({ parameters }, { color: deep })).toBe('The arguments are too long');
    const body: MappedBody = {
      content_type: 'application/x-www-form-urlencoded',
      required: true,
      fields: [{ argument: 'color', name: 'color', style: 'deepObject', explode: true }],
    };
    expect(problemOf({ body }, { color: deep })).toBe('The arguments are too long');
  });

  test('takes time linear in its arguments', () => {
    const body: MappedBody = {
      content_type: 'multipart/form-data',
      required: true,
      fields: [{ argument: 'a', name: 'a' }],
    };
    const work = (size: number) => {
      const a = Array.from(
        { length: size },
        (_, n) => `form-boundary-${String(n).padStart(6, '0')}`,
      );
      return () => void built({ body }, { a });
    };
    expect(growth(work, 100_000)).toBeLessThan(3);
  });
});
