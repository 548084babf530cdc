import { isObject } from '#shared/graph/json-value.ts';
import type { JsonObject } from '#shared/json.ts';
import { type Dialect, listIn, objectIn, own, textIn } from './document.ts';

const MAX_SERVERS = 20;
const MAX_URL = 2_000;

/** The absolute URLs of a list of servers, in its order. Those that are none are left out. */
export function serversIn(node: JsonObject, documentUrl: string | undefined): string[] {
  const urls = listIn(node, 'servers')
    .slice(0, MAX_SERVERS)
    .flatMap((server) => {
      const url = isObject(server) ? filledUrl(server) : undefined;
      const absolute = url === undefined ? undefined : serverUrl(url, documentUrl);
      return absolute === undefined ? [] : [absolute];
    });
  return [...new Set(urls)];
}

/** The servers of a document itself. */
export function serversOf(
  root: JsonObject,
  dialect: Dialect,
  documentUrl: string | undefined,
): string[] {
  if (dialect !== '2.0') return serversIn(root, documentUrl);
  const host = textIn(root, 'host');
  const path = textIn(root, 'basePath') ?? '';
  if (host === undefined && path === '') return [];
  const from = documentUrl === undefined ? null : URL.parse(documentUrl);
  const named = (['https', 'http'] as const).filter((scheme) =>
    listIn(root, 'schemes').includes(scheme),
  );
  // Credentials should not be sent in the clear.
  const scheme = named[0] ?? from?.protocol.slice(0, -1);
  const url = host === undefined ? path : `${scheme ?? 'https'}://${host}${path}`;
  const absolute = serverUrl(url, documentUrl);
  return absolute === undefined ? [] : [absolute];
}

/** A server's URL, absolute and without a slash at its end; undefined if it cannot be the start of a request's URL. */
export function serverUrl(text: string, documentUrl: string | undefined): string | undefined {
  const url = URL.parse(text, documentUrl);
  if (url === null || !/^https?:$/.test(url.protocol) || /[{}]|%7[bd]/i.test(url.href)) {
    return undefined;
  }
  if ([url.username, url.password, url.search, url.hash].join('') !== '') return undefined;
  const href = url.href.replace(/\/+$/, '');
  return href.length > MAX_URL ? undefined : href;
}

/** The URL with the defaults of its variables. */
function filledUrl(server: JsonObject): string | undefined {
  const variables = objectIn(server, 'variables') ?? {};
  return textIn(server, 'url')?.replaceAll(/\{([^{}]*)\}/g, (text, name: string) => {
    const variable = own(variables, name);
    if (!isObject(variable)) return text;
    const value = own(variable, 'default') ?? listIn(variable, 'enum')[0];
    return typeof value === 'string' || typeof value === 'number' ? String(value) : text;
  });
}
