import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  evaluateExpression,
  ExpressionError,
  expressionRoots,
  parseExpression,
  truthy,
} from '#shared/graph/expression/expression.ts';
import type { Json, JsonObject } from '#shared/json.ts';

const scope: JsonObject = {
  score: 3,
  name: 'Ada',
  none: null,
  tags: ['a', 'b'],
  user: { name: 'Bo', roles: [{ id: 1 }, { id: 2 }], 'e-mail': 'bo@example.org' },
};

const errorOf = (expression: string, values: JsonObject = scope): ExpressionError => {
  try {
    evaluateExpression(expression, values);
  } catch (error) {
    if (error instanceof ExpressionError) return error;
    throw error;
  }
  throw new Error(`${expression} did not fail`);
};

describe('values', () => {
  test.each<[string, Json]>([
    ['1', 1],
    ['1.5e3', 1500],
    ['-2', -2],
    ['-0', 0],
    ['true', true],
    ['True', true],
    ['false', false],
    ['False', false],
    ['null', null],
    ['None', null],
    ["'it''s'".slice(0, 4), 'it'],
    [String.raw`'it\'s'`, "it's"],
    [String.raw`"a\"b\\c\n\t\u00e9"`, 'a"b\\c\n\té'],
    [String.raw`'\d+\.'`, String.raw`\d+\.`],
    ['[]', []],
    ["[1, 'a', [null], ]", [1, 'a', [null]]],
    ['(1)', 1],
  ])('%s is %j', (expression, value) => {
    expect(evaluateExpression(expression, scope)).toEqual(value);
  });
});

describe('paths', () => {
  test.each<[string, Json]>([
    ['score', 3],
    ['user.name', 'Bo'],
    ["user['name']", 'Bo'],
    ["user['e-mail']", 'bo@example.org'],
    ['user.roles[1].id', 2],
    ['user.roles[score - 2].id', 2],
    ['tags[0]', 'a'],
    ['tags[2]', null],
    ['tags[-1]', null],
    ['tags[0.5]', null],
    ["tags['0']", null],
    ['tags.length', null],
    ['name.length', null],
    ['name[0]', null],
    ['user[0]', null],
    ['missing', null],
    ['missing.deeper[3].still', null],
    ['none.x', null],
    ['score.x', null],
    ['user.in', null],
    ['len', null],
    ['user.constructor', null],
    ['constructor', null],
    ['__proto__', null],
    ["user['__proto__']", null],
    ['user.__proto__.toString', null],
    ['tags.constructor.constructor', null],
    ['toString', null],
    ['prototype', null],
  ])('%s is %j', (expression, value) => {
    expect(evaluateExpression(expression, scope)).toEqual(value);
  });

  test('keys named like prototypes are missing, even as data', () => {
    const hostile = JSON.parse('{"a": {"__proto__": 1, "constructor": 2, "b": 3}}') as JsonObject;
    expect(evaluateExpression('[a.__proto__, a.constructor, a.b]', hostile)).toEqual([
      null,
      null,
      3,
    ]);
  });

  test('getters are not called', () => {
    const trap = Object.defineProperty({}, 'secret', {
      enumerable: true,
      get: () => 'called',
    }) as JsonObject;
    expect(evaluateExpression('secret', trap)).toBeNull();
  });

  test('a scope without a prototype and unusual names work', () => {
    const bare = Object.assign(Object.create(null) as JsonObject, { größe: 1, $x: 2, _y: 3 });
    expect(evaluateExpression('größe + $x + _y', bare)).toBe(6);
  });
});

