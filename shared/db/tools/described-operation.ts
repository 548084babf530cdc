import type { CustomToolInput } from '#shared/contract/tools/custom-tool.ts';
import type { RequestMapping } from '#shared/contract/tools/request-mapping.ts';
import type { JsonObject } from '#shared/json.ts';

/** An operation as its API document describes it. */
interface DescribedOperation {
  method: CustomToolInput['method'];
  request: RequestMapping;
  input_schema: JsonObject;
  response_schema: JsonObject | null;
  description: string;
}

/**
 * What the document describes now; without a digest if it no longer has the operation. The tool is not called if `pin`
 * differs from its own.
 */
export type OfferedOperation =
  | (DescribedOperation & { digest: string; pin: string })
  | { digest: null; pin: null };

/** Whether an operation that differs was found, so that the tool is not called until it is accepted. */
export const isChanged = ({
  offered,
  pinned_schema,
}: {
  offered: OfferedOperation | null;
  pinned_schema: string | null;
}): boolean => offered !== null && offered.pin !== pinned_schema;
