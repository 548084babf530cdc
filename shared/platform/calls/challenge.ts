/** What the server of a refused request asks for, by its `WWW-Authenticate` header (RFC 6750, RFC 9728). */
export interface Challenge {
  /** The URL of the metadata about the resource, as the server has written it. */
  resourceMetadata: string | undefined;
  /** The scopes that the request needs. */
  scopes: string[] | undefined;
  error: string | undefined;
}

/** Longer headers are not read. */
const MAX_LENGTH = 8_000;
const MAX_SCOPES = 100;

/** A parameter with a token or a quoted text as its value, at the present position. */
const PARAMETER =
  /[\s,]*([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^\s",]+))/y;
const SCHEME = /[\s,]*([!#$%&'*+.^_`|~0-9A-Za-z-]+)(?=[\s,]|$)/y;

/** The challenge of the scheme `Bearer`; undefined if the header has none, or cannot be read. */
export function challengeOf(header: string | undefined): Challenge | undefined {
  if (header === undefined || header.length > MAX_LENGTH) return undefined;
  for (const { scheme, parameters } of challengesIn(header)) {
    if (scheme !== 'bearer') continue;
    const scope = parameters.get('scope');
    return {
      resourceMetadata: parameters.get('resource_metadata'),
      scopes: scope === undefined ? undefined : scopesIn(scope.split(' ')),
      error: parameters.get('error'),
    };
  }
  return undefined;
}

function challengesIn(
  header: string,
): { scheme: string; parameters: ReadonlyMap<string, string> }[] {
  const found: { scheme: string; parameters: Map<string, string> }[] = [];
  let at = 0;
  const next = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(header);
    if (match !== null) at = pattern.lastIndex;
    return match;
  };
  while (at < header.length) {
    const parameter = found.length === 0 ? null : next(PARAMETER);
    if (parameter !== null) {
      const [, name = '', quoted, plain = ''] = parameter;
      const value = quoted === undefined ? plain : quoted.replaceAll(/\\(.)/g, '$1');
      found.at(-1)?.parameters.set(name.toLowerCase(), value);
      continue;
    }
    const scheme = next(SCHEME);
    if (scheme === null) break;
    found.push({ scheme: (scheme[1] ?? '').toLowerCase(), parameters: new Map() });
  }
  return found;
}

const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]{1,300}$/;

/** Those that are scopes (RFC 6749), each once. */
export const scopesIn = (texts: readonly unknown[]): string[] =>
  [...new Set(texts)]
    .filter((text): text is string => typeof text === 'string' && SCOPE.test(text))
    .slice(0, MAX_SCOPES);
