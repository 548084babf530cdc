import { afterAll, describe, expect, jest, test } from '@jest/globals';
import { type CodeRun, createCodeThreads, runCode } from '#shared/platform/code/run.ts';
import { sourceProblem } from '#shared/platform/code/source.ts';
import type { CodeLanguage } from '#shared/platform/code/source.ts';

// Limits of code are in processor time, which can take a while on a busy machine.
jest.setTimeout(180_000);
const threads = createCodeThreads();
afterAll(() => threads.close());

const CLOCK = Date.UTC(2026, 1, 3, 4, 5, 6, 789);
const SEED = '0123456789abcdef'.repeat(4);

interface Given {
  state?: unknown;
  language?: CodeLanguage;
  seed?: string;
  clock?: number;
  seconds?: number;
}

function run(
  source: string,
  { state = {}, language = 'javascript', seed = SEED, clock = CLOCK, seconds = 10 }: Given = {},
): Promise<CodeRun> {
  const job = { source, language, argument: JSON.stringify(state), clock, seed };
  return runCode('ws_a', job, { seconds, threads });
}

/** The value that the code returned. */
async function valueOf(source: string, given?: Given): Promise<unknown> {
  const { result } = await run(source, given);
  if ('problem' in result) throw new Error(result.problem.message);
  return JSON.parse(result.output);
}

async function problemOf(source: string, given?: Given) {
  const { result } = await run(source, given);
  return 'problem' in result ? result.problem : result;
}

describe('what code returns', () => {
  test('is computed from the state', async () => {
    const source = 'export default ({ items }) => ({ sum: items.reduce((a, b) => a + b, 0) });';
    expect(await valueOf(source, { state: { items: [1, 2, 3] } })).toEqual({ sum: 6 });
  });

  test('can be a promise that settles without timers', async () => {
    const source = `const ready = await Promise.resolve(2);
      export default async (state) => { await null; return state.n * ready; };`;
    expect(await valueOf(source, { state: { n: 4 } })).toBe(8);
    expect(await problemOf('export default () => new Promise(() => {});')).toEqual({
      message: expect.stringContaining('never settles'),
    });
  });

  test('is JSON, and anything else is an error that says what it is', async () => {
    const problems: Record<string, string> = {
      undefined: 'It returned undefined',
      '() => 1': 'It returned a function',
      'Symbol()': 'It returned a symbol',
      '10n': 'It returned a BigInt',
      '({ total: 1n })': "'total' of what it returned is a BigInt",
      '({ a: [0 / 0] })': "'0' of what it returned is NaN",
      '({ a: { b: () => 1 } })': "'b' of what it returned is a function",
      'new Map()': 'It returned a Map',
      '({ tags: new Set() })': "'tags' of what it returned is a Set",
      "'x'.repeat(1_048_577)": 'It returned more than 1 MB',
      "'\\u00e9'.repeat(600_000)": 'It returned more than 1 MB',
    };
    for (const [returned, message] of Object.entries(problems)) {
      const problem = await problemOf(`export default () => (${returned});`);
      expect([returned, problem]).toEqual([
        returned,
        { message: expect.stringContaining(message) },
      ]);
    }
    const cyclic = 'export default () => { const a = {}; a.a = a; return a; };';
    expect(await problemOf(cyclic)).toEqual({
      message: 'TypeError: It returned an object that contains itself',
    });
  });

  test('can use types, which are only removed', async () => {
    const source = 'type A = { n: number };\nexport default (a: A): number => (a.n as number) + 1;';
    expect(await valueOf(source, { state: { n: 1 }, language: 'typescript' })).toBe(2);
    expect(
      await problemOf('\nenum A { x }\nexport default () => 1;', { language: 'typescript' }),
    ).toEqual({
      message: 'SyntaxError: TypeScript enum is not supported in strip-only mode',
      line: 2,
      column: 1,
    });
  });

  test('does not depend on when it runs, or on the time zone of the machine', async () => {
    const source = `export default () => [
      new Date().toISOString(), Date.now(), new Date(2026, 6, 1).toISOString(), new Date().getTimezoneOffset(),
      Math.random(), Math.random()];`;
    const first = (await valueOf(source)) as unknown[];
    expect(first.slice(0, 4)).toEqual([
      '2026-02-03T04:05:06.789Z',
      CLOCK,
      '2026-07-01T00:00:00.000Z',
      0,
    ]);
    expect(await valueOf(source)).toEqual(first);
    const other = (await valueOf(source, { seed: 'f'.repeat(64), clock: 0 })) as unknown[];
    expect(other[1]).toBe(0);
    expect(other.slice(4)).not.toEqual(first.slice(4));
    const many = (await valueOf(
      'export default () => Array.from({ length: 1000 }, Math.random);',
    )) as number[];
    expect(many.every((n) => n >= 0 && n < 1)).toBe(true);
    expect(new Set(many).size).toBe(1000);
    expect(Math.abs(many.reduce((a, b) => a + b) / 1000 - 0.5)).toBeLessThan(0.1);
  });
});

