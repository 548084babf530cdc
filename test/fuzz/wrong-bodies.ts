import type { Random } from '#test/storm/random.ts';
import { bytesOf, type Draft } from './draft.ts';
import type { State } from './state.ts';

/** One way to invalidate a request; returns undefined if it does not apply. */
export interface Wrong {
  name: string;
  weight: number;
  /** The request cannot be parsed: no response can be a success. */
  unreadable?: true;
  spoil(draft: Draft, random: Random, state: State): Draft | undefined;
}

type Path = (string | number)[];

/** All places in a JSON value, including the value itself. */
function placesIn(value: unknown, path: Path = [], found: Path[] = []): Path[] {
  if (found.length > 400) return found;
  found.push(path);
  if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) {
      placesIn(inner, [...path, Array.isArray(value) ? Number(key) : key], found);
    }
  }
  return found;
}

const at = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((inner, key) => (inner as Record<string, unknown>)[key], value);

/** A copy with another value at that place; `undefined` removes it. */
export function replaceAt(value: unknown, path: Path, by: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return by;
  const changed = replaceAt((value as Record<string, unknown>)[key], rest, by);
  if (Array.isArray(value)) {
    const index = Number(key);
    return changed === undefined ? value.toSpliced(index, 1) : value.toSpliced(index, 1, changed);
  }
  const { [key]: _old, ...others } = value as Record<string, unknown>;
  return changed === undefined ? others : { ...(value as object), [key]: changed };
}

const otherValues: readonly unknown[] = [
  ...[null, true, false, 0, -1, 1.5, 1e308, -1e308, 2 ** 53, 5e-324, -0],
  ...['', ' ', 'null', '0', 'true', [], {}, [[]], [null], { '': '' }, [1, 2, 3]],
];
const strangeTexts = [
  ...[
    'a\u0000b',
    '\ud800',
    'x\udc00y',
    '\u2028\u2029',
    '\u202eabc',
    '\ufeff',
    '\uffff',
    '\u0001\u001f',
  ],
  ...[
    '😀'.repeat(300),
    'x'.repeat(70_000),
    "'; DROP TABLE runs; --",
    '{{ticket}}',
    '{',
    '${1}',
    '%s%n',
  ],
  ...['../../etc/passwd', '=1+1', '<script>', 'İstanbul', '٣', '1e3', 'NaN', '-0', 'undefined'],
];

const inJson = (
  name: string,
  weight: number,
  change: (value: unknown, random: Random) => unknown,
): Wrong => ({
  name,
  weight,
  spoil: (draft, random) =>
    draft.json === undefined ? undefined : { ...draft, json: change(draft.json, random) },
});

const jsonWrongs: readonly Wrong[] = [
  inJson('another type', 6, (json, random) =>
    replaceAt(json, random.pick(placesIn(json)), random.pick(otherValues)),
  ),
  inJson('a field less', 4, (json, random) => {
    const places = placesIn(json).filter((path) => path.length > 0);
    return places.length === 0 ? json : replaceAt(json, random.pick(places), undefined);
  }),
  inJson('a field more', 3, (json, random) => {
    const objects = placesIn(json).filter((path) => {
      const inner = at(json, path);
      return typeof inner === 'object' && inner !== null && !Array.isArray(inner);
    });
    if (objects.length === 0) return { surprise: json };
    const path = random.pick(objects);
    const name = random.pick([
      'surprise',
      'id',
      'toString',
      'hasOwnProperty',
      '',
      'a.b',
      '\u2028',
      'workspace_id',
    ]);
    return replaceAt(json, path, {
      ...(at(json, path) as object),
      [name]: random.pick(otherValues),
    });
  }),
  inJson('a strange text', 6, (json, random) => {
    const texts = placesIn(json).filter((path) => typeof at(json, path) === 'string');
    const place = random.pick(texts.length === 0 ? placesIn(json) : texts);
    return replaceAt(json, place, random.pick(strangeTexts));
  }),
  inJson('a list many times as long', 1, (json, random) => {
    const lists = placesIn(json).filter((path) => Array.isArray(at(json, path)));
    if (lists.length === 0) return [json, json];
    const path = random.pick(lists);
    const list = at(json, path) as unknown[];
    return replaceAt(
      json,
      path,
      Array.from({ length: 1_001 }, (_, n) => list[n % (list.length || 1)] ?? n),
    );
  }),
  inJson('deep nesting', 1, (json, random) => {
    const deep = JSON.parse(`${'['.repeat(800)}${']'.repeat(800)}`) as unknown;
    return replaceAt(json, random.pick(placesIn(json)), deep);
  }),
];

const inBytes = (
  name: string,
  weight: number,
  change: (text: string, random: Random) => string | Buffer | undefined,
  unreadable = true,
): Wrong => ({
  name,
  weight,
  ...(unreadable ? { unreadable: true } : {}),
  spoil: (draft, random) => {
    const text = draft.operation.body === undefined ? undefined : bytesOf(draft)?.toString();
    const changed = text === undefined ? undefined : change(text, random);
    return changed === undefined
      ? undefined
      : { ...draft, json: undefined, bytes: Buffer.from(changed) };
  },
});

const byteWrongs: readonly Wrong[] = [
  inBytes('torn JSON', 3, (text, random) =>
    // A truncated number is still a number.
    /^[[{]./.test(text) ? text.slice(0, random.int(1, text.length - 1)) : undefined,
  ),
  inBytes(
    'text behind the JSON',
    1,
    (text, random) => `${text}${random.pick(['}', 'x', ',', '{}', '\u0000'])}`,
  ),
  inBytes('no UTF-8', 1, (text) =>
    Buffer.concat([
      Buffer.from(text.slice(0, -1)),
      Buffer.from([0xff, 0xfe]),
      Buffer.from(text.slice(-1)),
    ]),
  ),
  inBytes('a byte order mark', 1, (text) => `\ufeff${text}`, false),
  inBytes('UTF-16', 1, (text) => Buffer.from(text, 'utf16le')),
  inBytes(
    'a key twice',
    1,
    (text) => (text.startsWith('{"') ? `{"name":1,${text.slice(1)}` : undefined),
    false,
  ),
  inBytes('__proto__', 1, (text) =>
    text.startsWith('{"') ? `{"__proto__":{"admin":true},${text.slice(1)}` : undefined,
  ),
  inBytes(
    'a number beyond doubles',
    1,
    (text, random) =>
      text.startsWith('{"')
        ? `{"huge":${random.pick(['1e999', '-1e999', '123456789012345678901234567890', '0.1234567890123456789'])},${text.slice(1)}`
        : undefined,
    false,
  ),
  inBytes('brackets without end', 1, () => '['.repeat(50_000)),
  inBytes('much nesting', 1, () => `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`, false),
  inBytes('white space alone', 1, (_text, random) => random.pick([' ', '\n\n', '\t']), false),
  inBytes('a body of more than 1 MB', 0.15, () => JSON.stringify({ name: 'x'.repeat(1_100_000) })),
  inBytes('null', 1, () => 'null', false),
];

export const bodyWrongs: readonly Wrong[] = [...jsonWrongs, ...byteWrongs];
