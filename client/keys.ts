import { wholeList } from './pages.ts';
import type { CallOptions, Send, WriteOptions } from './request.ts';
import type { BodyOf, QueryOf } from './routes.ts';
import type { ApiKey, CreatedApiKey } from './types.ts';

export function keyMethods(send: Send) {
  return {
    /** Newest first, including revoked keys. */
    listApiKeys: (query: QueryOf<'GET /api/keys'> = {}, options?: CallOptions): Promise<ApiKey[]> =>
      wholeList((page) => send('GET /api/keys', [], { query: page, options }), query),
    /** The secret is returned only in this response. */
    createApiKey: (body: BodyOf<'POST /api/keys'>, options?: CallOptions): Promise<CreatedApiKey> =>
      send('POST /api/keys', [], { body, options }),
    getApiKey: (keyId: string, options?: CallOptions): Promise<ApiKey> =>
      send('GET /api/keys/{id}', [keyId], { options }),
    revokeApiKey: (keyId: string, options?: WriteOptions): Promise<undefined> =>
      send('DELETE /api/keys/{id}', [keyId], { options }),
  };
}
