import { CALLBACK_PATH } from '#shared/values/connection-callback.ts';

/** With TLS, no other host, such as a sibling below the same domain, can set a cookie with this name. */
const nameOf = (publicUrl: string, signInId: string): string =>
  `${isSecure(publicUrl) ? '__Host-' : ''}sign_in_${signInId}`;

const isSecure = (publicUrl: string): boolean => new URL(publicUrl).protocol === 'https:';

/**
 * The cookie that binds a sign-in to the browser in which it began. The callback also gets it after the redirect from
 * another site. With no seconds left, it is removed.
 */
export function signInCookie(
  publicUrl: string,
  { id, value, seconds }: { id: string; value: string; seconds: number },
): string {
  const base = new URL(publicUrl).pathname.replace(/\/$/, '');
  const scope = isSecure(publicUrl) ? 'Path=/; Secure' : `Path=${base}${CALLBACK_PATH}`;
  return `${nameOf(publicUrl, id)}=${value}; ${scope}; Max-Age=${seconds}; HttpOnly; SameSite=Lax`;
}

/** The value of a sign-in's cookie among those that a browser has sent. */
export function readSignInCookie(
  publicUrl: string,
  header: string | undefined,
  signInId: string,
): string | undefined {
  const name = `${nameOf(publicUrl, signInId)}=`;
  const found = (header ?? '').split(';').find((each) => each.trim().startsWith(name));
  return found?.trim().slice(name.length);
}
