import { useSyncExternalStore } from 'react';

/**
 * The session token of this browser. It is kept in `localStorage`, so that a link from an alert opens signed in in a
 * new tab; the page's policy lets no foreign script near it.
 */
const KEY = 'workflows.session';
const listeners = new Set<() => void>();

/** The token, or undefined when nobody is signed in. */
export function sessionToken(): string | undefined {
  return localStorage.getItem(KEY) ?? undefined;
}

export function signIn(token: string): void {
  localStorage.setItem(KEY, token);
  tell();
}

export function signOut(): void {
  localStorage.removeItem(KEY);
  tell();
}

/** Calls back when this tab or another one signs in or out. Returns how to stop that. */
export function onSessionChange(listener: () => void): () => void {
  const other = (event: StorageEvent): void => {
    if (event.key === KEY || event.key === null) listener();
  };
  listeners.add(listener);
  window.addEventListener('storage', other);
  return () => {
    listeners.delete(listener);
    window.removeEventListener('storage', other);
  };
}

export const useSessionToken = (): string | undefined =>
  useSyncExternalStore(onSessionChange, sessionToken);

function tell(): void {
  for (const listener of listeners) listener();
}
