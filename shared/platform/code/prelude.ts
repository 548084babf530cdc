/** UTF-16 units of an output, and bytes of it. */
export const MAX_OUTPUT_BYTES = 1_048_576;

/**
 * What runs in a sandbox before the tenant's code: `console`, a seeded `Math.random`, and the functions by which the thread
 * calls the code and reads its result. Each uses only what it keeps from the untouched globals. What the code can still
 * change of them concerns its own result.
 */
export const PRELUDE = `(write, seed) => {
  'use strict';
  const { parse, stringify } = JSON;
  const { apply, getPrototypeOf } = Reflect;
  const { slice, replaceAll } = String.prototype;
  const { imul } = Math;
  const [Wrong, Text, Errors, Maps, Sets, finite] = [TypeError, String, Error, Map, Set, Number.isFinite];
  const short = (text, length) => apply(slice, text, [0, length]);

  // xoshiro128**
  const word = (at) => parseInt(short(apply(slice, seed, [8 * at]), 8), 16) | 0;
  let [a, b, c, d] = [word(0) | 1, word(1), word(2), word(3)];
  const next = () => {
    const mixed = imul(b, 5);
    const result = imul((mixed << 7) | (mixed >>> 25), 9) >>> 0;
    const t = b << 9;
    c ^= a; d ^= b; b ^= c; a ^= d; c ^= t;
    d = (d << 11) | (d >>> 21);
    return result;
  };
  Math.random = () => ((next() >>> 5) * 67108864 + (next() >>> 6)) / 9007199254740992;

  for (const name of ['Atomics', 'SharedArrayBuffer', 'WebAssembly', 'performance']) delete globalThis[name];

  const shown = (value) => {
    if (typeof value === 'string') return value;
    try {
      if (value instanceof Errors) return value + '\\n' + Text(value.stack).trimEnd();
      return (typeof value === 'object' ? stringify(value) : undefined) ?? Text(value);
    } catch {
      return '[' + typeof value + ']';
    }
  };
  const log = (...values) => {
    let line = '';
    for (let at = 0; at < values.length && line.length < 65536; at += 1) {
      line += (at === 0 ? '' : ' ') + short(shown(values[at]), 65536);
    }
    // A text with this character ends at it.
    write(apply(replaceAll, short(line, 65536), ['\\0', '\\uFFFD']) + '\\n');
  };
  globalThis.console = { log, info: log, warn: log, error: log, debug: log };

  const kept = (key, value) => {
    const at = key === '' ? 'It returned' : "'" + short(Text(key), 100) + "' of what it returned is";
    const type = typeof value;
    if (type === 'bigint') throw new Wrong(at + ' a BigInt, which JSON does not have: use Number() or String()');
    if (type === 'function' || type === 'symbol') throw new Wrong(at + ' a ' + type + ', which JSON does not have');
    if (type === 'number' && !finite(value)) throw new Wrong(at + ' ' + value + ', which JSON does not have');
    if (value instanceof Maps) throw new Wrong(at + ' a Map: use Object.fromEntries()');
    if (value instanceof Sets) throw new Wrong(at + ' a Set: use Array.from()');
    return value;
  };
  const written = (value) => {
    if (value === undefined) throw new Wrong('It returned undefined: return a value, such as null');
    let text;
    try {
      text = stringify(value, kept);
    } catch (error) {
      if (error instanceof Wrong && /circular/.test(error.message)) throw new Wrong('It returned an object that contains itself');
      throw error;
    }
    if (text === undefined) throw new Wrong('It returned undefined: return a value, such as null');
    if (text.length > ${MAX_OUTPUT_BYTES}) throw new RangeError('It returned more than 1 MB');
    return text;
  };

  return {
    call: async (main, argument) => {
      if (typeof main !== 'function') throw new Wrong('It needs \`export default\` with a function');
      return written(await main(parse(argument)));
    },
    describe: (error) => {
      const part = (read, length) => {
        try {
          return short(Text(read()), length);
        } catch {
          return '';
        }
      };
      const isError = error instanceof Errors;
      const message = part(() => (isError ? (error.name === 'Error' ? error.message : error.name + ': ' + error.message)
        : error === null ? 'It needs more than 64 MB of memory, or threw null' : 'It threw ' + shown(error)), 2000);
      const spent = error === null || part(() => (isError ? error.message : ''), 20) === 'out of memory';
      return stringify([message === '' ? 'It threw an error without a message' : message, isError ? part(() => error.stack, 10000) : '', spent]);
    },
  };
}`;
