import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { RunSummary } from '#client/index.ts';
import { testRunsQuery } from '#console/src/queries/node-tests.ts';
import { runQuery } from '#console/src/queries/runs.ts';

const NO_RUNS: readonly RunSummary[] = [];

/**
 * The run whose values the editor shows, and with whose state it tests nodes: the selected run, or else the last run of
 * this editor, or else the workflow's newest run.
 */
export function useValuesRun(workflowId: string, lastId: string | undefined) {
  const [chosen, setChosen] = useState<string>();
  const { data: runs = NO_RUNS } = useQuery(testRunsQuery(workflowId));
  const runId = chosen ?? lastId ?? runs[0]?.id ?? '';
  const { data: run } = useQuery({ ...runQuery(runId), enabled: runId !== '' });
  return { runs, runId, choose: setChosen, run };
}

export type ValuesRun = ReturnType<typeof useValuesRun>;
