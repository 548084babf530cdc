import { queryOptions, useQuery } from '@tanstack/react-query';
import { ApiError, type Capability, type Identity } from '#client/index.ts';
import { api } from '#console/src/api.ts';

/** The identity of the user; null if the service requires a sign-in. */
export const identityQuery = queryOptions({
  queryKey: ['identity'],
  queryFn: async ({ signal }): Promise<Identity | null> => {
    try {
      return await api().getIdentity({ signal });
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return null;
      throw error;
    }
  },
  staleTime: 30_000,
});

/** The identity of the user. Throws if it is missing; pages are shown only when it is known. */
export function useIdentity(): Identity {
  const { data } = useQuery(identityQuery);
  if (data == null) throw new Error('Not signed in');
  return data;
}

/** Whether the current member has the capability. The console hides actions that would be refused. */
export function useMay(capability: Capability): boolean {
  return useIdentity().capabilities[capability];
}
