import type { CallOptions, Send } from './request.ts';
import type { BodyOf, QueryOf } from './routes.ts';
import type { CreatedDataKey, DataKey, WorkspaceDataUsage } from './types.ts';

/** What is administered of the data API. It is read under `/v1`, with keys of its own. */
export function dataKeyMethods(send: Send) {
  return {
    /** Newest first, revoked ones too. */
    listDataKeys: (
      query: QueryOf<'GET /api/data/keys'> = {},
      options?: CallOptions,
    ): Promise<DataKey[]> => send('GET /api/data/keys', [], { query, options }),
    /** The answer holds the secret, this once. */
    createDataKey: (
      body: BodyOf<'POST /api/data/keys'>,
      options?: CallOptions,
    ): Promise<CreatedDataKey> => send('POST /api/data/keys', [], { body, options }),
    getDataKey: (keyId: string, options?: CallOptions): Promise<DataKey> =>
      send('GET /api/data/keys/{id}', [keyId], { options }),
    revokeDataKey: (keyId: string, options?: CallOptions): Promise<undefined> =>
      send('DELETE /api/data/keys/{id}', [keyId], { options }),
    /** Of this month, UTC. */
    getDataUsage: (options?: CallOptions): Promise<WorkspaceDataUsage> =>
      send('GET /api/data/usage', [], { options }),
  };
}