describe('an error in code', () => {
  test('has the line and column of the source', async () => {
    expect(await problemOf('export default (state) => {\n  return state.x.y;\n};')).toEqual({
      message: "TypeError: cannot read property 'y' of undefined",
      line: 2,
      column: 17,
    });
    const typed = 'interface A { x: { y: number } }\nexport default (a: A): number =>\n  a.x.y;';
    expect(await problemOf(typed, { language: 'typescript' })).toMatchObject({ line: 3 });
    expect(await problemOf('export default () => {\n  throw new Error("No rows");\n};')).toEqual({
      message: 'No rows',
      line: 2,
      column: expect.any(Number),
    });
    expect(await problemOf('let b = (;')).toMatchObject({ line: 1, column: 10 });
    expect(await problemOf('export const a = 1;')).toEqual({
      message: 'TypeError: It needs `export default` with a function',
    });
    expect(await problemOf('export default () => { throw 5; };')).toEqual({
      message: 'It threw 5',
    });
  });
});

describe('what code logs', () => {
  test('is kept in order, also when it fails', async () => {
    const source = `export default () => {
      console.log('a', 1, { b: [true, null] }, undefined);
      console.error([1n], Symbol('s'));
      throw new Error('end');
    };`;
    expect((await run(source)).log).toBe('a 1 {"b":[true,null]} undefined\n[object] Symbol(s)\n');
  });

  test('is cut at 64 kB, and says so, also when its thread is terminated', async () => {
    const lines = "for (let i = 0; i < 20_000; i++) console.log('line', i);";
    const { log, result } = await run(`export default () => { ${lines} return 1; };`);
    expect(result).toEqual({ output: '1' });
    expect(log).toMatch(/^line 0\nline 1\n/);
    expect(log).toMatch(/\n\[The log was cut at 64 kB\]$/);
    expect(log.length).toBeLessThan(65_600);
    const endless = await run("export default () => { console.log('before'); while (true); };", {
      seconds: 0.3,
    });
    expect(endless).toEqual({
      result: { problem: { message: 'It used more than 0.3 s of processor time' } },
      log: 'before\n',
      exceeded: 'time',
    });
  });
});

describe('a source', () => {
  const problem = (source: string, language: CodeLanguage = 'javascript') =>
    sourceProblem(source, language);

  test('is parsed before it runs, with the place of the first mistake', () => {
    expect(problem('export default (state) => state;')).toBeUndefined();
    expect(problem('const main = () => 1;\nexport { main as default };')).toBeUndefined();
    expect(
      problem('export default (state: object): object => state;', 'typescript'),
    ).toBeUndefined();
    expect(problem('const a = 1;\nlet b = (;\nexport default () => 1;')).toEqual({
      message: 'Unexpected token',
      position: 22,
      line: 2,
      column: 10,
    });
    expect(problem('const a: number = 1;\nlet b = (;\n', 'typescript')).toEqual({
      message: 'Expression expected',
      position: 30,
      line: 2,
      column: 10,
    });
    expect(problem('export const a = 1;')?.message).toContain('It needs `export default`');
    expect(problem('export default {};')).toMatchObject({
      message: '`export default` needs a function',
      column: 16,
    });
    expect(problem("import a from 'a';\nexport default a;")).toMatchObject({
      message: 'Code cannot import modules',
      line: 1,
    });
    expect(problem(`export default ${'('.repeat(100_000)}`)?.message).toMatch(
      /too deeply|stack space/,
    );
  });

  test('that is accepted can be read by the sandbox', async () => {
    const source = `
      class A { #x = 1; static { this.y = 2; } get x() { return this.#x; } has(o) { return #x in o; } }
      export default (state) => {
        const [first, ...rest] = [3, 2, 1].toSorted();
        const { a = 5, ...others } = { b: 1, ...state };
        let n = null; n ??= 1_000; n ||= 2; n **= 2;
        const text = \`\${/(?<year>\\d{4})/u.exec('in 2026')?.groups.year}\`;
        const grouped = Object.groupBy([1, 2, 3], (each) => (each % 2 ? 'odd' : 'even'));
        const named = /[\\p{L}--[a-z]]/v.test('A');
        label: for (const each of function* () { yield 1; }()) { if (each) break label; }
        return { first, rest, a, others, n, text, grouped, named, last: [1, 2].at(-1), x: new A().x, y: A.y };
      };`;
    expect(problem(source)).toBeUndefined();
    expect(await valueOf(source)).toEqual({
      first: 1,
      rest: [2, 3],
      a: 5,
      others: { b: 1 },
      n: 1_000_000,
      text: '2026',
      grouped: { odd: [1, 3], even: [2] },
      named: true,
      last: 2,
      x: 1,
      y: 2,
    });
  });
});
