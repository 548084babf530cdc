import { useSyncExternalStore } from 'react';

/**
 * The session token of this browser. It is kept in `localStorage`, so that a link from an alert opens signed in in a
 * new tab; the page's policy lets no foreign script near it.
 */
const KEY = 'workflows.session';
const listeners = new Set<() => void>();
let ended = false;

/** The token, or undefined when nobody is signed in. */
export function sessionToken(): string | undefined {
  return localStorage.getItem(KEY) ?? undefined;
}

export function signIn(token: string): void {
  localStorage.setItem(KEY, token);
  ended = false;
  notify();
}

export const signOut = (): void => forget(false);

/** Forgets a token that the service refuses: it expired, or was ended from elsewhere. */
export const endSession = (): void => forget(true);

function forget(byItself: boolean): void {
  localStorage.removeItem(KEY);
  ended = byItself;
  notify();
}

/** Whether the last session ended by itself, for the sign-in page to tell. */
export const sessionEnded = (): boolean => ended;

/** Calls back when this tab or another one signs in or out. Returns how to stop that. */
export function onSessionChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

// One listener for all: with several window listeners, the page would render between them with a mixture of states.
window.addEventListener('storage', ({ key }) => {
  if (key === KEY || key === null) notify();
});

export const useSessionToken = (): string | undefined =>
  useSyncExternalStore(onSessionChange, sessionToken);

function notify(): void {
  for (const listener of listeners) listener();
}
