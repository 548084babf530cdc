import { afterAll, describe, expect, jest, test } from '@jest/globals';
import { createCodeThreads, runCode } from '#shared/platform/code/run.ts';

/**
 * Attempts to leave the sandbox, or to hold it: those published for QuickJS, vm2 and isolated-vm. After each, the code of another
 * workspace runs on the same pool, with one thread, and must find a sandbox like the first.
 */

// Limits of code are in processor time, which can take a while on a busy machine.
jest.setTimeout(400_000);
/** Of processor time, for code that ends by itself, also on a machine that is busy with other work. */
const SECONDS = 2;
const SECONDS_IF_ENDLESS = 0.2;
const threads = createCodeThreads({ threads: 1 });
afterAll(() => threads.close());

const run = async (
  source: string,
  state: unknown = {},
  workspace = 'ws_attacker',
  seconds = SECONDS,
) => {
  const job = {
    source,
    language: 'javascript' as const,
    argument: JSON.stringify(state),
    clock: 0,
    seed: 'a1'.repeat(32),
  };
  const { result, exceeded } = await runCode(workspace, job, { seconds, threads });
  if (exceeded === 'time') return 'terminated';
  if ('problem' in result) return { problem: result.problem.message };
  return { value: JSON.parse(result.output) as unknown };
};

/** Everything that can be reached from the globals, by path and type. */
const SURVEY = `export default (state) => {
  const seen = new Set();
  const lines = [];
  const visit = (value, path) => {
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value)) return;
    seen.add(value);
    for (const key of Reflect.ownKeys(value)) {
      const { get, set, value: held, ...rest } = Object.getOwnPropertyDescriptor(value, key);
      const at = path + '.' + String(key);
      lines.push([at, typeof held, typeof get, typeof set, JSON.stringify(rest)].join(' '));
      for (const each of [held, get, set]) visit(each, at);
    }
    visit(Object.getPrototypeOf(value), path + '.[[Prototype]]');
  };
  visit(globalThis, '');
  return { lines: lines.length, names: Object.getOwnPropertyNames(globalThis), text: lines.join('\\n').slice(0, 900_000), state };
};`;

const untouched = await run(SURVEY, { own: 1 }, 'ws_b');

/** What each attempt returns: `terminated`, a problem, or a value. */
const problem = (message: string | RegExp) => ({ problem: expect.stringMatching(message) });
const MEMORY = problem(/memory|too long|invalid array/i);

/** Terminated, or out of memory before that. */
const HELD = expect.anything();