describe('operators', () => {
  test.each<[string, Json]>([
    ['1 + 2 * 3', 7],
    ['(1 + 2) * 3', 9],
    ['7 - 2 - 1', 4],
    ['8 / 2 / 2', 2],
    ['7 % 4', 3],
    ['-7 % 4', -3],
    ['- - 2', 2],
    ['2 - -2', 4],
    ['-2 * 3', -6],
    ["'a' + 'b'", 'ab'],
    ['0.1 + 0.2 == 0.3', false],
    ['score + 1 > 3', true],
    ['1 < 2', true],
    ["'a' < 'b'", true],
    ['2 >= 2', true],
    ['none < 1', false],
    ['none >= none', false],
    ['missing > 3', false],
    ["'a' <= null", false],
    ['1 == 1.0', true],
    ["1 == '1'", false],
    ["1 != '1'", true],
    ['null == missing', true],
    ['false == 0', false],
    ['[1, [2]] == [1, [2]]', true],
    ['[1, 2] == [2, 1]', false],
    ['user == user', true],
    ['[] == null', false],
    ["'a' in tags", true],
    ["'c' not in tags", true],
    ["'d' in name", true],
    ["'name' in user", true],
    ["'constructor' in user", false],
    ['1 in none', false],
    ['none in tags', false],
    ['[1] in [[1]]', true],
    ['not none', true],
    ['!score', false],
    ['not score == 4', true],
    ['! score == 4', true],
    ['not 1 in [2]', true],
    ['true and false or true', true],
    ['false or true and false', false],
    ['true || false && false', true],
    ['not true or true', true],
    ["'a' or 'b'", true],
    ["1 and ''", false],
    ['false and 1 / 0', false],
    ['true or 1 / 0', true],
    ['true == not false', true],
    ["category == 'billing' and priority > 2", false],
  ])('%s is %j', (expression, value) => {
    expect(evaluateExpression(expression, scope)).toEqual(value);
  });
});

describe('functions', () => {
  test.each<[string, Json]>([
    ['len(null)', 0],
    ['len(missing.deep)', 0],
    ["len('añ😀')", 3],
    ['len(tags)', 2],
    ['len(user)', 3],
    ["lower('ÄB')", 'äb'],
    ["upper('äb')", 'ÄB'],
    ['lower(missing)', null],
    ["contains('haystack', 'st')", true],
    ['contains(tags, 3)', false],
    ['contains(none, 3)', false],
    ["starts_with(name, 'A')", true],
    ["ends_with(name, 'A')", false],
    ["starts_with(none, 'A')", false],
    [String.raw`matches('order 42', '\d+')`, true],
    [String.raw`matches('order 42', '^\\d+$')`, false],
    ["matches(missing, 'x')", false],
    ["matches('ABC', '(?i)abc')", true],
    ['abs(-3)', 3],
    ['min(3, 1, 2)', 1],
    ['max(tags)', 'b'],
    ['max([])', null],
    ['round(2.5)', 3],
    ['round(-2.5)', -3],
    ['round(1.005, 2)', 1.01],
    ['round(1e300, 15)', 1e300],
    ['round(-0.4)', 0],
    ["default(missing, 'x')", 'x'],
    ["default('', 'x')", ''],
  ])('%s is %j', (expression, value) => {
    expect(evaluateExpression(expression, scope)).toEqual(value);
  });
});

describe('truthiness', () => {
  test.each<[Json, boolean]>([
    [null, false],
    [false, false],
    [0, false],
    ['', false],
    [[], false],
    [{}, false],
    [true, true],
    [-1, true],
    ['0', true],
    [[null], true],
    [{ a: null }, true],
  ])('of %j is %j', (value, expected) => {
    expect(truthy(value)).toBe(expected);
  });
});

describe('syntax errors', () => {
  test.each([
    ['', 0, 'empty'],
    ['   ', 3, 'empty'],
    ['1 +', 3, 'expected a value but found end'],
    ['a b', 2, 'unexpected "b"'],
    ['a = 1', 2, 'write =='],
    ['a == ', 5, 'expected a value'],
    ['(1', 2, 'expected ")"'],
    ['a[1', 3, 'expected "]"'],
    ['a.', 2, 'expected a name after "."'],
    ['a.1', 2, 'expected a name'],
    ['[1 2]', 3, 'expected "]"'],
    ["'open", 0, 'not closed'],
    ["'open\\", 0, 'not closed'],
    ['1abc', 0, 'no number'],
    ['1e999', 0, 'too large'],
    ['a & b', 2, 'unexpected "&"'],
    ['a ? b : c', 2, 'unexpected "?"'],
    ['{}', 0, 'unexpected "{"'],
    ['`x`', 0, 'unexpected'],
    ['x; y', 1, 'unexpected ";"'],
    ['and', 0, 'expected a value'],
    ['a not b', 2, 'unexpected "not"'],
    ['eval(1)', 0, 'no function "eval"'],
    ['constructor(1)', 0, 'no function'],
    ['a.b(1)', 3, 'no methods'],
    ['len()', 0, 'takes 1 argument, not 0'],
    ['round(1, 2, 3)', 0, 'takes 1 or 2 arguments'],
    ['min()', 0, 'at least 1'],
  ])('%j fails at %d: %s', (expression, position, reason) => {
    const error = errorOf(expression);
    expect(error.position).toBe(position);
    expect(error.message).toContain(reason);
  });
});

