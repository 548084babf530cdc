import { queryOptions } from '@tanstack/react-query';
import type { BodyOf } from '#client/index.ts';
import { api } from '#console/src/api.ts';

export const authorizationsKey = ['authorizations'] as const;

/** The clients that can use the service for the member, or for all members. */
export const authorizationsQuery = (of: 'me' | 'workspace') =>
  queryOptions({
    queryKey: [...authorizationsKey, of],
    queryFn: ({ signal }) => api().listAuthorizations({ of }, { signal }),
  });

export type AuthorizationRequest = BodyOf<'POST /api/authorizations/preview'>['request'];

/** Who asks for access, and for what. */
export const previewQuery = (request: AuthorizationRequest) =>
  queryOptions({
    queryKey: ['authorization-request', request],
    queryFn: ({ signal }) => api().previewAuthorization({ request }, { signal }),
    // The answer is about the client as it was when the member opened the page.
    staleTime: 'static',
    retry: false,
  });