const attempts: Record<string, [source: string, expected: unknown, state?: unknown]> = {
  'constructors of functions': [
    `export default (state) => [
      state.constructor.constructor('return typeof process + typeof require + typeof globalThis.module')(),
      console.log.constructor('return typeof process')(),
      (async () => {}).constructor('return typeof process').name,
      (function* () {}).constructor('return typeof require')().next().value,
      Reflect.construct(Function, ['return this'])() === globalThis,
    ];`,
    { value: ['undefinedundefinedundefined', 'undefined', 'anonymous', 'undefined', true] },
  ],
  'errors of the host': [
    `export default async () => {
      const caught = [];
      for (const act of [
        () => console.log({ toString() { throw new Error('inner'); }, toJSON() { throw 1; } }),
        () => { const f = () => f(); f(); },
        () => JSON.parse('['.repeat(100_000)),
        () => new Array(-1),
        () => import('os'),
        () => import('file:///etc/passwd'),
      ]) {
        try { await act(); } catch (e) {
          caught.push(e.constructor.constructor('return typeof process')(), e.constructor === globalThis[e.name] || e.name);
        }
      }
      return caught;
    };`,
    { value: expect.not.arrayContaining(['object']) },
  ],
  'what stacks can name': [
    `export default () => {
      Error.prepareStackTrace = (_, frames) => frames?.[0]?.getThis?.() ?? typeof frames;
      const held = {};
      Error.captureStackTrace?.(held);
      const at = String(new Error('x').stack) + String(held.stack);
      return { path: /node_modules|file:|\\/work|\\.ts/.test(at), global: at.includes('process') };
    };`,
    { value: { path: false, global: false } },
  ],
  'poisoned prototypes': [
    `for (const proto of [Object, Array, String, Promise, Function, Map, Set, Error, RegExp].map((each) => each.prototype)) {
      for (const key of Object.getOwnPropertyNames(proto)) {
        try { if (key !== 'constructor') Object.defineProperty(proto, key, { value: () => 'poisoned', configurable: true }); } catch {}
      }
    }
    JSON.stringify = JSON.parse = () => 'poisoned';
    Reflect.apply = Number.isFinite = () => { throw 'poisoned'; };
    Object.prototype.toJSON = undefined;
    export default (state) => ({ seen: state.a });`,
    expect.anything(),
    { a: 1 },
  ],
  'getters on the input': [
    `Object.defineProperty(Object.prototype, 'then', { get() { globalThis.leak = this; return undefined; }, configurable: true });
    Object.defineProperty(Object.prototype, 'a', { set(v) { globalThis.leak = this; }, configurable: true });
    export default (state) => ({ leaked: String(globalThis.leak?.constructor?.constructor?.('return typeof process')()) });`,
    { value: { leaked: expect.stringMatching(/^undefined$/) } },
    { a: 1 },
  ],
  'a proxy as the output': [
    `export default () => new Proxy({}, {
      ownKeys: () => ['a'],
      getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true, value: 1 }),
      get: (target, key, receiver) => key === 'toJSON' || key === 'then' ? undefined : { receiver: typeof receiver, process: typeof process },
    });`,
    { value: { a: { receiver: 'object', process: 'undefined' } } },
  ],
  'a different toJSON each time': [
    `let n = 0;
    export default () => ({ toJSON() { n += 1; return n === 1 ? { toJSON: () => 5, n, ['__proto__']: { admin: true } } : () => n; } });`,
    problem("'toJSON' of what it returned is a function"),
  ],
  'an output with __proto__': [
    `export default () => JSON.parse('{"__proto__": {"admin": true}, "constructor": {"prototype": {"admin": true}}}');`,
    {
      value: JSON.parse(
        '{"__proto__": {"admin": true}, "constructor": {"prototype": {"admin": true}}}',
      ),
    },
  ],
  'a thenable that never ends': [
    'export default () => ({ then(resolve) { resolve(this); } });',
    'terminated',
  ],
  'a thenable that answers twice': [
    'export default () => ({ then(resolve, reject) { resolve(1); reject(2); resolve({ then() {} }); } });',
    { value: 1 },
  ],
  'modules of the interpreter': [
    `export default async () => {
      const found = [];
      // It can import itself.
      for (const name of ['std', 'os', 'qjs:std', 'qjs:os', 'fs', 'node:fs', 'code', 'prelude', './code']) {
        try { await import(name); found.push(name); } catch {}
      }
      return [found, typeof std, typeof os, typeof bjson, typeof print, typeof scriptArgs];
    };`,
    { value: [['code', './code'], ...Array.from({ length: 5 }, () => 'undefined')] },
  ],
  'what the sandbox does not have': [
    `export default () => ['Atomics', 'SharedArrayBuffer', 'WebAssembly', 'performance', 'setTimeout', 'setInterval', 'fetch',
      'XMLHttpRequest', 'WebSocket', 'Worker', 'process', 'require', 'module', 'Buffer', 'queueMicrotask', 'structuredClone', 'gc',
      'postMessage', 'Deno', 'crypto', 'navigator', 'document', 'window', 'self', 'global']
      .filter((name) => name in globalThis || typeof new Function('return typeof ' + name)() !== 'string');`,
    { value: expect.any(Array) },
  ],
  'a WebAssembly module inside': [
    'export default () => new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]));',
    problem('not defined'),
  ],
  'Atomics.wait': [
    'export default () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);',
    problem('not defined'),
  ],
  'an endless loop': ['export default () => { for (;;); };', 'terminated'],
  'an endless generator': [
    'export default () => [...(function* () { for (;;) yield; })()].length;',
    expect.anything(),
  ],
  'an endless loop while it loads': ['while (true); export default () => 1;', 'terminated'],
  'an endless loop in a getter of the output': [
    'export default () => ({ get a() { for (;;); } });',
    'terminated',
  ],
  'an endless loop in the text of an error': [
    'export default () => { throw { get [Symbol.toPrimitive]() { for (;;); }, toJSON() { for (;;); } }; };',
    'terminated',
  ],
  'an endless comparison': [
    'export default () => Array.from({ length: 1e5 }, (_, n) => n).sort(() => { for (;;); });',
    'terminated',
  ],
  'a flood of promises': ['export default async () => { for (;;) await null; };', 'terminated'],
  'a flood of jobs': [
    'export default () => { const more = () => { Promise.resolve().then(more); Promise.resolve().then(more); }; more(); return 1; };',
    expect.anything(),
  ],
  'a search in a long text': [
    "export default () => { const long = 'a'.repeat(20e6); let n = 0; for (let i = 0; i < 1e3; i++) n += long.indexOf('a'.repeat(1e6) + 'b'); return n; };",
    'terminated',
  ],
  'a copy within a large array': [
    'export default () => { const a = new Uint8Array(4e7); for (let i = 0; i < 1e6; i++) a.copyWithin(1, 0); return 1; };',
    'terminated',
  ],
  'a text of doubled lists': [
    'export default () => { let list = [1]; for (let i = 0; i < 40; i++) list = [list, list]; return JSON.stringify(list).length; };',
    HELD,
  ],
  'an output of doubled lists': [
    'export default () => { let list = [1]; for (let i = 0; i < 40; i++) list = [list, list]; return list; };',
    HELD,
  ],
  'a pattern that backtracks': [
    "export default () => /^(a+)+$/.test('a'.repeat(60) + 'b');",
    'terminated',
  ],
  'huge texts': ["export default () => { let text = 'x'; for (;;) text += text; };", MEMORY],
  'padded texts': ["export default () => 'x'.padEnd(2 ** 30 - 2).length;", MEMORY],
  'huge arrays': ['export default () => new Array(2 ** 31).fill(1).length;', HELD],
  'many buffers': [
    'export default () => { const kept = []; for (;;) kept.push(new Uint8Array(1e6).fill(1)); };',
    MEMORY,
  ],
  'memory caught again and again': [
    'export default () => { const kept = []; for (;;) try { kept.push(new Uint8Array(1e6)); } catch {} };',
    'terminated',
  ],
  'deep recursion': [
    'export default () => { const f = () => f() + 1; return f(); };',
    problem('stack'),
  ],
  'deep recursion through natives': [
    'export default () => { const f = () => [1].map(() => JSON.parse("[1]", f)); return f(); };',
    problem('stack'),
  ],
  'deep recursion, caught': [
    'export default () => { let n = 0; const f = () => { n += 1; try { f(); } catch { if (n < 1e5) f(); } }; f(); return n > 0; };',
    expect.anything(),
  ],
  'deep JSON, read': [
    "export default () => JSON.parse('['.repeat(200_000) + ']'.repeat(200_000));",
    problem('stack'),
  ],
  'deep JSON, returned': [
    'export default () => { let deep = 1; for (let i = 0; i < 200_000; i++) deep = [deep]; return deep; };',
    problem(/stack|memory/),
  ],
  'a deep pattern': [
    "export default () => new RegExp('('.repeat(50_000) + ')'.repeat(50_000)).test('');",
    problem(/stack|captures/),
  ],
  'deep code': [
    "export default () => eval('['.repeat(50_000) + ']'.repeat(50_000)).length;",
    problem('stack'),
  ],
  'a deep chain of prototypes': [
    'export default () => { let o = {}; for (let i = 0; i < 1e5; i++) o = Object.create(o); return String(o.missing); };',
    { value: 'undefined' },
  ],
  'a deep chain of proxies': [
    'export default () => { let o = {}; for (let i = 0; i < 1e5; i++) o = new Proxy(o, {}); return String(o.missing); };',
    problem(/stack|memory/),
  ],
  'a resized buffer during a sort': [
    `export default () => {
      const buffer = new ArrayBuffer(64, { maxByteLength: 1024 });
      const view = new Uint8Array(buffer);
      view.sort(() => { buffer.resize(0); return 1; });
      buffer.resize(1024);
      return [...view].every((each) => each === 0);
    };`,
    expect.anything(),
  ],
  'arrays changed while they are read': [
    `export default () => {
      const a = Array.from({ length: 1000 }, (_, n) => ({ n }));
      const species = class extends Array { static get [Symbol.species]() { a.length = 0; return Array; } };
      Object.setPrototypeOf(a, species.prototype);
      return a.map((each) => each).concat(a.splice(0)).length >= 0;
    };`,
    { value: true },
  ],
};

