import { wholeList } from './pages.ts';
import type { CallOptions, Send, WriteOptions } from './request.ts';
import type { BodyOf, QueryOf } from './routes.ts';
import type { ConnectionAuthorization, ConnectionPreset, OAuthConnection } from './types.ts';

export function connectionMethods(send: Send) {
  return {
    /** The connections of the workspace, by name. No response contains a client secret or a token. */
    listConnections: (
      query: QueryOf<'GET /api/connections'> = {},
      options?: CallOptions,
    ): Promise<OAuthConnection[]> =>
      wholeList((page) => send('GET /api/connections', [], { query: page, options }), query),
    /** Well-known services, whose names `createConnection` accepts as `preset`. */
    listConnectionPresets: (
      query: QueryOf<'GET /api/connection-presets'> = {},
      options?: CallOptions,
    ): Promise<ConnectionPreset[]> =>
      wholeList((page) => send('GET /api/connection-presets', [], { query: page, options }), query),
    getConnection: (connectionId: string, options?: CallOptions): Promise<OAuthConnection> =>
      send('GET /api/connections/{id}', [connectionId], { options }),
    /** Register the `callback_url` of the response with the service. */
    createConnection: (
      connection: BodyOf<'POST /api/connections'>,
      options?: CallOptions,
    ): Promise<OAuthConnection> => send('POST /api/connections', [], { body: connection, options }),
    /** Fields that are not given stay. Where tokens could be sent elsewhere, it needs the client secret again. */
    updateConnection: (
      connectionId: string,
      change: BodyOf<'PUT /api/connections/{id}'>,
      options?: WriteOptions,
    ): Promise<OAuthConnection> =>
      send('PUT /api/connections/{id}', [connectionId], { body: change, options }),
    deleteConnection: (connectionId: string, options?: WriteOptions): Promise<undefined> =>
      send('DELETE /api/connections/{id}', [connectionId], { options }),
    /** Only useful in a browser: it gets a cookie, with which it has to come back from the address. */
    authorizeConnection: (
      connectionId: string,
      options?: CallOptions,
    ): Promise<ConnectionAuthorization> =>
      send('POST /api/connections/{id}/authorize', [connectionId], { options }),
    /** Deletes the tokens of the caller's own account, or those of the workspace's. */
    disconnectConnection: (connectionId: string, options?: CallOptions): Promise<OAuthConnection> =>
      send('POST /api/connections/{id}/disconnect', [connectionId], { options }),
  };
}
