import type { FastifyRequest } from 'fastify';
import { SCHEMA_VERSION } from '#shared/contract/data/envelope.ts';

/** The envelope of a `/v1` response, with the cost of the call so far. */
export function answerData<Data>(
  request: Pick<FastifyRequest, 'id' | 'dataCall'>,
  data: Data,
  nextCursor: string | null = null,
) {
  return {
    data,
    pagination: { next_cursor: nextCursor },
    meta: {
      request_id: request.id,
      schema_version: SCHEMA_VERSION,
      credits_consumed: request.dataCall.credits,
    },
  } as const;
}
