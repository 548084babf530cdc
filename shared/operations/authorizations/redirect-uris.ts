/** Where an authorization server sends a browser: only to addresses that the client has named before. */

const LOOPBACK = new Set(['127.0.0.1', '[::1]', 'localhost']);
const UNSAFE = /[\s\\<>"'`{}|^\u0000-\u0020\u007f]/;

export const isLoopback = (url: URL): boolean =>
  url.protocol === 'http:' && LOOPBACK.has(url.hostname);

/** Whether a client can name this address: HTTPS, or HTTP to this computer. */
export function isRedirectUri(text: string): boolean {
  if (UNSAFE.test(text) || !URL.canParse(text) || text.includes('#')) return false;
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return false;
  return url.protocol === 'https:' || isLoopback(url);
}

/** The address of a request, if the client has named it. A program on this computer may listen on any port. */
export const isNamedRedirect = (asked: string, named: readonly string[]): boolean =>
  isRedirectUri(asked) && named.some((one) => one === asked || isOtherPort(asked, one));

function isOtherPort(asked: string, named: string): boolean {
  const [one, other] = [new URL(asked), new URL(named)];
  if (!isLoopback(one) || !isLoopback(other)) return false;
  one.port = '';
  other.port = '';
  return one.href === other.href;
}

/** The address with parameters added, without a change of its own ones. */
export function redirectWith(uri: string, parameters: Record<string, string | undefined>): string {
  const added = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) added.append(name, value);
  }
  return `${uri}${uri.includes('?') ? '&' : '?'}${added.toString()}`;
}
