import { isObject } from '#shared/graph/json-value.ts';
import type { Json, JsonObject } from '#shared/json.ts';

/** Whether a content type is that of a form. */
export const isForm = (type: Json | undefined): boolean =>
  typeof type === 'string' && /^\s*application\/x-www-form-urlencoded\s*(?:;|$)/i.test(type);

/** The content type among headers; undefined without one. */
export function contentTypeIn(headers: Json | undefined): Json | undefined {
  if (!isObject(headers)) return undefined;
  return Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1];
}

/** The fields of a form or query. A list repeats its name, null is omitted, and objects, even in lists, are JSON. */
export const fieldsOf = (values: JsonObject): [name: string, value: string][] =>
  Object.entries(values).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).flatMap((item): [string, string][] =>
      item === null ? [] : [[name, typeof item === 'string' ? item : JSON.stringify(item)]],
    ),
  );

/** The values as the body of a form. */
export const formOf = (values: JsonObject): string =>
  fieldsOf(values)
    .map((field) => field.map(encoded).join('='))
    .join('&');

const encoded = (text: string): string =>
  encodeURIComponent(text.toWellFormed()).replaceAll('%20', '+');
