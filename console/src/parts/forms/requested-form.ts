import { useRouterState } from '@tanstack/react-router';
import { useEffect, useSyncExternalStore } from 'react';

/** The page whose form for a new entry was requested from elsewhere, such as the command palette. */
let requested: string | undefined;
const listeners = new Set<() => void>();

export function requestForm(page: string | undefined): void {
  requested = page;
  for (const listener of listeners) listener();
}

/** Opens the form of this page once it was requested. */
export function useRequestedForm(open: () => void): void {
  const wanted = useSyncExternalStore(subscribe, () => requested);
  // The page that is left still shows while the next one loads.
  const path = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname });
  useEffect(() => {
    if (wanted === undefined || wanted !== path) return;
    requestForm(undefined);
    open();
  }, [wanted, path, open]);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