describe('evaluation errors', () => {
  test.each([
    ['1 + null', 2, 'null'],
    ["1 + '1'", 2, 'number + string'],
    ['none * 2', 5, 'null * number'],
    ['tags + tags', 5, 'list + list'],
    ["'a' < 1", 4, 'string < number'],
    ['true < false', 5, 'boolean < boolean'],
    ['1 / 0', 2, 'division by zero'],
    ['score % (3 - 3)', 6, 'division by zero'],
    ['1e308 * 10', 6, 'too large'],
    ['-name', 0, 'negate string'],
    ['1 in 2', 2, 'number in number'],
    ['abs(null)', 0, 'abs cannot take null'],
    ["max(1, 'a')", 0, 'number and string'],
    ['len(3)', 0, 'number'],
    ['round(1.5, -1)', 0, 'decimals'],
    ["matches('a', '(')", 0, 'not valid'],
    [String.raw`matches('aa', '(a)\1')`, 0, 'not valid'],
  ])('%j fails at %d: %s', (expression, position, reason) => {
    const error = errorOf(expression);
    expect(error.position).toBe(position);
    expect(error.reason).toContain(reason);
    expect(error.message).toContain(JSON.stringify(expression));
  });
});

describe('limits', () => {
  test.each([
    ['length', `'${'x'.repeat(2000)}'`, 'longer than 2000'],
    ['parts', Array.from({ length: 130 }, () => '1').join('+'), 'more than 256'],
    ['depth of brackets', `${'('.repeat(33)}1${')'.repeat(33)}`, 'deeper than 32'],
    ['depth of prefixes', `${'not '.repeat(33)}1`, 'deeper than 32'],
    ['depth of calls', `${'abs('.repeat(33)}1${')'.repeat(33)}`, 'deeper than 32'],
  ])('%s', (_, expression, reason) => {
    expect(errorOf(expression).message).toContain(reason);
  });

  test('values just within the limits work', () => {
    expect(evaluateExpression(Array.from({ length: 128 }, () => '1').join('+'), {})).toBe(128);
    expect(evaluateExpression(`${'('.repeat(32)}1${')'.repeat(32)}`, {})).toBe(1);
    expect(evaluateExpression(`'${'x'.repeat(1998)}'`, {})).toHaveLength(1998);
  });

  test('steps, strings and lists are limited', () => {
    const long = { list: Array.from({ length: 20_000 }, (_, at) => at), text: 'x'.repeat(600_000) };
    expect(errorOf('-1 in list', long).message).toContain('too many steps');
    expect(errorOf('text + text', long).message).toContain('passes 1000000');
    expect(errorOf('[text, text]', long).message).toContain('too large');
    expect(evaluateExpression('text', long)).toHaveLength(600_000);
  });

  test('deeply nested values throw an error when compared', () => {
    let deep: Json = [];
    let same: Json = [];
    for (let level = 0; level < 100_000; level += 1) [deep, same] = [[deep], [same]];
    expect(errorOf('deep == same', { deep, same }).message).toContain('too deeply');
  });

  test('a hostile pattern is refused or ends', () => {
    // Backtracking would not end.
    expect(evaluateExpression("matches(text, '(a+)+$')", { text: `${'a'.repeat(50_000)}b` })).toBe(
      false,
    );
    expect(
      errorOf("matches(text, '((a{1,30}){1,30})b')", { text: 'a'.repeat(100_000) }).message,
    ).toContain('costly');
    const often = Array.from({ length: 40 }, () => "matches(text, '[ab]*a[ab]{300}c')").join(
      ' or ',
    );
    expect(errorOf(often, { text: 'ab'.repeat(5_000) }).message).toContain('costly');
  });
});

describe('roots', () => {
  test.each([
    ["category == 'billing' and user.name in names[user.index]", ['category', 'user', 'names']],
    ["len('x') > default(count, 1)", ['count']],
    ['true', []],
  ])('of %s are %j', (expression, roots) => {
    expect(expressionRoots(expression)).toEqual(roots);
  });

  test('a parsed expression can be evaluated directly', () => {
    expect(evaluateExpression(parseExpression('score * 2'), scope)).toBe(6);
  });
});

