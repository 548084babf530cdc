import type { Json, JsonObject } from '#shared/json.ts';
import { CALLBACKS } from './callbacks.ts';

/** The name of a secret: `{secrets.NAME}` refers to it. */
export const SECRET_NAME = /^[A-Z][A-Z0-9_]{0,63}$/;

/** A shorter value would look like ordinary text in results. */
export const MIN_SECRET_LENGTH = 8;

/** The root of references to secrets. No key of the state can be read under this name. */
export const SECRETS = 'secrets';

/**
 * The root of references to the access tokens of connections. Only names in capitals are references: a graph of an
 * earlier version may read other names from its state.
 */
export const CONNECTIONS = 'connections';

/** Where the values come from that are inserted when a request is sent. */
export type ValueSource = typeof SECRETS | typeof CONNECTIONS;

/** What a value is called in messages. */
export const sourceNoun = (source: ValueSource): string =>
  source === SECRETS ? 'secret' : 'connection';

/** A reference to a stored value, such as `{secrets.CRM_API_KEY}`. */
export interface ValueReference {
  source: ValueSource;
  name: string;
}

/** Whether the parts of a template's reference name a connection. */
export const isConnectionPath = (path: readonly (string | number)[]): boolean =>
  path.length === 2 && path[0] === CONNECTIONS && SECRET_NAME.test(String(path[1]));

/** The tools' parameters that can contain secrets. */
const secretParams: Readonly<Record<string, readonly string[]>> = {
  http_request: ['headers', 'query', 'body'],
  mcp: ['headers'],
};

/** For error messages. */
export const WHERE_SECRETS_STAND =
  'headers, query or body of http_request, headers of mcp or headers of a custom tool';

/** This tool's parameters that can contain secrets. */
export const secretParamsOf = (tool: string): readonly string[] =>
  Object.hasOwn(secretParams, tool) ? secretParams[tool]! : [];

/**
 * Where a step's parameters contain a secret, or the address of a callback, which is one for everyone else: in the text
 * at `path`, every occurrence of `marker` is the author's reference. The same text elsewhere is data.
 */
export interface SecretPlace {
  path: (string | number)[];
  marker: string;
  name: string;
  /** For a callback: how many loops and maps are around the node `name`. */
  depth?: number;
  /** Set if `name` is that of a connection. */
  connection?: true;
}

/** Names a value among those of a step: a node or a connection can have the name of a secret. */
export function valueKey({
  name,
  depth,
  connection,
}: Pick<SecretPlace, 'name' | 'depth' | 'connection'>): string {
  if (depth !== undefined) return `${CALLBACKS}.${name}`;
  return connection === true ? `${CONNECTIONS}.${name}` : name;
}

/** The key of a reference. */
export const referenceKey = ({ source, name }: ValueReference): string =>
  valueKey(source === CONNECTIONS ? { name, connection: true } : { name });

/** The parameters with the texts at these locations replaced. `fill` gets a text with its locations. */
export function fillPlaces(
  params: JsonObject,
  places: readonly SecretPlace[],
  fill: (text: string, places: readonly SecretPlace[]) => string,
): JsonObject {
  const byPath = new Map<string, SecretPlace[]>();
  for (const place of places) {
    const key = JSON.stringify(place.path);
    byPath.set(key, [...(byPath.get(key) ?? []), place]);
  }
  let filled: Json = params;
  for (const here of byPath.values()) filled = fillAt(filled, here[0]!.path, here, fill);
  return filled as JsonObject;
}

function fillAt(
  value: Json | undefined,
  [key, ...rest]: SecretPlace['path'],
  places: readonly SecretPlace[],
  fill: (text: string, places: readonly SecretPlace[]) => string,
): Json {
  if (key === undefined) return fill(typeof value === 'string' ? value : '', places);
  if (Array.isArray(value)) {
    return value.map((item, at) => (at === key ? fillAt(item, rest, places, fill) : item));
  }
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) {
    return value ?? null;
  }
  return { ...value, [key]: fillAt(value[key], rest, places, fill) };
}

/** A host to which a secret may be sent. */
interface AllowedHost {
  /** In lower case, as in URLs; without the `*.` of a wildcard. */
  hostname: string;
  wildcard: boolean;
  /** Undefined: 443 and 80. */
  port: string | undefined;
}

const USUAL_PORTS: readonly string[] = ['443', '80'];
const WRITTEN = /^(\*\.)?([^\s/?#@\\*:[\]]+|\[[0-9A-Fa-f:.]+\])(?::(\d{1,5}))?$/;

function parseAllowedHost(text: string): AllowedHost | undefined {
  const [, star, host = '', port] = WRITTEN.exec(text) ?? [];
  const url = host === '' ? null : URL.parse(`http://${host}/`);
  if (url === null || (port !== undefined && !(Number(port) > 0 && Number(port) < 65_536))) {
    return undefined;
  }
  // A trailing dot means the same host.
  const hostname = url.hostname.replace(/\.$/, '');
  const wildcard = star !== undefined;
  // `*.com` would be most of the internet, and an IP address has no subdomains.
  if (wildcard && (!hostname.includes('.') || /^[\d.]+$|^\[/.test(hostname))) return undefined;
  return { hostname, wildcard, port: port === undefined ? undefined : String(Number(port)) };
}

/** The canonical form of `api.example.com`, `*.example.com` or `host:8443`; undefined for anything else. */
export function canonicalHost(text: string): string | undefined {
  const parsed = parseAllowedHost(text);
  if (parsed === undefined) return undefined;
  const { hostname, wildcard, port } = parsed;
  return `${wildcard ? '*.' : ''}${hostname}${port === undefined ? '' : `:${port}`}`;
}

/** Whether a request to this URL goes to one of these hosts, which are in canonical form. */
export function goesToHosts(url: URL, hosts: readonly string[]): boolean {
  const port = url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port;
  return hosts.some((text) => {
    const host = parseAllowedHost(text);
    if (host === undefined) return false;
    const named = host.wildcard
      ? url.hostname.endsWith(`.${host.hostname}`)
      : url.hostname === host.hostname;
    return named && (host.port === undefined ? USUAL_PORTS.includes(port) : host.port === port);
  });
}

/** A reference in braces, even with a name that no secret or connection can have. */
const REFERENCE = /\{(secrets|connections)\.([^{}]*)\}/g;

/** The references of a plain text, such as a custom tool's header, each once. */
export const referencesIn = (text: string): ValueReference[] => [
  ...new Map(
    [...text.matchAll(REFERENCE)].map(([written, source, name = '']) => [
      written,
      { source: source as ValueSource, name },
    ]),
  ).values(),
];

/** A plain text with each reference replaced by what `replace` returns for it. */
export const replaceReferences = (
  text: string,
  replace: (reference: ValueReference) => string,
): string =>
  text.replace(REFERENCE, (_written, source: ValueSource, name: string) =>
    replace({ source, name }),
  );

/** The names of the references of one source, each once. */
export const namesOf = (references: readonly ValueReference[], source: ValueSource): string[] => [
  ...new Set(references.flatMap((each) => (each.source === source ? [each.name] : []))),
];

/** What can be a marker. */
const MARKED = /\{(?:secrets|connections|callbacks)\.[^{}]*\}/g;

/** A rendered text with everything that can be a marker replaced. */
export const replaceMarkers = (text: string, replace: (marker: string) => string): string =>
  text.replace(MARKED, replace);
