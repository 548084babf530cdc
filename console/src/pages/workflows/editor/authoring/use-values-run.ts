import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Run, RunSummary, Step } from '#client/index.ts';
import { isNodeStep } from '#console/src/pages/runs/steps/agent-steps.ts';
import { useWithFailures } from '#console/src/pages/runs/use-items.ts';
import { testRunsQuery } from '#console/src/queries/node-tests.ts';
import { runQuery } from '#console/src/queries/runs.ts';

const NO_RUNS: readonly RunSummary[] = [];

/** The run and the step that a link to the editor names. */
export interface ValuesOpening {
  run?: string | undefined;
  step?: string | undefined;
}

/**
 * The run whose values the editor shows, and with whose state it tests nodes: the selected run, or else the last run of
 * this editor, or else the workflow's newest run. `stepKey` is the selected item, which only counts for its node.
 */
export function useValuesRun(
  workflowId: string,
  lastId: string | undefined,
  opening: ValuesOpening,
) {
  const [chosen, setChosen] = useState(opening.run);
  const [stepKey, chooseItem] = useState(opening.step);
  const { data: runs = NO_RUNS } = useQuery(testRunsQuery(workflowId));
  const runId = chosen ?? lastId ?? runs[0]?.id ?? '';
  const { data: read } = useQuery({ ...runQuery(runId), enabled: runId !== '' });
  const run = useWithFailures(read);
  return { runs, runId, chosen, choose: setChosen, run, stepKey, chooseItem };
}

export type ValuesRun = ReturnType<typeof useValuesRun>;

/** The steps of a node that have values, those that failed first. A node in a map or loop has one for each item. */
export function itemsOfNode(run: Pick<Run, 'steps'> | undefined, nodeId: string): Step[] {
  const steps = (run?.steps ?? [])
    .filter(isNodeStep)
    .filter((step) => step.node_id === nodeId && step.status !== 'skipped');
  return steps.toSorted((a, b) => Number(hasFailed(b)) - Number(hasFailed(a)));
}

const hasFailed = ({ status }: Step): boolean => status === 'failed';

/** The step whose values a node's fields show: the selected item, or else the first that failed, or else the last. */
export function shownItem(
  { run, stepKey }: Pick<ValuesRun, 'run' | 'stepKey'>,
  nodeId: string,
): Step | undefined {
  const items = itemsOfNode(run, nodeId);
  return (
    items.find(({ step_key }) => step_key === stepKey) ?? items.find(hasFailed) ?? items.at(-1)
  );
}
