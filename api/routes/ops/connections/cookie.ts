import { CALLBACK_PATH } from '#shared/values/connection-callback.ts';

const nameOf = (signInId: string): string => `sign_in_${signInId}`;

/**
 * The cookie that binds a sign-in to the browser in which it began. Only the callback gets it, also after the redirect
 * from another site. With no seconds left, it is removed.
 */
export function signInCookie(
  publicUrl: string,
  { id, value, seconds }: { id: string; value: string; seconds: number },
): string {
  const { pathname, protocol } = new URL(publicUrl);
  const path = `${pathname.replace(/\/$/, '')}${CALLBACK_PATH}`;
  const secure = protocol === 'https:' ? '; Secure' : '';
  return `${nameOf(id)}=${value}; Path=${path}; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`;
}

/** The value of a sign-in's cookie among those that a browser has sent. */
export function readSignInCookie(header: string | undefined, signInId: string): string | undefined {
  const name = `${nameOf(signInId)}=`;
  const found = (header ?? '').split(';').find((each) => each.trim().startsWith(name));
  return found?.trim().slice(name.length);
}
