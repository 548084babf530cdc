import { describe, expect, jest, test } from '@jest/globals';
import {
  JsonLimitError,
  MAX_LEVELS,
  MAX_VALUES,
  outputProblem,
  parseExactJson,
  parseOutsideJson,
  withDigits,
} from '#shared/outside-json.ts';
import { exactFetch } from '#shared/platform/calls/exact-fetch.ts';
import { growth } from '#test/support/growth.ts';
import { soakTest } from '#test/support/soak.ts';

const read = (text: string): unknown => parseExactJson('body', text);

describe('JSON request bodies', () => {
  test.each([
    '{"id":9007199254740991,"minus":-9007199254740991}',
    '[0,-0,1.5,1e3,1E+20,0e400,0.0,-0.0e-5,1.7976931348623157e308,5e-324]',
    '{"pi":3.14159265358979323846264338327950288}',
    '"12345678901234567890"',
    '{"12345678901234567890":"1e400","a\\\\":"\\"99999999999999999999","b":["\\\\",{"c":1e5}]}',
    '  {"a" : [ { } , [ ] , 1e2 ] }  ',
    'null',
  ])('are parsed like JSON.parse: %s', (text) => {
    expect(read(text)).toEqual(JSON.parse(text));
  });

  test.each([
    ['9007199254740992', '', 'is an integer'],
    ['-9007199254740992', '', 'is an integer'],
    ['{"order":{"id":12345678901234567890}}', 'order.id ', 'is an integer'],
    [
      '{"rows":[{"a":1},{"id":1,"b":[[],[1,99999999999999999999]]}]}',
      'rows.1.b.1.1 ',
      'is an integer',
    ],
    ['{"a":{"b":1},"c":9007199254740993}', 'c ', 'is an integer'],
    ['{"a":[1,2],"c":9007199254740993}', 'c ', 'is an integer'],
    ['{"say \\"hi\\"":{"\\u0041\\\\":9007199254740993}}', 'say "hi".A\\ ', 'is an integer'],
    ['{"a":"x","b" : \n 1e400}', 'b ', 'is a number too large'],
    ['[1,-1E999]', '1 ', 'is a number too large'],
    ['{"a":1e-400}', 'a ', 'is a number too close to 0'],
  ])('are refused with the path of a number that would change: %s', (text, path, problem) => {
    const refusal = `Invalid body: ${path}${problem}`;
    expect(() => read(text)).toThrow(
      expect.objectContaining({
        code: 'invalid',
        message: expect.stringMatching(
          new RegExp(`^${refusal.replaceAll(/[\\"]/g, '\\$&')}.*; send it as a string$`),
        ),
      }),
    );
  });

  test.each([
    '{"input_schema":{"properties":{"id":{"type":"integer","maximum":9223372036854775807}}}}',
    '{"graph":{"nodes":[{"response_schema":{"items":{"minimum":-9223372036854775808}}}]}}',
    '{"draft":{"graph":{"nodes":[{"tools":[{"parameters":{"anyOf":[{"exclusiveMaximum":18446744073709551616}]}}]}]}}}',
    '{"method":"tools/call","params":{"arguments":{"input_schema":{"$defs":{"maximum":{"maximum":9223372036854775807}}}}}}',
  ])('can have limits of any size in a schema: %s', (text) => {
    expect(read(text)).toEqual(JSON.parse(text));
  });

  test.each([
    ['{"input_schema":{"properties":{"id":{"default":9007199254740993}}}}', 'default'],
    ['{"input_schema":{"enum":[{"maximum":9007199254740993}]}}', 'maximum'],
    ['{"input_schema":{"properties":{"maximum":9007199254740993}}}', 'maximum'],
    ['{"input_schema":{"maximum":1e400}}', 'maximum'],
    ['{"input":{"input_schema":{"maximum":9007199254740993}}}', 'maximum'],
    ['{"graph":{"nodes":[{"params":{"input_schema":{"maximum":9007199254740993}}}]}}', 'maximum'],
    ['{"maximum":9007199254740993}', 'maximum'],
  ])('are refused for all other numbers in and next to a schema: %s', (text, path) => {
    expect(() => read(text)).toThrow(new RegExp(`${path} is an? `));
  });

  test('are refused only for numbers that change, in any structure', () => {
    const numbers = [
      '1',
      '-7.25',
      '9007199254740991',
      '9007199254740992',
      '1e400',
      '1e300',
      '"9007199254740993"',
    ];
    const any = <Item>(items: readonly Item[]): Item =>
      items[Math.floor(Math.random() * items.length)]!;
    const make = (depth: number): string => {
      if (depth === 0 || Math.random() < 0.3) {
        return any([...numbers, '"a\\"b"', 'true', 'null', '{}', '[]']);
      }
      const parts = Array.from({ length: Math.ceil(Math.random() * 4) }, () => make(depth - 1));
      return Math.random() < 0.5
        ? `[${parts.join(any([',', ' , ']))}]`
        : `{${parts.map((part, n) => `"k${n}\\\\"${any([':', ' : '])}${part}`).join(',')}}`;
    };
    for (let round = 0; round < 3_000; round += 1) {
      const text = make(5);
      const bare = text.replaceAll(/"(?:[^"\\]|\\.)*"/g, '');
      const changes = bare.includes('9007199254740992') || bare.includes('1e400');
      let refusal: string | undefined;
      try {
        read(text);
      } catch (error) {
        refusal = (error as Error).message;
      }
      expect([text, refusal !== undefined]).toEqual([text, changes]);
      if (refusal === undefined) continue;
      const [, path = ''] =
        /^Invalid body: (?:(.*) )?is an? (?:integer|number)/.exec(refusal) ?? [];
      const at = path === '' ? [] : path.split('.');
      const found = at.reduce<any>((value, key) => value[key], JSON.parse(text));
      expect([text, path, found]).toEqual([text, path, expect.any(Number)]);
      expect(Number.isSafeInteger(found)).toBe(false);
    }
  });

  soakTest('are found in linear time', () => {
    const row = {
      id: '12345678901234567890',
      text: 'a "quoted" text\n'.repeat(8),
      values: [1, 2.5, -3e-7],
    };
    const reading = (rows: number) => {
      const text = JSON.stringify(Array.from({ length: rows }, (_, n) => ({ ...row, n })));
      return () => read(text);
    };
    expect(growth(reading, 8_000)).toBeLessThan(3);
  });
});

