import { jsonDigest } from '#shared/crypto/json-digest.ts';
import type { DescribedOperation } from '#shared/db/tools/described-operation.ts';

/** What an imported operation is pinned to: where a call goes, how its arguments get there, and what they are. */
export const operationDigest = ({
  method,
  request,
  input_schema,
}: Pick<DescribedOperation, 'method' | 'request' | 'input_schema'>): string =>
  jsonDigest({ method, request, input_schema });
