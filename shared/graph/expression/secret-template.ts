import { joined } from '#shared/values/json-text.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { secretParamsOf, SECRETS, type SecretPlace } from '#shared/values/secrets.ts';
import { isObject, memberOf } from '#shared/graph/json-value.ts';
import {
  parseTemplate,
  renderTemplate,
  renderValue,
  TemplateError,
  type Writer,
} from './template.ts';

/** A text that could be mistaken for a marker. */
const MARKER = /\{secrets\.[A-Z][A-Z0-9_]*(?:~(\d{1,9}))?\}/g;
const MAX_NUMBER = 999_999_998;

/** The form of a reference to a secret in rendered texts. */
const markerOf = (name: string, number: number): string =>
  number === 0 ? `{${SECRETS}.${name}}` : `{${SECRETS}.${name}~${number}}`;

/**
 * Fills the templates of a tool's parameters like `renderValue`. Where secrets are allowed, a reference to one becomes
 * a marker, and `secrets` lists the locations. It only contains the author's references, never text from the state.
 * Throws TemplateError.
 */
export function renderWithSecrets(
  tool: string,
  templates: JsonObject,
  state: JsonObject,
  writers: Readonly<Record<string, Writer>> = {},
): { params: JsonObject; secrets: SecretPlace[] } {
  const texts = secretParamsOf(tool).flatMap((key) =>
    Object.hasOwn(templates, key) ? secretTexts(templates[key]!, [key]) : [],
  );
  if (texts.length === 0) {
    return { params: renderValue(templates, state, writers) as JsonObject, secrets: [] };
  }
  const names = [...new Set(texts.flatMap((text) => text.names))];
  const withMarkers = (number: number): JsonObject =>
    joined(state, {
      [SECRETS]: Object.fromEntries(names.map((name) => [name, markerOf(name, number)])),
    });
  const params = renderValue(templates, withMarkers(0), writers) as JsonObject;
  const secrets: SecretPlace[] = [];
  for (const { path, template, names: here } of texts) {
    const rendered = textAt(params, path);
    const number = freeNumber(rendered, here.length);
    if (number > 0) {
      const writer = writers[String(path[0])];
      setText(params, path, renderTemplate(template, withMarkers(number), writer));
    }
    for (const name of new Set(here)) secrets.push({ path, name, marker: markerOf(name, number) });
  }
  return { params, secrets };
}

interface SecretText {
  path: (string | number)[];
  template: string;
  /** The secret of each reference, in order. */
  names: string[];
}

/** The templates that refer to secrets. */
function secretTexts(value: Json, path: (string | number)[]): SecretText[] {
  if (typeof value === 'string') {
    const names = secretNames(value);
    return names.length === 0 ? [] : [{ path, template: value, names }];
  }
  if (Array.isArray(value)) return value.flatMap((item, at) => secretTexts(item, [...path, at]));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => secretTexts(item, [...path, key]));
}

const secretNames = (template: string): string[] =>
  parseTemplate(template).parts.flatMap((part) =>
    typeof part === 'object' && part.path.length === 2 && part.path[0] === SECRETS
      ? [String(part.path[1])]
      : [],
  );

/**
 * A number whose markers do not occur in the rest of the text: 0, unless there are more markers than references. A
 * marker contains no inner brace, so a text can only contain it as a whole.
 */
function freeNumber(rendered: string, references: number): number {
  const found = [...rendered.matchAll(MARKER)].map(([, number]) => Number(number ?? 0));
  if (found.length === references) return 0;
  const last = found.reduce((most, number) => Math.max(most, number), 0);
  if (last <= MAX_NUMBER) return last + 1;
  throw new TemplateError('The text has a number of a secret that is too high', SECRETS);
}

function textAt(params: JsonObject, path: readonly (string | number)[]): string {
  let value: Json | undefined = params;
  for (const key of path) value = memberOf(value ?? null, key);
  return typeof value === 'string' ? value : '';
}

/** Changing the rendered parameters in place is safe, because nothing else refers to them. */
function setText(params: JsonObject, path: readonly (string | number)[], text: Json): void {
  let value: Json | undefined = params;
  for (const key of path.slice(0, -1)) value = memberOf(value ?? null, key);
  (value as JsonObject)[path.at(-1)!] = text;
}
