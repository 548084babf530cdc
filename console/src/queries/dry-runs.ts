import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { JsonObject } from '#client/index.ts';
import { api } from '#console/src/api.ts';

/** What is run: a version (by default, the current one), or the draft that was saved with this tag. */
export interface Examined {
  version?: number | undefined;
  draft?: string | undefined;
}

/** What a run with this input would do. A failure is not retried, because the run can be started without it. */
export const dryRunQuery = (
  workflowId: string,
  input: JsonObject,
  { version, draft }: Examined = {},
) =>
  queryOptions({
    queryKey: ['dry-runs', workflowId, version ?? draft ?? null, input],
    queryFn: ({ signal }) =>
      api().dryRun(workflowId, input, {
        version,
        signal,
        ...(draft !== undefined && { draft: true }),
      }),
    placeholderData: keepPreviousData,
    retry: false,
  });
