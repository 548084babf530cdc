import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Json, JsonObject } from '#shared/json.ts';

/**
 * A server that reads requests as a document describes them: by the parameters and bodies in the document, in the styles of
 * OpenAPI. It shares no code with what builds the requests. Leaves are texts, except in JSON.
 */
export interface DescribedServer {
  url: string;
  /** What the last request of an operation contained. */
  read: (path: string, method: string) => Received;
  close: () => Promise<void>;
}

export interface Received {
  path: Record<string, Json>;
  query: Record<string, Json>;
  header: Record<string, Json>;
  cookie: Record<string, Json>;
  body: Json | undefined;
}

interface Raw {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

export async function startDescribedServer(document: JsonObject): Promise<DescribedServer> {
  let last: Raw | undefined;
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      last = {
        method: request.method ?? '',
        url: request.url ?? '',
        headers: request.headers,
        body,
      };
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/base`,
    read: (path, method) => {
      if (last === undefined) throw new Error('No request came');
      const raw = last;
      last = undefined;
      if (raw.method !== method) throw new Error(`It came with ${raw.method}`);
      return readRequest(document, path, raw);
    },
    close: () => new Promise((resolve) => void server.close(() => resolve())),
  };
}

const textIn = (part: JsonObject, name: string): string => {
  const value = part[name];
  return typeof value === 'string' ? value : '';
};

/** OpenAPI ignores parameters of these names. */
const IGNORED = new Set(['accept', 'content-type', 'authorization']);

/** A part of the document, behind its references. */
export function behind(document: JsonObject, given: Json | undefined): JsonObject {
  let part: Json = given ?? {};
  while (typeof part === 'object' && part !== null && !Array.isArray(part) && '$ref' in part) {
    const names: string[] = textIn(part, '$ref').replace('#/', '').split('/');
    part = names.reduce<Json>(
      (value, name) =>
        (value as JsonObject)[
          decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~')
        ] ?? {},
      document,
    );
  }
  return part as JsonObject;
}

function readRequest(document: JsonObject, path: string, raw: Raw): Received {
  const item = behind(document, (document['paths'] as JsonObject)[path]);
  const operation = item[raw.method.toLowerCase()] as JsonObject;
  const declared = [item, operation].flatMap(({ parameters }) =>
    ((parameters ?? []) as Json[]).map((each) => behind(document, each)),
  );
  const received: Received = { path: {}, query: {}, header: {}, cookie: {}, body: undefined };
  const [pathname = '', search = ''] = raw.url.replace(/^\/base/, '').split('?');
  const segments = readPath(path, pathname);
  const inQuery = pairsOf(search, '&');
  const inCookie = pairsOf(raw.headers.cookie ?? '', '; ');
  const names = declared.map((each) => textIn(each, 'name'));
  for (const parameter of declared) {
    const name = textIn(parameter, 'name');
    const style = styleOf(document, parameter);
    const place = textIn(parameter, 'in');
    if (place === 'path') received.path[name] = fromSegment(segments[name] ?? '', name, style);
    if (place === 'header' && !IGNORED.has(name.toLowerCase())) {
      const value = raw.headers[name.toLowerCase()];
      if (value !== undefined) {
        // Node reads the bytes of a header as Latin-1.
        received.header[name] = simple(String(value), style, (part) => part);
      }
    }
    if (place !== 'query' && place !== 'cookie') continue;
    const pairs = place === 'query' ? inQuery : inCookie;
    const value = fromPairs(pairs, name, style, names);
    if (value !== undefined) received[place][name] = value;
  }
  received.body = readBody(document, operation, declared, raw);
  return received;
}

type Shape = 'array' | 'object' | 'value';

interface Style {
  style: string;
  explode: boolean;
  shape: Shape;
  json: boolean;
}

/** The style of a parameter or a field, with the defaults of OpenAPI 3 or Swagger 2.0. */
function styleOf(document: JsonObject, parameter: JsonObject): Style {
  const place = textIn(parameter, 'in');
  const json = 'content' in parameter;
  if (parameter['schema'] === undefined && 'type' in parameter) {
    const format = parameter['collectionFormat'] ?? 'csv';
    const shape = parameter['type'] === 'array' ? 'array' : 'value';
    return {
      style: place === 'query' || place === 'formData' ? 'form' : 'simple',
      explode: format === 'multi',
      shape,
      json,
    };
  }
  const usual = place === 'query' || place === 'cookie' ? 'form' : 'simple';
  const style = textIn(parameter, 'style') || usual;
  const explode = parameter['explode'] ?? style === 'form';
  return { style, explode: explode === true, shape: shapeOf(document, parameter['schema']), json };
}

function shapeOf(document: JsonObject, given: Json | undefined): Shape {
  const schema = behind(document, given);
  const type = [schema['type'] ?? ''].flat()[0];
  if (type === 'array' || type === 'object') return type;
  if (type !== '') return 'value';
  const parts = (schema['allOf'] ?? schema['oneOf'] ?? schema['anyOf'] ?? []) as Json[];
  if (parts.length > 0) return shapeOf(document, parts[0]);
  return 'properties' in schema ? 'object' : 'value';
}

function readPath(template: string, pathname: string): Record<string, string> {
  const names: string[] = [];
  const pattern = template
    .replace(/#.*/, '')
    .split(/(\{[^}]*\})/)
    .map((part) => {
      const literal = encodeURI(decodeURI(part));
      if (!part.startsWith('{')) return literal.replaceAll(/[.*+?^$()|[\]\\]/g, String.raw`\$&`);
      names.push(part.slice(1, -1));
      return '([^/]*)';
    })
    .join('');
  const match = new RegExp(`^${pattern}$`).exec(pathname);
  if (match === null) throw new Error(`${pathname} is not below ${template}`);
  return Object.fromEntries(names.map((name, at) => [name, match[at + 1] ?? '']));
}

const decode = decodeURIComponent;

function fromSegment(raw: string, name: string, style: Style): Json {
  if (style.style === 'label') {
    const { shape, explode } = style;
    return simple(raw.slice(1), style, decode, explode && shape !== 'value' ? '.' : ',');
  }
  if (style.style !== 'matrix') return simple(raw, style, decode);
  const pairs = pairsOf(raw.slice(1), ';');
  return fromPairs(pairs, name, { ...style, style: 'form' }, [name]) ?? '';
}

/** The styles in which parts are separated and not named. */
function simple(
  raw: string,
  { shape, explode }: Style,
  read: (text: string) => string,
  separator = ',',
): Json {
  if (shape === 'value') return read(raw);
  const parts = raw.split(separator);
  if (shape === 'array') return parts.map(read);
  if (explode) return Object.fromEntries(parts.map((part) => halves(part).map(read)));
  return Object.fromEntries(
    parts.flatMap((part, at) => (at % 2 === 0 ? [[read(part), read(parts[at + 1] ?? '')]] : [])),
  );
}

function halves(text: string): [string, string] {
  const at = text.indexOf('=');
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

const pairsOf = (raw: string, separator: string): [string, string][] =>
  raw === '' ? [] : raw.split(separator).map(halves);

function fromPairs(
  pairs: [string, string][],
  name: string,
  style: Style,
  names: string[],
): Json | undefined {
  const own = pairs.filter(([key]) => decode(key) === name).map(([, value]) => value);
  if (style.json) return own[0] === undefined ? undefined : (JSON.parse(decode(own[0])) as Json);
  if (style.style === 'deepObject') {
    // Of a choice between an object and a text, such as '' to remove what is set.
    const alone = own[0] === undefined ? undefined : decode(own[0]);
    return fromDeep(pairs, name) ?? alone;
  }
  // Of a choice between a text and a list.
  if (style.shape === 'value' && own.length > 1) return own.map(decode);
  if (style.shape === 'value') return own[0] === undefined ? undefined : decode(own[0]);
  if (style.explode) {
    if (style.shape === 'array') return own.length === 0 ? undefined : own.map(decode);
    const others = pairs.filter(([key]) => !names.includes(decode(key)) || names.length === 1);
    const read = others.map(([key, value]) => [decode(key), decode(value)]);
    return read.length === 0 ? undefined : (Object.fromEntries(read) as Json);
  }
  const separator = { spaceDelimited: '%20', pipeDelimited: '%7C' }[style.style] ?? ',';
  return own[0] === undefined ? undefined : simple(own[0], style, decode, separator);
}

/** `a[b][0]=c` as `{b: {0: 'c'}}`. */
function fromDeep(pairs: [string, string][], name: string): Json | undefined {
  const found: JsonObject = {};
  for (const [key, value] of pairs) {
    const parts = /^([^[]*)((?:\[[^\]]*\])+)$/.exec(key);
    if (parts === null || decode(parts[1]!) !== name) continue;
    const keys = [...parts[2]!.matchAll(/\[([^\]]*)\]/g)].map(([, part]) => decode(part!));
    const end = keys.pop()!;
    let place = found;
    for (const each of keys) place = (place[each] ??= {}) as JsonObject;
    place[end] = decode(value);
  }
  return Object.keys(found).length === 0 ? undefined : found;
}

function readBody(
  document: JsonObject,
  operation: JsonObject,
  declared: JsonObject[],
  raw: Raw,
): Json | undefined {
  const type = raw.headers['content-type'];
  if (type === undefined) return undefined;
  if (type.includes('json')) return JSON.parse(raw.body) as Json;
  if (type.startsWith('text/')) return raw.body;
  const form = type.startsWith('multipart/')
    ? readMultipart(raw.body, type)
    : new URLSearchParams(raw.body);
  const content = (behind(document, operation['requestBody'])['content'] ?? {}) as JsonObject;
  const media = (Object.entries(content).find(([name]) => type.startsWith(name))?.[1] ??
    {}) as JsonObject;
  const fields = behind(document, media['schema'])['properties'] ?? {};
  const encodings = (media['encoding'] ?? {}) as Record<string, JsonObject>;
  const inForm = declared.filter((each) => each['in'] === 'formData');
  const described: [string, JsonObject][] =
    inForm.length > 0
      ? inForm.map((each) => [textIn(each, 'name'), each])
      : Object.entries(fields).map(([name, schema]) => [
          name,
          { ...encodings[name], in: 'query', schema, named: name in encodings },
        ]);
  const isForm = type.startsWith('application/');
  const body: JsonObject = {};
  for (const [name, field] of described) {
    const value = fromForm(document, name, field, form, isForm ? raw.body : '');
    if (value !== undefined) body[name] = value;
  }
  return body;
}

/** The parts of a multipart body by name (RFC 7578). */
function readMultipart(body: string, type: string): Pick<URLSearchParams, 'getAll'> {
  const boundary = /boundary=(\S+)/.exec(type)?.[1] ?? '';
  const parts = `\r\n${body}`.split(`\r\n--${boundary}`);
  const isWhole = parts.shift() === '' && parts.pop() === '--\r\n';
  if (!isWhole) throw new Error('It has no beginning or end');
  const read = parts.map((part): [name: string, value: string] => {
    const at = part.indexOf('\r\n\r\n');
    const name = /^\r\nContent-Disposition: form-data; name="([^"]*)"/.exec(part)?.[1] ?? '';
    return [decode(name), part.slice(at + 4)];
  });
  return { getAll: (wanted) => read.flatMap(([name, value]) => (name === wanted ? [value] : [])) };
}

function fromForm(
  document: JsonObject,
  name: string,
  field: JsonObject,
  form: Pick<URLSearchParams, 'getAll'>,
  text: string,
): Json | undefined {
  const values = form.getAll(name).map(String);
  const style = styleOf(document, field);
  const styled =
    field['style'] !== undefined || field['explode'] !== undefined || field['in'] === 'formData';
  if (text !== '' && styled) return fromPairs(pairsOf(text, '&'), name, style, [name]);
  if (values.length === 0) return undefined;
  if (style.shape === 'array') return values;
  return style.shape === 'object' ? (JSON.parse(values[0]!) as Json) : values[0];
}
