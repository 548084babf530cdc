import type { Json, JsonObject } from '#shared/json.ts';
import { createBoundedCache } from '#shared/values/bounded-cache.ts';
import { isObject, memberOf } from '#shared/graph/json-value.ts';

/** The longest rendered text, and the highest total length of texts within one value. */
const MAX_RENDERED = 4_000_000;

/** A template that cannot be rendered. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError';
  /** The reference without a value, as written; undefined when the text became too long. */
  readonly key: string | undefined;

  constructor(message: string, key?: string) {
    super(message);
    this.key = key;
  }
}

interface Reference {
  /** As written between the braces. */
  text: string;
  path: (string | number)[];
  position: number;
}

export interface Template {
  parts: (string | Reference)[];
  /** Braces that look like a reference but are not one. They stay as written; doubled ones become single. */
  doubtful: { text: string; position: number }[];
}

// A hyphen is part of the key: node ids contain them, and a template has no subtraction.
const REFERENCE =
  /\{([\p{L}_$][\p{L}\p{N}_$-]*(?:\.[\p{L}_$][\p{L}\p{N}_$-]*|\[\d{1,9}\]|\['[^'{}]*'\]|\["[^"{}]*"\])*)\}/uy;
const STEP = /^([^.[]+)|\.([^.[]+)|\[(\d+)\]|\['([^']*)'\]|\["([^"]*)"\]/g;
const DOUBTFUL = /\{\s*[\p{L}_$][\p{L}\p{N}_$-]*\s*(?:[.[][^{}\s]*)?(?:\s*\}|$)/uy;
/** A reference in the style of other template languages. */
const DOUBLED = /(?<!\{)\{\{\s*[\p{L}_$][\p{L}\p{N}_$-]*\s*(?:[.[][^{}\s]*)?\s*\}\}(?!\})/uy;

const parsed = createBoundedCache<string, Template>(500);

/**
 * Splits a text at its references. `{{` and `}}` each become one brace. Other braces stay as written, together with
 * their partners: the inner object of `{"a": {"b": 1}}` loses no brace. Never throws.
 */
export function parseTemplate(text: string): Template {
  return parsed(text, () => cut(text));
}

function cut(text: string): Template {
  const template: Template = { parts: [], doubtful: [] };
  const opened: ('one' | 'two')[] = [];
  let literal = '';
  let at = 0;
  while (at < text.length) {
    const character = text[at]!;
    if (character === '{' && text[at + 1] !== '{') {
      const reference = readReference(text, at);
      if (reference !== undefined) {
        if (literal !== '') template.parts.push(literal);
        literal = '';
        template.parts.push(reference);
        at += reference.text.length + 2;
        continue;
      }
      noteDoubtful(template, text, at, DOUBTFUL);
      opened.push('one');
    } else if (character === '{') noteDoubtful(template, text, at, DOUBLED);
    const width = braceWidth(text, at, opened);
    literal += character;
    at += width;
  }
  if (literal !== '') template.parts.push(literal);
  return template;
}

/** The number of source characters for one written brace; also updates the count of open braces. */
function braceWidth(text: string, at: number, opened: ('one' | 'two')[]): 1 | 2 {
  const twice = text[at + 1] === text[at];
  if (text[at] === '{' && twice) {
    opened.push('two');
    return 2;
  }
  if (text[at] !== '}') return 1;
  if (opened.at(-1) === 'one') {
    opened.pop();
    return 1;
  }
  if (!twice) return 1;
  opened.pop();
  return 2;
}

function readReference(text: string, at: number): Reference | undefined {
  REFERENCE.lastIndex = at;
  const source = REFERENCE.exec(text)?.[1];
  if (source === undefined) return undefined;
  if (!/[.[]/.test(source)) return { text: source, path: [source], position: at };
  const path = [...source.matchAll(STEP)].map(([, first, name, index, single, double]) =>
    index === undefined ? (first ?? name ?? single ?? double)! : Number(index),
  );
  return { text: source, path, position: at };
}

function noteDoubtful(template: Template, text: string, at: number, pattern: RegExp): void {
  pattern.lastIndex = at;
  const found = pattern.exec(text)?.[0];
  if (found !== undefined) template.doubtful.push({ text: found, position: at });
}

/** The top-level keys that a template reads, each once, with the position of the first read. */
export function templateReads(text: string): { key: string; position: number }[] {
  const first = new Map<string, number>();
  for (const part of parseTemplate(text).parts) {
    if (typeof part === 'string') continue;
    const key = String(part.path[0]);
    // The position after the brace.
    if (!first.has(key)) first.set(key, part.position + 1);
  }
  return [...first].map(([key, position]) => ({ key, position }));
}

/**
 * Fills a template from the state. A text that is exactly one reference returns the value itself, of any type; in other
 * texts strings are inserted unchanged and everything else as JSON. Inserted text is not parsed again. Throws
 * TemplateError naming a missing key, or when the text grows past 4,000,000 characters.
 */
export function renderTemplate(text: string, state: JsonObject, writer = UNCHANGED): Json {
  return render(text, state, { left: MAX_RENDERED }, writer);
}

/** Determines how inserted values are written for their reader. */
export interface Writer {
  /** Gets the text of a value: a string unchanged, everything else as JSON. `key` is the first key of its reference. */
  write: (text: string, key: string) => string;
  /** Whether a string that is the whole text is also written, instead of being returned unchanged. */
  alone: boolean;
}

const UNCHANGED: Writer = { write: (text) => text, alone: false };

/**
 * Fills the templates in a value, at any depth. Keys of objects do not change. `writers` are for the members of an object,
 * by name. Throws TemplateError.
 */
export function renderValue(
  value: Json,
  state: JsonObject,
  writers: Readonly<Record<string, Writer>> = {},
): Json {
  const room = { left: MAX_RENDERED };
  if (!isObject(value)) return renderDeep(value, state, room);
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      renderDeep(item, state, room, Object.hasOwn(writers, key) ? writers[key] : UNCHANGED),
    ]),
  );
}

function renderDeep(
  value: Json,
  state: JsonObject,
  room: { left: number },
  writer = UNCHANGED,
): Json {
  if (typeof value === 'string') return render(value, state, room, writer);
  if (Array.isArray(value)) return value.map((item) => renderDeep(item, state, room, writer));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, renderDeep(item, state, room, writer)]),
  );
}

function render(text: string, state: JsonObject, room: { left: number }, writer: Writer): Json {
  const { parts } = parseTemplate(text);
  const [only] = parts;
  if (parts.length === 1 && typeof only === 'object') {
    const value = lookUp(only, state);
    return writer.alone && typeof value === 'string' ? writer.write(value, keyOf(only)) : value;
  }
  let rendered = '';
  for (const part of parts) {
    const piece =
      typeof part === 'string' ? part : writer.write(asText(lookUp(part, state)), keyOf(part));
    room.left -= piece.length;
    if (room.left < 0) {
      throw new TemplateError(`The rendered text is longer than ${MAX_RENDERED} characters`);
    }
    rendered += piece;
  }
  return rendered;
}

const keyOf = ({ path }: Reference): string => String(path[0]);

function lookUp(reference: Reference, state: JsonObject): Json {
  let value: Json = state;
  for (const key of reference.path) {
    const found = memberOf(value, key);
    if (found === undefined) {
      throw new TemplateError(`Missing key '${reference.text}'`, reference.text);
    }
    value = found;
  }
  return value;
}

function asText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
