import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  parseTemplate,
  renderTemplate,
  renderValue,
  TemplateError,
  templateReads,
} from '#shared/graph/expression/template.ts';
import { renderParams } from '#shared/graph/prepare/step.ts';
import type { Json, JsonObject } from '#shared/json.ts';

const state: JsonObject = {
  ticket: 'It broke',
  n: 3,
  none: null,
  list: [1, { x: 'deep' }],
  user: { name: 'Bo', 'full name': 'Bo B', tags: ['a'] },
  'node-1': 'hyphen',
  trick: '{ticket} {{n}}',
};

describe('templates', () => {
  test.each<[string, Json]>([
    ['plain', 'plain'],
    ['', ''],
    ['Ticket: {ticket}!', 'Ticket: It broke!'],
    ['{ticket}{n}', 'It broke3'],
    ['{user.name} {list[1].x} {user.tags[0]}', 'Bo deep a'],
    ['{user[\'full name\']} {user["name"]}', 'Bo B Bo'],
    ['{node-1}.', 'hyphen.'],
    ['is {none} {n} {user.tags}', 'is null 3 ["a"]'],
    // Exactly one reference keeps its type.
    ['{n}', 3],
    ['{none}', null],
    ['{user}', { name: 'Bo', 'full name': 'Bo B', tags: ['a'] }],
    [' {n}', ' 3'],
    // Literal braces.
    ['{{ticket}}', '{ticket}'],
    ['{{{ticket}}}', '{It broke}'],
    ['{{', '{'],
    ['}}', '}'],
    ['a }} b {{ c', 'a } b { c'],
    // Braces with other contents stay.
    ['{}', '{}'],
    ['{ ticket }', '{ ticket }'],
    ['{"a": 1}', '{"a": 1}'],
    ['{"a": {"b": {n}}}', '{"a": {"b": 3}}'],
    ['{{"a": {{"b": {n}}}}}', '{"a": {"b": 3}}'],
    ['{1}', '{1}'],
    ['{a.}', '{a.}'],
    ['{user..name}', '{user..name}'],
    ['{user.name', '{user.name'],
    ['user.name}', 'user.name}'],
    ['{a + b}', '{a + b}'],
    // Inserted text is not rendered again.
    ['{trick}', '{ticket} {{n}}'],
    ['<{trick}>', '<{ticket} {{n}}>'],
  ])('%j renders as %j', (text, expected) => {
    expect(renderTemplate(text, state)).toEqual(expected);
  });

  test.each([
    ['{missing}', 'missing'],
    ['Hi {user.age}', 'user.age'],
    ['{list[2]}', 'list[2]'],
    ['{ticket.length}', 'ticket.length'],
    ['{user.constructor}', 'user.constructor'],
    ['{__proto__}', '__proto__'],
    ['{toString}', 'toString'],
    ['{none.x}', 'none.x'],
  ])('%j fails naming %j', (text, key) => {
    expect(() => renderTemplate(text, state)).toThrow(new TemplateError(`Missing key '${key}'`));
  });

  test('values are rendered at any depth, but keys are not', () => {
    const value = { '{n}': '{n}', deep: [{ a: 'n={n}', b: 1 }, null, true], list: '{list}' };
    expect(renderValue(value, state)).toEqual({
      '{n}': 3,
      deep: [{ a: 'n=3', b: 1 }, null, true],
      list: [1, { x: 'deep' }],
    });
  });

  test('a key named like a prototype stays a key', () => {
    const value = renderValue(JSON.parse('{"__proto__": {"polluted": "{n}"}}') as Json, state);
    expect(JSON.stringify(value)).toBe('{"__proto__":{"polluted":3}}');
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  test('the total size of a value is limited', () => {
    const big = { text: 'x'.repeat(1_000_000) };
    expect(() => renderTemplate('{text} '.repeat(5), big)).toThrow('longer than');
    expect(() =>
      renderValue(
        Array.from({ length: 5 }, () => '-{text}'),
        big,
      ),
    ).toThrow('longer than');
  });

  test('roots are the top-level keys, each once', () => {
    expect(templateReads('{a.b} {c[0]} {{d}} {a} {"e": 1} {node-1}')).toEqual([
      { key: 'a', position: 1 },
      { key: 'c', position: 7 },
      { key: 'node-1', position: 33 },
    ]);
  });

  test.each([
    ['see {a.} here', [{ text: '{a.}', position: 4 }]],
    ['{ ticket }', [{ text: '{ ticket }', position: 0 }]],
    ['{ticket', [{ text: '{ticket', position: 0 }]],
    ['a {{ticket}}', [{ text: '{{ticket}}', position: 2 }]],
    [
      '{{ ticket.id }}{{b[0]}}',
      [
        { text: '{{ ticket.id }}', position: 0 },
        { text: '{{b[0]}}', position: 15 },
      ],
    ],
    ['{{"json": {"a": 1}}} {{{ticket}}} {{{{ticket}}}} {{ return x }} {{}}', []],
    ['{"json": 1} and { return x; } {}', []],
  ])('%j is doubtful at %j', (text, doubtful) => {
    expect(parseTemplate(text).doubtful).toEqual(doubtful);
  });
});

describe('fuzz', () => {
  const piece = fc.constantFrom(
    '{',
    '}',
    '{{',
    '}}',
    'n',
    'user',
    '.name',
    '[0]',
    "['x']",
    ' ',
    '"',
    'text',
    '{n}',
    '{user.name}',
  );

  test('only TemplateError is thrown, and text without braces stays unchanged', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        const text = pieces.join('');
        try {
          const rendered = renderTemplate(text, state);
          if (!/[{}]/.test(text)) expect(rendered).toBe(text);
        } catch (error) {
          expect(error).toBeInstanceOf(TemplateError);
        }
      }),
      { numRuns: 5000 },
    );
  });

  test('doubling all braces makes a text literal', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        const text = pieces.join('');
        expect(renderTemplate(text.replaceAll('{', '{{').replaceAll('}', '}}'), state)).toBe(text);
      }),
      { numRuns: 3000 },
    );
  });

  test('inserted text is unchanged', () => {
    fc.assert(
      fc.property(fc.string(), (value) => {
        expect(renderTemplate('<{v}>', { v: value })).toBe(`<${value}>`);
      }),
    );
  });
});

