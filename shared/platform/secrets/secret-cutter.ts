import type { Json } from '#shared/json.ts';
import {
  type Decoded,
  htmlDecoded,
  jsonUnescaped,
  percentDecoded,
  throughBoth,
} from './decoded-text.ts';

/**
 * Redacts secrets that this service sent from the responses. It is meant for servers that return the request they
 * received; a server that wants to leak a secret can always encode it.
 */
export interface SecretCutter {
  /** The text with every occurrence replaced by `***`, in time linear in its length. */
  text: (text: string) => string;
  /** Like `text`, for all texts in a value, including keys. */
  json: (value: Json) => Json;
}

const CUT = '***';
/** A shorter secret may be part of ordinary words, so it is only redacted as a separate word. */
const MIN_ANYWHERE = 8;
/** An even shorter secret may be an ordinary word, so in a result it is only redacted if it is the whole text. */
const MIN_WORD = 4;
/** Only this much of longer patterns is searched. After a match, the rest that matches is also redacted. */
const ANCHOR = 64;

/** A redactor for these secrets, in the common encodings. */
export function createSecretCutter(secrets: Iterable<string>): SecretCutter {
  const known = [...new Set(secrets)].filter((secret) => secret !== '');
  if (known.length === 0) return { text: (text) => text, json: (value) => value };
  const written = new Set(known.flatMap(spellings));
  const short = new Set([...written].filter((secret) => secret.length < MIN_WORD));
  const inEscaped = createEscapedMatcher(known);
  const inData = createCut(
    [...written].filter((each) => each.length >= MIN_WORD),
    inEscaped,
  );
  const inText = short.size === 0 ? inData : createCut([...written], inEscaped);

  const cutData = (text: string): string =>
    text.length < MIN_WORD && short.has(text) ? CUT : inData(text);
  const json = (value: Json): Json => {
    if (typeof value === 'string') return cutData(value);
    if (typeof value === 'number') return isSecretNumber(value) ? CUT : value;
    if (Array.isArray(value)) return value.map(json);
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [inData(key), json(item)]),
    );
  };
  // Digits can also be a secret, and some services parse them as a number.
  const isSecretNumber = (value: number): boolean => {
    const digits = String(value);
    return digits.length >= MIN_ANYWHERE && written.has(digits);
  };
  return { text: inText, json };
}

/** Headers without credentials, whose values are likely to occur in any response. */
const PLAIN_HEADERS =
  /^(?:accept|content|sec|if)(?:-|$)|^(?:user-agent|cache-control|pragma|prefer|origin|referer|range|date|dnt|via)$|-version$/i;

/**
 * The secrets in request headers: whole values and, within them, the part after a scheme (`Bearer abc`), the decoded
 * parts of `Basic`, and the values of cookies.
 */
export function secretsOfHeaders(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers)
    .filter(([name]) => !PLAIN_HEADERS.test(name))
    .flatMap(([name, given]) => {
      const value = given.trim();
      const afterScheme = /^[\w-]+\s+(\S.*)$/s.exec(value)?.[1];
      return [
        value,
        ...(afterScheme === undefined ? [] : [afterScheme]),
        ...(/^basic\s/i.test(value) ? basicCredentials(afterScheme ?? '') : []),
        ...(/^cookie$/i.test(name) ? cookieValues(value) : []),
      ];
    });
}

function basicCredentials(encoded: string): string[] {
  const pair = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = pair.indexOf(':');
  return colon < 0 ? [] : [pair, pair.slice(colon + 1)];
}

const cookieValues = (value: string): string[] =>
  value.split(';').flatMap((pair) => {
    const at = pair.indexOf('=');
    return at < 0 ? [] : [pair.slice(at + 1).trim()];
  });

/** A secret unchanged, and as encoded in JSON, URLs, hexadecimal and base64. */
function spellings(secret: string): string[] {
  return [
    secret,
    ...jsonSpellings(secret),
    ...urlSpellings(secret),
    // Header values are sent as one byte per character, and some receivers read them as UTF-8.
    ...[Buffer.from(secret, 'utf8'), Buffer.from(secret, 'latin1')].flatMap((bytes) => {
      const hex = bytes.toString('hex');
      return [hex, hex.toUpperCase(), ...base64Spellings(bytes)];
    }),
  ];
}

