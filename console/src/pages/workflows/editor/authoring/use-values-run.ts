import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { JsonObject, ListedRun, Run, Step } from '#client/index.ts';
import { isNodeStep } from '#console/src/pages/runs/steps/agent-steps.ts';
import { useWithFailures } from '#console/src/pages/runs/use-items.ts';
import { testRunsQuery } from '#console/src/queries/node-tests.ts';
import { runQuery } from '#console/src/queries/runs.ts';

const NO_RUNS: readonly ListedRun[] = [];

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
  const { data: runs = NO_RUNS, isPending: areRunsPending } = useQuery(testRunsQuery(workflowId));
  const runId = chosen ?? lastId ?? runs[0]?.id ?? '';
  const { data: read, isLoading } = useQuery({ ...runQuery(runId), enabled: runId !== '' });
  const run = useWithFailures(read);
  const pending = isLoading || (runId === '' && areRunsPending);
  return { runs, runId, choose: setChosen, run, pending, stepKey, chooseItem };
}

/**
 * The changes that the member makes to the state of a node, for its tests and the values of its fields. They belong to
 * one node and one item of a run: with others, there are none.
 */
export function useChangedState(values: ValuesRun, nodeId: string, item: Step | undefined) {
  const at = JSON.stringify([nodeId, values.runId, item?.step_key]);
  const [kept, keep] = useState<{ at: string; changed: JsonObject | undefined }>();
  return {
    at,
    changed: kept?.at === at ? kept.changed : undefined,
    change: (changed: JsonObject | undefined): void => keep({ at, changed }),
  };
}

export type StateChanges = ReturnType<typeof useChangedState>;

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
