import {
  MutationCache,
  partialMatchKey,
  QueryCache,
  QueryClient,
  type QueryKey,
} from '@tanstack/react-query';
import { ApiError, ConnectionError } from '#client/index.ts';
import { connectionLost, connectionWorks } from './connection.ts';
import { endSession, onSessionChange, sessionToken } from './session.ts';

/**
 * The cache of server state. The API client retries reads, so queries do not retry here. Any response with status 401
 * ends the session.
 */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onSuccess: connectionWorks, onError: noticed }),
  mutationCache: new MutationCache({ onSuccess: connectionWorks, onError: noticed }),
  defaultOptions: {
    queries: { retry: false, staleTime: 2_000, refetchOnWindowFocus: true, enabled: isKept },
    mutations: { retry: false },
  },
});

onSessionChange(() => queryClient.clear());

/** Not while an action removes what the query shows, because the read would fail before the page is left. */
function isKept({ queryKey }: { queryKey: QueryKey }): boolean {
  const removing = (key: QueryKey): boolean => partialMatchKey(queryKey, key);
  return (
    queryClient.isMutating({
      predicate: ({ meta }) => ((meta?.['removes'] ?? []) as QueryKey[]).some(removing),
    }) === 0
  );
}

function noticed(error: Error): void {
  if (error instanceof ConnectionError) return connectionLost(retry);
  if (error instanceof ApiError) connectionWorks();
  if (error instanceof ApiError && error.status === 401 && sessionToken() !== undefined) {
    endSession();
  }
}

function retry(): void {
  void queryClient.invalidateQueries();
}
