import { isObject } from '#shared/graph/json-value.ts';
import {
  type ParameterPlace,
  parameterPlaces,
  type ParameterStyle,
} from '#shared/contract/tools/request-mapping.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { objectIn, own, textIn } from './document.ts';
import { isJsonType, mediaTypeOf } from './media-types.ts';
import type { ObjectPart, Part } from './references.ts';
import { UnsupportedError } from './unsupported.ts';

/** A parameter of an operation, with what its document leaves to the defaults. */
export interface Parameter {
  name: string;
  in: ParameterPlace;
  required: boolean;
  description: string;
  schema: Part;
  style: ParameterStyle;
  explode: boolean;
  allowReserved: boolean;
  contentType?: string;
}

/** A credential that a document declares as an API key. */
export interface DeclaredKey {
  in: string;
  parameter: string;
}

/** Headers that say who calls, or that the request's sender sets. */
const OWN_HEADERS = new Set([
  ...['authorization', 'host', 'content-length', 'idempotency-key', 'content-type', 'accept'],
  ...['cookie', 'transfer-encoding', 'connection', 'keep-alive', 'upgrade', 'te', 'trailer'],
  ...['expect', 'proxy-authorization', 'proxy-connection'],
]);
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;
const STYLES: Readonly<Record<ParameterPlace, readonly ParameterStyle[]>> = {
  path: ['simple', 'label', 'matrix'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  header: ['simple'],
  cookie: ['form'],
};
const MAX_NAME = 500;

/** The parameters of an operation that are arguments. Throws UnsupportedError. */
export function readParameters(
  parts: readonly ObjectPart[],
  path: string,
  keys: readonly DeclaredKey[],
): Parameter[] {
  const inPath = new Set([...path.matchAll(/\{([^{}]*)\}/g)].map(([, name = '']) => name));
  const read = new Map<string, Parameter>();
  for (const part of parts) {
    const parameter = readParameter(part);
    if (parameter === undefined || isCredential(parameter, keys)) continue;
    if (parameter.in === 'path' && !inPath.has(parameter.name)) continue;
    // Those of an operation come after those of its path, and count instead of them.
    read.set(`${parameter.in} ${parameter.name}`, parameter);
  }
  for (const name of inPath) {
    if (!read.has(`path ${name}`)) read.set(`path ${name}`, undeclared(name));
  }
  return [...read.values()];
}

const isCredential = (parameter: Parameter, keys: readonly DeclaredKey[]): boolean => {
  const isHeader = parameter.in === 'header';
  const named = (name: string): string => (isHeader ? name.toLowerCase() : name);
  return (
    (isHeader && OWN_HEADERS.has(parameter.name.toLowerCase())) ||
    keys.some((key) => key.in === parameter.in && named(key.parameter) === named(parameter.name))
  );
};

function readParameter({ value, base }: ObjectPart): Parameter | undefined {
  const name = textIn(value, 'name') ?? '';
  const place = parameterPlaces.find((each) => each === textIn(value, 'in'));
  if (place === undefined) return undefined;
  if (name === '' || name.length > MAX_NAME) {
    throw new UnsupportedError(`a ${place} parameter of it has no name, or one that is too long`);
  }
  if ((place === 'header' || place === 'cookie') && !TOKEN.test(name)) {
    throw new UnsupportedError(`its ${place} parameter '${name}' has a name that cannot be sent`);
  }
  const style = STYLES[place].find((each) => each === textIn(value, 'style')) ?? STYLES[place][0]!;
  const explode = own(value, 'explode');
  const content = contentOf(value);
  return {
    name,
    in: place,
    required: place === 'path' || own(value, 'required') === true,
    description: descriptionOf(value),
    schema: { value: content?.schema ?? own(value, 'schema') ?? {}, base },
    style,
    explode: typeof explode === 'boolean' ? explode : style === 'form',
    allowReserved: own(value, 'allowReserved') === true && place === 'query',
    ...(content !== undefined && { contentType: content.type }),
  };
}

function descriptionOf(value: JsonObject): string {
  const text = textIn(value, 'description')?.trim() ?? '';
  const deprecated = own(value, 'deprecated') === true || own(value, 'x-deprecated') === true;
  return deprecated ? `Deprecated. ${text}`.trim() : text;
}

/** The type and schema of a parameter whose value is a text of this type. */
function contentOf(value: JsonObject): { type: string; schema: Json } | undefined {
  const [entry] = Object.entries(objectIn(value, 'content') ?? {});
  if (entry === undefined) return undefined;
  const [given, media] = entry;
  const type = mediaTypeOf(given);
  const schema = isObject(media) ? (own(media, 'schema') ?? {}) : {};
  return { type: isJsonType(type) ? 'application/json' : type, schema };
}

/** For a name in a path that the document does not declare. */
const undeclared = (name: string): Parameter => ({
  name,
  in: 'path',
  required: true,
  description: '',
  schema: { value: { type: 'string' }, base: '' },
  style: 'simple',
  explode: false,
  allowReserved: false,
});