const levels = (count: number): string => '['.repeat(count) + ']'.repeat(count);
const values = (count: number): string =>
  `[${Array(count - 1)
    .fill('[]')
    .join(',')}]`;

describe('JSON from outside', () => {
  test.each([
    ['levels', levels(MAX_LEVELS), levels(MAX_LEVELS + 1), 'nested deeper than 100 levels'],
    ['levels of objects', deepObject(MAX_LEVELS), deepObject(MAX_LEVELS + 1), 'nested deeper'],
    ['values', values(MAX_VALUES), values(MAX_VALUES + 1), 'more than 200000 values'],
  ])('has a maximum number of %s', (_what, most, more, problem) => {
    expect(parseOutsideJson(most)).toEqual(JSON.parse(most));
    expect(() => parseOutsideJson(more)).toThrow(JsonLimitError);
    expect(() => parseOutsideJson(more)).toThrow(problem);
    expect(() => read(more)).toThrow(`Invalid body: ${problem}`);
  });

  test('is counted correctly, regardless of what its texts contain', () => {
    const odd = '[{"a\\"[[": "]],,\\\\", "b": {}, "c": [ [ ], { } , -1.5 ]}]';
    // The list, the object, its three members, and the three values in one of them.
    const count = 8;
    const fill = (left: number) => `[${odd},${Array(left).fill(0).join(',')}]`;
    expect(parseOutsideJson(fill(MAX_VALUES - 1 - count))).toHaveLength(MAX_VALUES - count);
    expect(() => parseOutsideJson(fill(MAX_VALUES - count))).toThrow(JsonLimitError);
  });

  test.each(['['.repeat(100_000), values(MAX_VALUES + 1).slice(0, -1)])(
    'that is truncated is not JSON, no matter how large',
    (text) => {
      expect(() => parseOutsideJson(text)).toThrow(SyntaxError);
    },
  );

  test('of megabytes is refused before any of its values exists', () => {
    const text = values(1_600_000);
    const parse = jest.spyOn(JSON, 'parse');
    try {
      expect(() => parseOutsideJson(text)).toThrow(JsonLimitError);
      expect(parse).not.toHaveBeenCalled();
    } finally {
      parse.mockRestore();
    }
  });

  test('keeps every digit of a number that no double can represent, as text', () => {
    expect(
      parseOutsideJson(
        '{"id": 7615917337495251231, "list": [-12345678901234567890, 1, "1e400"], "big": 1e400, "small": -1e-400}',
      ),
    ).toEqual({
      id: '7615917337495251231',
      list: ['-12345678901234567890', 1, '1e400'],
      big: '1e400',
      small: '-1e-400',
    });
    expect(parseOutsideJson('9007199254740993.0')).toBe('9007199254740993.0');
    expect(parseOutsideJson('[9007199254740991,6.02214076e23,1.7976931348623157e308,0.1]')).toEqual(
      [9007199254740991, 6.02214076e23, Number.MAX_VALUE, 0.1],
    );
  });

  test('keeps digits only where they matter', () => {
    const text = '{"created":7615917337495251231,"content":[{"input":{"id":7615917337495251231}}]}';
    expect(withDigits(text, (path) => path.includes('input'))).toBe(
      '{"created":7615917337495251231,"content":[{"input":{"id":"7615917337495251231"}}]}',
    );
  });
});

