import { z } from 'zod';
import { sql } from '#shared/db/pool.ts';
import type { Answer, TestApi } from '#test/api/test-api.ts';

/** A graph that can run, with one node of this id. */
export const graphOf = (id: string) => ({ nodes: [{ id, kind: 'agent', mock: {} }], edges: [] });

export const draftAt = (id: string): string => `/api/workflows/${id}/draft`;

export const ifMatch = (etag: string) => ({ 'if-match': `"${etag}"` });

/** The calls about drafts that the tests make. */
export function draftCalls(api: Pick<TestApi, 'call' | 'db'>) {
  const save = async (
    id: string,
    body: object,
    headers: Record<string, string> = {},
  ): Promise<Answer> => api.call('PUT', draftAt(id), body, headers);
  return {
    create: async (body: object = {}): Promise<any> => {
      const workflow = { name: 'Answer tickets', graph: graphOf('v1'), ...body };
      return (await api.call('POST', '/api/workflows', workflow)).body;
    },
    save,
    publish: async (id: string, etag: string, body: object = {}): Promise<Answer> =>
      api.call(
        'POST',
        `/api/workflows/${id}/publish`,
        { from_draft: true, ...body },
        ifMatch(etag),
      ),
    currentOf: async (id: string): Promise<any> =>
      (await api.call('GET', `/api/workflows/${id}`)).body,
    auditOf: async (id: string) =>
      api.db.any(
        sql.type(
          z.object({ action: z.string(), actor_name: z.string(), details: z.any() }),
        )`SELECT action, actor_name, details FROM audit_log WHERE target_id = ${id} ORDER BY seq`,
      ),
  };
}
