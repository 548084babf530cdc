import { wholeList } from './pages.ts';
import type { CallOptions, Send, WriteOptions } from './request.ts';
import type { BodyOf, QueryOf } from './routes.ts';
import type { Secret } from './types.ts';

export function secretMethods(send: Send) {
  return {
    /** The secrets of the workspace, by name. No response contains a value. */
    listSecrets: (
      query: QueryOf<'GET /api/secrets'> = {},
      options?: CallOptions,
    ): Promise<Secret[]> =>
      wholeList((page) => send('GET /api/secrets', [], { query: page, options }), query),
    getSecret: (name: string, options?: CallOptions): Promise<Secret> =>
      send('GET /api/secrets/{name}', [name], { options }),
    /** Creates or replaces a secret, which is only sent to its allowed hosts. */
    putSecret: (
      name: string,
      secret: BodyOf<'PUT /api/secrets/{name}'>,
      options?: WriteOptions,
    ): Promise<Secret> => send('PUT /api/secrets/{name}', [name], { body: secret, options }),
    deleteSecret: (name: string, options?: WriteOptions): Promise<undefined> =>
      send('DELETE /api/secrets/{name}', [name], { options }),
  };
}
