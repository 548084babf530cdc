import { isObject } from '#shared/graph/json-value.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { contentTypeIn, fieldsOf, formOf, isForm } from '#shared/values/form.ts';

/** The parameters that are addresses, by tool. */
const ADDRESSES: Readonly<Record<string, string>> = {
  http_request: 'url',
  mcp: 'server_url',
  send_chat_message: 'webhook_url',
};

/** Whether an argument of a tool is the address of its call. */
const isAddress = (tool: string, argument: string): boolean =>
  Object.hasOwn(ADDRESSES, tool) && ADDRESSES[tool] === argument;

/**
 * The address that is called for a text, in each form that a rule may use: as URL parsers understand it, with or
 * without the default port, and with or without the query. A text has many spellings, such as different cases, ports
 * with leading zeros, backslashes and encoded letters. Empty for a text that is not a URL. `query` are the parameters
 * that the call appends.
 */
function calledAddresses(text: string, query?: Json): string[] {
  const url = parse(text);
  if (url === undefined) return [];
  for (const [name, value] of fieldsOf(isObject(query) ? query : {})) {
    url.searchParams.append(name, value);
  }
  const whole = [url.href, decoded(url.href)];
  url.search = '';
  const bare = decoded(url.href);
  const origins = url.pathname === '/' ? [url.origin] : [];
  const usual = `${url.origin}:${url.protocol === 'https:' ? 443 : 80}`;
  const ports = url.port === '' ? [bare.replace(url.origin, usual)] : [];
  return [...new Set([...whole, bare, ...origins, ...ports])];
}

/** The values of a rule, with the canonical form of each that is an address. */
export function named(tool: string, argument: string, values: readonly Json[]): readonly Json[] {
  if (!isAddress(tool, argument)) return values;
  return values.flatMap((value): Json[] => {
    const url = typeof value === 'string' ? parse(value) : undefined;
    return url === undefined ? [value] : [value, decoded(url.href)];
  });
}

function parse(text: string): URL | undefined {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  url.username = '';
  url.password = '';
  url.hash = '';
  const { hostname } = url;
  if (hostname.endsWith('.')) url.hostname = hostname.slice(0, -1);
  const mapped = /^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/.exec(hostname);
  if (mapped !== null) {
    const bytes = mapped.slice(1).flatMap((part) => {
      const number = Number.parseInt(part, 16);
      return [number >> 8, number & 255];
    });
    url.hostname = bytes.join('.');
  }
  return url;
}

/** Letters, digits and four signs are equivalent to their encoded form; for other codes, the case is normalized. */
const decoded = (href: string): string =>
  href.replace(/%[0-9a-f]{2}/gi, (code) => {
    const character = String.fromCharCode(Number.parseInt(code.slice(1), 16));
    return /[A-Za-z0-9._~-]/.test(character) ? character : code.toUpperCase();
  });

/**
 * The values that a rule examines. For the address of a call, this includes the equivalent forms; for an object that is
 * sent as a form, its text.
 */
export function examined(
  tool: string,
  argument: string,
  found: readonly Json[],
  params: JsonObject,
): readonly Json[] {
  if (tool === 'http_request' && argument === 'body') {
    const { body, headers } = params;
    if (!isObject(body ?? null) || !isForm(contentTypeIn(headers))) return found;
    const fields = fieldsOf(body as JsonObject);
    return [...found, formOf(body as JsonObject), fields.map((field) => field.join('=')).join('&')];
  }
  if (!isAddress(tool, argument)) return found;
  return found.flatMap((value): Json[] =>
    typeof value === 'string'
      ? [value, ...calledAddresses(value, tool === 'http_request' ? params['query'] : undefined)]
      : [value],
  );
}
