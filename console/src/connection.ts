import { useSyncExternalStore } from 'react';
import { api } from './api.ts';

/** Tracks whether the service responds. After a failure, polls it every two seconds until it responds again. */
const ASK_EVERY_MS = 2_000;
const ANSWER_WITHIN_SECONDS = 5;

let retry: (() => void) | undefined;
/** The time of the service's last response, in ms since 1970. */
let responded: number | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();

/** Call this when a call got no response. Calls `onReturn` when the service responds again. */
export function connectionLost(onReturn: () => void): void {
  if (retry !== undefined) return;
  retry = onReturn;
  timer = setTimeout(ask, ASK_EVERY_MS);
  notify();
}

/** Call this when a call got a response. */
export function connectionWorks(): void {
  responded = Date.now();
  if (retry === undefined) return;
  clearTimeout(timer);
  const returned = retry;
  retry = undefined;
  notify();
  returned();
}

/**
 * Undefined while the service responds. Otherwise the time of its last response, in ms since 1970, because pages show
 * nothing newer. 0 if there was none.
 */
export const useConnectionLost = (): number | undefined =>
  useSyncExternalStore(subscribe, () => (retry === undefined ? undefined : (responded ?? 0)));

function ask(): void {
  api()
    .getHealth({ timeout: ANSWER_WITHIN_SECONDS })
    .then(connectionWorks, () => {
      timer = setTimeout(ask, ASK_EVERY_MS);
    });
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function notify(): void {
  for (const listener of listeners) listener();
}
