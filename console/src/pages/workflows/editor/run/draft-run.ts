import { useSessionStorage } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { ApiError, type JsonObject, type Run, type Workflow } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { useAction } from '#console/src/parts/forms/action.ts';
import { runQuery, runsKey } from '#console/src/queries/runs.ts';
import { workflowsKey } from '#console/src/queries/workflows.ts';
import type { Saving } from '#console/src/pages/workflows/publishing/use-saving.tsx';

/** The last run that was started in a workflow's editor. The tab stores it until it is closed. */
const useKeptRun = (workflowId: string) =>
  useSessionStorage({
    key: `workflows.editor-run.${workflowId}`,
    defaultValue: '',
    getInitialValueInEffect: false,
  });

/** Runs the content of the editor: saves it first, and follows the run. `run` is the last one. */
export function useDraftRun({ id: workflowId }: Workflow, saving: Saving) {
  const [runId, keep, forget] = useKeptRun(workflowId);
  const query = useQuery({ ...runQuery(runId), enabled: runId !== '' });
  const gone = query.error instanceof ApiError && query.error.status === 404;
  useEffect(() => {
    if (gone) forget();
  }, [gone, forget]);
  const start = useAction(
    async (input: JsonObject): Promise<Run> => {
      const draft = await saving.saveFirst();
      return api().triggerRun(workflowId, input, { draft });
    },
    { changes: [runsKey, workflowsKey], quiet: true, onDone: ({ id }) => keep(id) },
  );
  const stop = useAction(() => api().cancel(runId), { changes: [runsKey] });
  const run = gone || query.data?.workflow_id !== workflowId ? undefined : query.data;
  return { workflowId, run, start, stop, hide: forget };
}

export type DraftRun = ReturnType<typeof useDraftRun>;