const surfaces = () => run(SURVEY, { own: 1 }, 'ws_b');

describe('an attempt to leave the sandbox, or to hold it', () => {
  test('the survey sees the whole sandbox', () => {
    expect(untouched).toMatchObject({ value: { state: { own: 1 }, lines: expect.any(Number) } });
    expect((untouched as { value: { lines: number } }).value.lines).toBeGreaterThan(500);
  });

  for (const [title, [source, expected, state]] of Object.entries(attempts)) {
    test(title, async () => {
      const seconds = expected === 'terminated' ? SECONDS_IF_ENDLESS : SECONDS;
      expect(await run(source, state, 'ws_attacker', seconds)).toEqual(expected);
      expect(await surfaces()).toEqual(untouched);
    });
  }
});

test('a workspace never has all threads, and its steps wait their turn', async () => {
  const pool = createCodeThreads({ threads: 2, waiting: 3 });
  const go = (workspace: string, source: string) =>
    runCode(
      workspace,
      { source, language: 'javascript', argument: '{}', clock: 0, seed: 'a'.repeat(64) },
      { seconds: SECONDS_IF_ENDLESS, threads: pool },
    );
  try {
    const ended: string[] = [];
    const long = [1, 2, 3].map(() =>
      go('ws_a', 'export default () => { for (;;); };').then(() => ended.push('a')),
    );
    await expect(go('ws_a', 'export default () => 1;')).rejects.toThrow('Too many code steps');
    await go('ws_b', 'export default () => 1;').then(() => ended.push('b'));
    await Promise.all(long);
    expect(ended.indexOf('b')).toBeLessThan(2);
    expect(ended).toHaveLength(4);
  } finally {
    await pool.close();
  }
});

test('a step that is cancelled leaves its thread', async () => {
  const controller = new AbortController();
  const job = {
    source: 'export default () => { for (;;); };',
    language: 'javascript' as const,
    argument: '{}',
    clock: 0,
    seed: 'a'.repeat(64),
  };
  const running = runCode('ws_a', job, { seconds: 60, signal: controller.signal, threads });
  controller.abort(new Error('cancelled'));
  await expect(running).rejects.toThrow('cancelled');
  expect(await run('export default () => 1;')).toEqual({ value: 1 });
});
