import { useSyncExternalStore } from 'react';

/**
 * The session token of this browser, in `localStorage`, so that new tabs (such as links from alerts) are signed in. The
 * page's CSP blocks foreign scripts.
 */
const KEY = 'workflows.session';
const listeners = new Set<() => void>();
let ended = false;

/** The token, or undefined when signed out. */
export function sessionToken(): string | undefined {
  return localStorage.getItem(KEY) ?? undefined;
}

export function signIn(token: string): void {
  localStorage.setItem(KEY, token);
  ended = false;
  notify();
}

export const signOut = (): void => forget(false);

/** Drops a token that the service refuses: it expired or was revoked. */
export const endSession = (): void => forget(true);

function forget(byItself: boolean): void {
  localStorage.removeItem(KEY);
  ended = byItself;
  notify();
}

/** Whether the last session ended without a sign-out; the sign-in page shows it. */
export const sessionEnded = (): boolean => ended;

/** Calls back when this tab or another one signs in or out. Returns the function to unsubscribe. */
export function onSessionChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

// One window listener for all, because with several, the page would render between them with inconsistent state.
window.addEventListener('storage', ({ key }) => {
  if (key === KEY || key === null) notify();
});

export const useSessionToken = (): string | undefined =>
  useSyncExternalStore(onSessionChange, sessionToken);

function notify(): void {
  for (const listener of listeners) listener();
}
