import { wholeList } from './pages.ts';
import type { CallOptions, Send } from './request.ts';
import type { BodyOf, QueryOf } from './routes.ts';
import type { Authorization, AuthorizationPreview, GrantedAuthorization } from './types.ts';

export function authorizationMethods(send: Send) {
  return {
    /** The clients that can use `/api/mcp` for you or, with `of: 'workspace'`, for all members. Newest first. */
    listAuthorizations: (
      query: QueryOf<'GET /api/authorizations'> = {},
      options?: CallOptions,
    ): Promise<Authorization[]> =>
      wholeList((page) => send('GET /api/authorizations', [], { query: page, options }), query),
    /** Who asks for access, and for what, as the page `/authorize` shows it. */
    previewAuthorization: (
      body: BodyOf<'POST /api/authorizations/preview'>,
      options?: CallOptions,
    ): Promise<AuthorizationPreview> =>
      send('POST /api/authorizations/preview', [], { body, options }),
    /** Lets a client use `/api/mcp` for you, and returns where the browser takes the code. */
    authorizeClient: (
      body: BodyOf<'POST /api/authorizations'>,
      options?: CallOptions,
    ): Promise<GrantedAuthorization> => send('POST /api/authorizations', [], { body, options }),
    /** Ends all tokens of a client, effective at once. */
    revokeAuthorization: (authorizationId: string, options?: CallOptions): Promise<undefined> =>
      send('DELETE /api/authorizations/{id}', [authorizationId], { options }),
  };
}
