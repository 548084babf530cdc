import { queryOptions, useQuery } from '@tanstack/react-query';
import { ApiError, type Capability, type Identity } from '../../../client/index.ts';
import { api } from '../api.ts';

/** Who the console acts as; null when the service wants to know and nobody is signed in. */
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

/** Who acts. Pages are shown only once that is known, so it is there wherever this is asked. */
export function useIdentity(): Identity {
  const { data } = useQuery(identityQuery);
  if (data == null) throw new Error('Not signed in');
  return data;
}

/** Whether the current member has the capability. The console hides actions that would be refused. */
export function useMay(capability: Capability): boolean {
  return useIdentity().capabilities[capability];
}
