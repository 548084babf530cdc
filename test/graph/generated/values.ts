import type { Json, JsonObject } from '#shared/json.ts';

/** An expression cannot be evaluated. */
export class ValueError extends Error {}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function term(text: string, state: JsonObject): Json {
  if (/^([["\d]|true$|false$)/.test(text)) return JSON.parse(text) as Json;
  return text
    .split('.')
    .reduce<Json>((value, name) => (isObject(value) ? (value[name] ?? null) : null), state);
}

/** The few expressions that generated graphs have: `a.b`, `[a, b.c]`, `a < 2`, `a != 2`, a list in JSON, and `1 / 0`. */
export function valueOf(expression: string, state: JsonObject): Json {
  const [left = '', operator, right = ''] = expression.split(/ (<|!=|\/) /);
  if (operator === '/') throw new ValueError('division by zero');
  if (operator !== undefined) {
    const [a, b] = [term(left, state), term(right, state)];
    if (operator === '!=') return a !== b;
    if (typeof a !== typeof b) throw new ValueError('cannot order');
    return a! < b!;
  }
  const list = /^\[(n.*)\]$/.exec(expression)?.[1];
  return list === undefined
    ? term(expression, state)
    : list.split(', ').map((text) => term(text, state));
}

/** A template of one reference, or texts in an array or object. */
export function rendered(template: Json, state: JsonObject): Json {
  if (Array.isArray(template)) return template.map((part) => rendered(part, state));
  if (isObject(template)) {
    return Object.fromEntries(
      Object.entries(template).map(([key, part]) => [key, rendered(part, state)]),
    );
  }
  const path = typeof template === 'string' ? /^\{(.+)\}$/.exec(template)?.[1] : undefined;
  return path === undefined ? template : term(path, state);
}
