import { joined } from '#shared/values/json-text.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { type Callbacks, NO_CALLBACKS } from '#shared/graph/waits/callbacks.ts';
import { CALLBACKS, sendsCallbacks } from '#shared/values/callbacks.ts';
import {
  CONNECTIONS,
  isConnectionPath,
  secretParamsOf,
  SECRETS,
  type SecretPlace,
  type ValueSource,
} from '#shared/values/secrets.ts';
import { isObject, memberOf } from '#shared/graph/json-value.ts';
import {
  parseTemplate,
  renderTemplate,
  renderValue,
  TemplateError,
  type Writer,
} from './template.ts';

/** A text that could be mistaken for a marker. */
const MARKER =
  /\{(?:(?:secrets|connections)\.[A-Z][A-Z0-9_]*|callbacks\.[^{}~]+)(?:~(\d{1,9}))?\}/g;
const MAX_NUMBER = 999_999_998;

interface Reference {
  root: ValueSource | typeof CALLBACKS;
  name: string;
}

/** The form of a reference to a secret, a connection or a callback in rendered texts. */
const markerOf = ({ root, name }: Reference, number: number): string =>
  number === 0 ? `{${root}.${name}}` : `{${root}.${name}~${number}}`;

/**
 * Fills the templates of a tool's parameters like `renderValue`. Where secrets are allowed, a reference to one becomes
 * a marker, and `secrets` lists the locations; so does one to a connection, or to the address of a callback. It only contains the
 * author's references, never text from the state. Throws TemplateError.
 */
export function renderWithSecrets(
  tool: string,
  templates: JsonObject,
  state: JsonObject,
  writers: Readonly<Record<string, Writer>> = {},
  callbacks: Callbacks = NO_CALLBACKS,
): { params: JsonObject; secrets: SecretPlace[] } {
  const texts = markedTexts(tool, templates, callbacks);
  if (texts.length === 0) {
    return { params: renderValue(templates, state, writers) as JsonObject, secrets: [] };
  }
  const references = texts.flatMap((text) => text.references);
  const withMarkers = (number: number): JsonObject => {
    const markers = (own: Reference['root']): JsonObject =>
      Object.fromEntries(
        references.flatMap((each) =>
          each.root === own ? [[each.name, markerOf(each, number)]] : [],
        ),
      );
    return joined(state, {
      ...(references.some(({ root }) => root === SECRETS) ? { [SECRETS]: markers(SECRETS) } : {}),
      ...(references.some(({ root }) => root === CONNECTIONS)
        ? { [CONNECTIONS]: withOthers(state, markers(CONNECTIONS)) }
        : {}),
      ...(callbacks.size > 0 ? { [CALLBACKS]: markers(CALLBACKS) } : {}),
    });
  };
  const params = renderValue(templates, withMarkers(0), writers) as JsonObject;
  const secrets: SecretPlace[] = [];
  for (const { path, template, references: here } of texts) {
    const rendered = textAt(params, path);
    const number = freeNumber(rendered, here.length);
    if (number > 0) {
      const writer = writers[String(path[0])];
      setText(params, path, renderTemplate(template, withMarkers(number), writer));
    }
    for (const each of once(here)) {
      secrets.push({
        path,
        name: each.name,
        marker: markerOf(each, number),
        ...(each.root === CALLBACKS ? { depth: callbacks.get(each.name)! } : {}),
        ...(each.root === CONNECTIONS ? { connection: true } : {}),
      });
    }
  }
  return { params, secrets };
}

/** The markers beside other names that the state has under this key. */
function withOthers(state: JsonObject, markers: JsonObject): JsonObject {
  const own = Object.hasOwn(state, CONNECTIONS) ? state[CONNECTIONS] : undefined;
  return isObject(own) ? joined(own, markers) : markers;
}

const once = (references: readonly Reference[]): Iterable<Reference> =>
  new Map(references.map((each) => [markerOf(each, 0), each])).values();

interface MarkedText {
  path: (string | number)[];
  template: string;
  /** Its references to secrets, connections and callbacks, in order. */
  references: Reference[];
}

/** The templates that refer to secrets, connections or callbacks. */
function markedTexts(tool: string, templates: JsonObject, callbacks: Callbacks): MarkedText[] {
  const allowed = secretParamsOf(tool);
  return Object.entries(templates).flatMap(([key, value]) => {
    const secrets = allowed.includes(key);
    const own = sendsCallbacks(tool, key) ? callbacks : NO_CALLBACKS;
    return secrets || own.size > 0 ? textsIn(value, [key], { secrets, callbacks: own }) : [];
  });
}

interface Allowed {
  secrets: boolean;
  callbacks: Callbacks;
}

function textsIn(value: Json, path: (string | number)[], allowed: Allowed): MarkedText[] {
  if (typeof value === 'string') {
    const references = referencesIn(value, allowed);
    return references.length === 0 ? [] : [{ path, template: value, references }];
  }
  if (Array.isArray(value)) {
    return value.flatMap((item, at) => textsIn(item, [...path, at], allowed));
  }
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => textsIn(item, [...path, key], allowed));
}

const referencesIn = (template: string, { secrets, callbacks }: Allowed): Reference[] =>
  parseTemplate(template).parts.flatMap((part): Reference[] => {
    if (typeof part === 'string' || part.path.length !== 2) return [];
    const name = String(part.path[1]);
    if (secrets && part.path[0] === SECRETS) return [{ root: SECRETS, name }];
    if (secrets && isConnectionPath(part.path)) return [{ root: CONNECTIONS, name }];
    return part.path[0] === CALLBACKS && callbacks.has(name) ? [{ root: CALLBACKS, name }] : [];
  });

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
