import type { MappedParameter, RequestMapping } from '#shared/contract/tools/request-mapping.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { isJsonType } from './media-types.ts';
import { buildBody, readFrom } from './request-body.ts';
import {
  encodeAll,
  encodeReserved,
  isMembers,
  pairsOf,
  partsOf,
  refuseSeparators,
  type Room,
  simpleText,
  UnwritableError,
} from './styles.ts';

/** A request as it is sent. Headers have the names of the document, `Content-Type` and `Cookie`. */
export interface BuiltRequest {
  url: string;
  headers: Record<string, string>;
  body?: string;
}

const MAX_URL = 16_000;

/** What the request consists of so far. */
interface Draft {
  query: [string, string][];
  headers: Map<string, string>;
  cookies: [string, string][];
  room: Room;
}

/**
 * The request that a mapping makes of arguments, or why there is none, as a sentence. The arguments need not fit the
 * tool's schema: no value reaches another server, path or header than its own. Takes time linear in the arguments.
 */
export function buildRequest(
  mapping: RequestMapping,
  args: JsonObject,
): BuiltRequest | { problem: string } {
  try {
    return build(mapping, args);
  } catch (error) {
    if (error instanceof UnwritableError) return { problem: error.message };
    if (error instanceof RangeError) return { problem: 'The arguments are nested too deeply' };
    throw error;
  }
}

function build(
  { server, path, parameters, body }: RequestMapping,
  args: JsonObject,
): BuiltRequest | { problem: string } {
  const unknown = unknownArgument(parameters, body, args);
  if (unknown !== undefined) return { problem: `The argument '${unknown}' is not known` };
  const read = readFrom(args);
  const draft: Draft = { query: [], headers: new Map(), cookies: [], room: { left: MAX_URL } };
  const inPath = new Map<string, string>();
  for (const parameter of parameters) {
    const value = read(parameter.argument);
    const problem = addParameter(draft, inPath, parameter, value ?? null);
    if (problem !== undefined) return { problem };
  }
  const filled = fillPath(path, inPath);
  if (typeof filled !== 'string') return filled;
  const built = buildBody(body, read);
  if (built !== undefined && 'problem' in built) return built;
  if (built !== undefined) draft.headers.set('Content-Type', built.type);
  if (draft.cookies.length > 0) {
    draft.headers.set(
      'Cookie',
      draft.cookies.map(([name, value]) => `${name}=${value}`).join('; '),
    );
  }
  const search = draft.query.map(([name, value]) => `${name}=${value}`).join('&');
  const place = server.replace(/\/+$/, '') + filled;
  const url = URL.parse(place + (search === '' ? '' : `?${search}`));
  // For any mapping, nothing was resolved away, and it is the server of the mapping.
  if (
    url === null ||
    url.origin !== new URL(server).origin ||
    url.origin + url.pathname !== place
  ) {
    return { problem: 'The URL of the request is not valid' };
  }
  if (url.href.length > MAX_URL) {
    return { problem: `The URL is longer than ${MAX_URL.toLocaleString('en-US')} characters` };
  }
  return {
    url: url.href,
    headers: Object.fromEntries(draft.headers),
    ...(built !== undefined && { body: built.text }),
  };
}

function unknownArgument(
  parameters: readonly MappedParameter[],
  body: RequestMapping['body'],
  args: JsonObject,
): string | undefined {
  const known = new Set(parameters.map(({ argument }) => argument));
  if (body !== null && 'argument' in body) known.add(body.argument);
  if (body !== null && 'fields' in body) for (const field of body.fields) known.add(field.argument);
  return Object.keys(args).find((name) => !known.has(name));
}

/** Adds a parameter's value to its place, or says why it cannot be there. Null, empty lists and empty objects are left out. */
function addParameter(
  draft: Draft,
  inPath: Map<string, string>,
  parameter: MappedParameter,
  given: Json,
): string | undefined {
  const { argument, name, in: place, style, explode, content_type: contentType } = parameter;
  if (given === null) return place === 'path' ? `The argument '${argument}' is missing` : undefined;
  const value =
    contentType !== undefined && (isJsonType(contentType) || typeof given === 'object')
      ? JSON.stringify(given)
      : given;
  if (place === 'query' || place === 'cookie') {
    const encode = parameter.allow_reserved === true ? encodeReserved : encodeAll;
    const pairs = pairsOf({ name, value, style, explode, encode }, draft.room);
    const added = place === 'query' ? draft.query : draft.cookies;
    for (const pair of pairs) added.push(pair);
    return undefined;
  }
  if (place === 'path') {
    const text = simpleText({ name, value, style, explode, encode: encodeAll });
    if (isEmpty(value)) return `The argument '${argument}' is empty`;
    inPath.set(name, text);
    return undefined;
  }
  if (isEmpty(value) && value !== '') return undefined;
  const plain = (part: string): string => part;
  if (typeof value === 'object') refuseSeparators(name, partsOf(value, explode, plain), ',');
  const text = simpleText({ name, value, style, explode, encode: plain });
  if (/[^\t\x20-\x7e\x80-\xff]/.test(text)) {
    return `The argument '${argument}' has a character that a header cannot have`;
  }
  draft.headers.set(name, text);
  return undefined;
}

/** Whether a value leaves a part of a path empty. */
function isEmpty(value: Json): boolean {
  if (Array.isArray(value)) return value.every((item) => item === null || item === '');
  if (isMembers(value)) return Object.values(value).every((member) => member === null);
  return value === '';
}

/** The path with its values, or why it would be another path. */
function fillPath(path: string, values: ReadonlyMap<string, string>): string | { problem: string } {
  let missing: string | undefined;
  const segments = path.split('/').map((segment) =>
    segment
      .split(/(\{[^{}]*\})/)
      .map((part) => {
        if (!part.startsWith('{')) return literal(part);
        const value = values.get(part.slice(1, -1));
        if (value === undefined) missing ??= part.slice(1, -1);
        return value ?? '';
      })
      .join(''),
  );
  if (missing !== undefined) return { problem: `The path has no value for '${missing}'` };
  const dots = segments.some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment));
  return dots ? { problem: "A part of the path must not be '.' or '..'" } : segments.join('/');
}

/** A part of a path that the document gives, with its percent-encoding. */
const literal = (text: string): string =>
  text.replaceAll(/[^A-Za-z0-9\-._~!$&'()*+,;=:@%]+/g, (part) =>
    encodeURIComponent(part.toWellFormed()),
  );