/** JSON writers differ in what they escape: slashes (PHP), non-ASCII (Python), `<>&` (Go). */
function jsonSpellings(secret: string): string[] {
  const plain = JSON.stringify(secret).slice(1, -1);
  const habits = [/\//g, /[^\x20-\x7e]/g, /[<>&]/g, /'/g];
  return habits.reduce<string[]>(
    (texts, habit) => texts.flatMap((text) => [text, text.replace(habit, jsonEscape)]),
    [plain],
  );
}

const jsonEscape = (char: string): string =>
  char === '/' ? '\\/' : `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Encodings in URLs: strict, as browsers write them, and as in forms. */
function urlSpellings(secret: string): string[] {
  const loose = encodeURIComponent(secret.toWellFormed());
  const strict = loose.replace(/[!'()*]/g, percentEscape);
  const form = new URLSearchParams({ '': secret }).toString().slice(1);
  return [loose, strict, form].flatMap((text) => [
    text,
    text.replace(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase()),
  ]);
}

const percentEscape = (char: string): string => `%${char.charCodeAt(0).toString(16).toUpperCase()}`;

/**
 * The part of a base64 text that depends only on the secret, at any offset in the encoded bytes: `user:secret` and
 * `Bearer secret` encode it at a different offset than the secret alone.
 */
function base64Spellings(bytes: Buffer): string[] {
  const whole = bytes.toString('base64').replace(/=+$/, '');
  const shifted = [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    const bits = 8 * (offset + bytes.length);
    // Characters that contain bits of neighboring bytes are omitted at both ends.
    return text.slice(Math.ceil((8 * offset) / 6), Math.floor(bits / 6));
  });
  // The rest of a short secret may occur in anything.
  const texts = [whole, ...shifted.filter((text) => text.length >= MIN_ANYWHERE)];
  return texts.flatMap((text) => [text, text.replaceAll('+', '-').replaceAll('/', '_')]);
}

/** Replaces the patterns, and what the other matcher finds. */
function createCut(patterns: readonly string[], others: Matcher): (text: string) => string {
  const find = createMatcher(patterns);
  return (text) => {
    const found = [...find(text), ...others(text)];
    if (found.length === 0) return text;
    const cuts: Cut[] = [];
    for (const cut of found.toSorted((a, b) => a.end - b.end)) addCut(cuts, cut);
    return withoutCuts(text, cuts);
  };
}

/**
 * Finds secrets with any of their characters percent-encoded, escaped as in JSON, written as HTML references, or both
 * of the latter, in upper or lower case.
 */
function createEscapedMatcher(secrets: readonly string[]): Matcher {
  const long = secrets.filter(({ length }) => length >= MIN_WORD);
  const plain = createMatcher(long);
  const bytes = createMatcher(long.map((secret) => Buffer.from(secret, 'utf8').toString('latin1')));
  const within = (find: Matcher, view: Decoded | undefined): Cut[] =>
    view === undefined
      ? []
      : find(view.text).map(({ start, end }) => ({
          start: view.starts[start]!,
          end: view.starts[end]!,
        }));
  return (text) => [
    ...within(bytes, percentDecoded(text)),
    ...viewsOf(text).flatMap((view) => within(plain, view)),
  ];
}

/** A text without the escapes of JSON, of HTML, and of one within the other. */
function viewsOf(text: string): Decoded[] {
  const [json, html] = [jsonUnescaped(text), htmlDecoded(text)];
  const both = [
    [json, json && htmlDecoded(json.text)],
    [html, html && jsonUnescaped(html.text)],
  ].flatMap(([first, second]) => (first && second ? [throughBoth(first, second)] : []));
  return [json, html].filter((view) => view !== undefined).concat(both);
}

type Matcher = (text: string) => Cut[];

/**
 * Finds all patterns in one pass (Aho-Corasick), so that the time is linear in the length, even with many secrets or
 * many near matches.
 */
function createMatcher(patterns: readonly string[]): Matcher {
  if (patterns.length === 0) return () => [];
  const trie = buildTrie(patterns);
  return (text) => {
    const cuts: Cut[] = [];
    let node = ROOT;
    for (let at = 0; at < text.length;) {
      const char = text.charCodeAt(at);
      at += 1;
      if (node === ROOT && trie.begins[char] === 0) continue;
      node = trie.step(node, char);
      const found = trie.longestAt(node, text, at);
      if (found === undefined) continue;
      const end = followed(text, at, found);
      addCut(cuts, { start: at - anchorLength(found[0]!), end });
      if (end === at) continue;
      at = end;
      node = ROOT;
    }
    return cuts;
  };
}

interface Cut {
  start: number;
  end: number;
}

/** Merges adjacent matches. Matches come in the order of their ends. */
function addCut(cuts: Cut[], cut: Cut): void {
  let { start } = cut;
  for (let last = cuts.at(-1); last !== undefined && last.end >= start; last = cuts.at(-1)) {
    start = Math.min(start, last.start);
    cuts.pop();
  }
  cuts.push({ start, end: cut.end });
}

function withoutCuts(text: string, cuts: readonly Cut[]): string {
  const kept = cuts.map(({ start }, index) => text.slice(cuts[index - 1]?.end ?? 0, start));
  return [...kept, text.slice(cuts.at(-1)?.end)].join(CUT);
}

/**
 * Where a text that contains the anchor of these patterns up to `at` no longer matches any of them. They are sorted: if
 * the first and the last continue with the same character, so do all between them.
 */
function followed(text: string, at: number, patterns: readonly string[]): number {
  let first = 0;
  let last = patterns.length - 1;
  for (let end = at, depth = anchorLength(patterns[0]!); ; end += 1, depth += 1) {
    const char = text.charCodeAt(end);
    while (first <= last && patterns[first]!.charCodeAt(depth) !== char) first += 1;
    while (first <= last && patterns[last]!.charCodeAt(depth) !== char) last -= 1;
    if (first > last) return end;
  }
}

const ROOT = 0;
const WORD = /[\p{L}\p{N}_]/u;

const anchorLength = (pattern: string): number => Math.min(ANCHOR, pattern.length);

interface Trie {
  /** By character: 1 if a pattern starts with it. This skips nearly all characters of a text. */
  begins: Uint8Array;
  step: (node: number, char: number) => number;
  /** The patterns with the longest anchor that ends at this position and can be redacted there. */
  longestAt: (node: number, text: string, end: number) => readonly string[] | undefined;
}

function buildTrie(patterns: readonly string[]): Trie {
  const children = [new Map<number, number>()];
  const ends: (string[] | undefined)[] = [undefined];
  for (const pattern of patterns.toSorted()) {
    let node = ROOT;
    for (let at = 0; at < anchorLength(pattern); at += 1) {
      const char = pattern.charCodeAt(at);
      let next = children[node]!.get(char);
      if (next === undefined) {
        next = children.push(new Map<number, number>()) - 1;
        ends.push(undefined);
        children[node]!.set(char, next);
      }
      node = next;
    }
    (ends[node] ??= []).push(pattern);
  }
  const fails = new Int32Array(children.length);
  /** The nearest node of a shorter anchor that ends at the same position, or the root. */
  const shorter = new Int32Array(children.length);
  const step = (from: number, char: number): number => {
    for (let node = from; ; node = fails[node]!) {
      const next = children[node]!.get(char);
      if (next !== undefined) return next;
      if (node === ROOT) return ROOT;
    }
  };
  // Breadth first, so that a node's fallback is known before the node is visited.
  const queue = [...children[ROOT]!.values()];
  for (const node of queue) {
    const fail = fails[node]!;
    shorter[node] = ends[fail] === undefined ? shorter[fail]! : fail;
    for (const [char, child] of children[node]!) {
      fails[child] = step(fail, char);
      queue.push(child);
    }
  }
  const begins = new Uint8Array(65_536);
  for (const char of children[ROOT]!.keys()) begins[char] = 1;
  const longestAt: Trie['longestAt'] = (node, text, end) => {
    for (let place = ends[node] === undefined ? shorter[node]! : node; place !== ROOT;) {
      const found = ends[place]!;
      const length = anchorLength(found[0]!);
      if (length >= MIN_ANYWHERE || isWord(text, end - length, end)) return found;
      place = shorter[place]!;
    }
    return undefined;
  };
  return { begins, step, longestAt };
}

/** Whether a match is a separate word, with no letter or digit on either side. */
const isWord = (text: string, start: number, end: number): boolean =>
  !WORD.test(text.charAt(start - 1)) && !WORD.test(text.charAt(end));