describe('a form that is written as text', () => {
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const state = { to: '+1 555', text: 'a&b=c d+100%', list: ['x', 'y&z'], none: null, n: 5 };
  const fieldsOf = (body: string, headers: JsonObject = form) =>
    renderParams('http_request', { url: 'https://a.example/', headers, body }, state).params[
      'body'
    ];

  test.each<[string, Json]>([
    ['To={to}&Body={text}', { To: '+1 555', Body: 'a&b=c d+100%' }],
    ['a=1+2%263&b=Hi {text}!&c', { a: '1 2&3', b: 'Hi a&b=c d+100%!', c: '' }],
    ['l={list}&l={n}&none={none}&', { l: [['x', 'y&z'], 5], none: null }],
    ['%7Bk%7d={n}&x=50%&y={{n}}{n}', { '{k}': 5, x: '50%', y: '{n}5' }],
    [
      'payload={{"text": "{text}", "o": {"n": {n}}}}',
      { payload: '{"text": "a&b=c d+100%", "o": {"n": 5}}' },
    ],
    ['{to}={n}', '+1 555=5'],
    ['a=1&b=2', 'a=1&b=2'],
    ['{list}', ['x', 'y&z']],
  ])('keeps its values apart: %j', (body, expected) => {
    expect(fieldsOf(body)).toEqual(expected);
  });

  test('is plain text with any other content type', () => {
    const rendered = 'To=+1 555&Body=a&b=c d+100%';
    const others: JsonObject[] = [
      {},
      { 'content-type': 'text/plain' },
      { Accept: form['content-type'] },
    ];
    for (const headers of others) {
      expect(fieldsOf('To={to}&Body={text}', headers)).toBe(rendered);
    }
    const type = { 'CONTENT-TYPE': 'Application/X-WWW-Form-Urlencoded; charset=utf-8' };
    expect(fieldsOf('To={to}', type)).toEqual({ To: '+1 555' });
  });

  test('has its secrets in the values of fields', () => {
    const templates = { headers: form, body: 'a={to}&Token={secrets.T}' };
    expect(renderParams('http_request', templates, state)).toEqual({
      params: { headers: form, body: { a: '+1 555', Token: '{secrets.T}' } },
      secrets: [{ path: ['body', 'Token'], name: 'T', marker: '{secrets.T}' }],
    });
  });
});