const token = fc.constantFrom(
  ...[
    'score',
    'user',
    'tags',
    'missing',
    '.name',
    "['x']",
    '[0]',
    '(',
    ')',
    '[',
    ']',
    ',',
    '1',
    '0',
    '2.5',
    "'a'",
  ],
  ...[
    ' and ',
    ' or ',
    ' not ',
    ' in ',
    '==',
    '!=',
    '<',
    '>=',
    '+',
    '-',
    '*',
    '/',
    '%',
    '!',
    'null',
    'true',
    '"b"',
  ],
  ...[
    'len(',
    'matches(',
    'min(',
    'round(',
    'default(',
    '.constructor',
    '.__proto__',
    "['prototype']",
    ' ',
    '\\',
    "'",
  ],
);

describe('fuzz', () => {
  const onlyExpressionErrors = (source: string, values: JsonObject): void => {
    let result: Json;
    try {
      result = evaluateExpression(source, values);
    } catch (error) {
      expect(error).toBeInstanceOf(ExpressionError);
      const { position } = error as ExpressionError;
      expect(position).toBeGreaterThanOrEqual(0);
      expect(position).toBeLessThanOrEqual(source.length);
      return;
    }
    // Compared as text, since JSON has no negative zero.
    const text = JSON.stringify(result);
    expect(JSON.stringify(JSON.parse(text))).toBe(text);
  };

  test('random text and tokens throw only ExpressionError', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (source) =>
        onlyExpressionErrors(source, scope),
      ),
      {
        numRuns: 3000,
      },
    );
    fc.assert(
      fc.property(fc.array(token, { maxLength: 25 }), fc.jsonValue(), (tokens, value) =>
        onlyExpressionErrors(tokens.join(''), { ...scope, user: value as Json }),
      ),
      { numRuns: 5000 },
    );
  });

  test('prototypes are never read', () => {
    const touched: PropertyKey[] = [];
    const watched = Object.create(
      new Proxy(
        {},
        {
          get: (_, key) => touched.push(key),
          has: (_, key) => touched.push(key) > 0,
          getOwnPropertyDescriptor: (_, key) => void touched.push(key),
        },
      ),
      { score: { value: 3, enumerable: true }, name: { value: 'n', enumerable: true } },
    ) as JsonObject;
    fc.assert(
      fc.property(fc.array(token, { maxLength: 12 }), (tokens) => {
        try {
          evaluateExpression(tokens.join(''), { ...scope, user: watched });
        } catch (error) {
          if (!(error instanceof ExpressionError)) throw error;
        }
      }),
      { numRuns: 3000 },
    );
    expect(touched).toEqual([]);
  });

  test('a printed tree parses again', () => {
    const { tree } = fc.letrec<{ tree: string }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom('score', 'user.name', '1', "'a'", 'null'),
        fc
          .tuple(
            tie('tree'),
            fc.constantFrom('+', '==', 'and', 'or', 'in', 'not in', '<'),
            tie('tree'),
          )
          .map(([a, op, b]) => `(${a} ${op} ${b})`),
        tie('tree').map((inner) => `(not ${inner})`),
      ),
    }));
    fc.assert(
      fc.property(tree, (source) => {
        expect(() => parseExpression(source)).not.toThrow();
        expect(parseExpression(`((${source}))`).roots).toEqual(parseExpression(source).roots);
      }),
      { numRuns: 500 },
    );
  });
});

describe('a number in an expression', () => {
  test.each(['7615917337495251231', '9007199254740993', '1e-400', '1 + 12345678901234567890'])(
    'that no number can represent exactly is refused: %s',
    (expression) => {
      expect(errorOf(expression).message).toMatch(/no number is exactly .*: write it as a string/);
    },
  );

  test.each([
    ['9007199254740991', 9007199254740991],
    ['6.02214076e23', 6.02214076e23],
    ['0.1', 0.1],
    ["'7615917337495251231'", '7615917337495251231'],
  ])('is parsed exactly: %s', (expression, value) => {
    expect(evaluateExpression(expression, scope)).toBe(value);
  });
});
