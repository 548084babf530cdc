import { SCHEMA_VERSION } from '#shared/contract/data/envelope.ts';

/** A call of the data API, as its response describes it. */
export interface DescribedCall {
  /** The id of the request. */
  id: string;
  /** Its cost so far. */
  dataCall: { credits: number };
}

/** The envelope of a `/v1` response, with the cost of the call so far. */
export function answerData<Data>(
  request: DescribedCall,
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
