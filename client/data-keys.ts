import { wholeList } from './pages.ts';
import type { CallOptions, Send, WriteOptions } from './request.ts';
import type { BodyOf, QueryOf } from './routes.ts';
import type { CreatedDataKey, DataKey, WorkspaceDataUsage } from './types.ts';

/** Administration of the data API. Its data is read under `/v1`, with data keys. */
export function dataKeyMethods(send: Send) {
  return {
    /** Newest first, including revoked keys. */
    listDataKeys: (
      query: QueryOf<'GET /api/data/keys'> = {},
      options?: CallOptions,
    ): Promise<DataKey[]> =>
      wholeList((page) => send('GET /api/data/keys', [], { query: page, options }), query),
    /** The secret is returned only in this response. */
    createDataKey: (
      body: BodyOf<'POST /api/data/keys'>,
      options?: CallOptions,
    ): Promise<CreatedDataKey> => send('POST /api/data/keys', [], { body, options }),
    getDataKey: (keyId: string, options?: CallOptions): Promise<DataKey> =>
      send('GET /api/data/keys/{id}', [keyId], { options }),
    revokeDataKey: (keyId: string, options?: WriteOptions): Promise<undefined> =>
      send('DELETE /api/data/keys/{id}', [keyId], { options }),
    /** Usage of the current month (UTC). */
    getDataUsage: (options?: CallOptions): Promise<WorkspaceDataUsage> =>
      send('GET /api/data/usage', [], { options }),
  };
}