describe('the output of a step', () => {
  test('can be larger than what it is built from, up to a limit', () => {
    expect(
      outputProblem({ status: 200, body: parseOutsideJson(values(MAX_VALUES)) }),
    ).toBeUndefined();
    expect(outputProblem(JSON.parse(levels(200)) as never)).toBeUndefined();
    expect(outputProblem(JSON.parse(levels(201)) as never)).toMatch(/nested deeper than 200/);
    expect(outputProblem(JSON.parse(levels(50_000)) as never)).toMatch(/nested deeper than 200/);
    expect(outputProblem(JSON.parse(values(250_001)) as never)).toBe('more than 250000 values');
    expect(outputProblem('x'.repeat(10_000_000))).toBe('more than 10000000 characters');
  });
});

function deepObject(count: number): string {
  return '{"a":'.repeat(count - 1) + '{}' + '}'.repeat(count - 1);
}

describe('JSON that an SDK parses itself', () => {
  const deep = `{"a":${'['.repeat(200)}${']'.repeat(200)}}`;
  const answered = async (type: string, pieces: string[], status = 200) => {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        for (const piece of pieces) controller.enqueue(Buffer.from(piece));
        controller.close();
      },
    });
    const fetch = () =>
      Promise.resolve(new Response(body, { status, headers: { 'content-type': type } }));
    const answer = await exactFetch(fetch, { concerns: () => true })('http://model.example/');
    return { status: answer.status, text: await answer.text() };
  };

  test.each([
    'application/json',
    'application/problem+json',
    'text/plain',
    'text/event-stream',
    '',
  ])('is measured as a whole and keeps its digits, as %s', async (type) => {
    expect(await answered(type, [' \n', '{"id":76159173374', '95251231}'])).toEqual({
      status: 200,
      text: ' \n{"id":"7615917337495251231"}',
    });
    await expect(answered(type, [deep.slice(0, 99), deep.slice(99)])).rejects.toThrow(
      /model\.example is too large: nested deeper than 100/,
    );
  });

  test.each(['text/event-stream', 'text/plain'])('is measured in events of %s', async (type) => {
    const events = ['event: x\nda', 'ta: {"id":7615917337495251231}\n\nda'];
    expect((await answered(type, [...events, 'ta: [DONE]'])).text).toBe(
      'event: x\ndata: {"id":"7615917337495251231"}\n\ndata: [DONE]\n',
    );
    await expect(answered(type, [...events, `ta: ${deep}`])).rejects.toThrow(/too large/);
  });

  test.each(['\n', '\r\n', '\r'])('is measured in events of several lines (%j)', async (end) => {
    const lines = ['id: 1', 'data: {"id":', 'event: x', 'data:7615917337495251231}', '', ''];
    const text = lines.join(end);
    expect((await answered('text/event-stream', [text.slice(0, 20), text.slice(20)])).text).toBe(
      'id: 1\nevent: x\ndata: {"id":\ndata: "7615917337495251231"}\n\n',
    );
    const hidden = ['data: {"a":', `data: ${deep.slice(5)}`, '', ''].join(end);
    await expect(answered('text/event-stream', [hidden])).rejects.toThrow(/too large/);
  });

  test('is left out of a refusal when it is too large', async () => {
    expect(await answered('application/json', [deep], 500)).toEqual({
      status: 500,
      text: 'nested deeper than 100 levels of lists and objects',
    });
    expect((await answered('application/json', ['{"error":"no"}'], 429)).text).toBe(
      '{"error":"no"}',
    );
  });
});
