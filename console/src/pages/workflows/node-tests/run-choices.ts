import type { RunSummary } from '#client/index.ts';
import { statuses } from '#console/src/messages/en/parts/values.ts';
import { runChoices as text } from '#console/src/messages/en/workflows/node-tests.ts';
import { runState } from '#console/src/parts/run-badges.tsx';
import { timeText } from '#console/src/parts/text/times.ts';

type Choice = Pick<
  RunSummary,
  'id' | 'created_at' | 'status' | 'failure' | 'workflow_version' | 'of_draft'
>;

/** The newest runs as options of a select, and the selected run if it is older: `run`, once it was read. */
export function runChoices(
  runs: readonly Choice[],
  runId: string,
  run?: Choice,
): { value: string; label: string }[] {
  const newest = runs.map((each) => ({ value: each.id, label: runLabel(each) }));
  const known = runId === '' || newest.some(({ value }) => value === runId);
  const label = run?.id === runId ? runLabel(run) : runId;
  return known ? newest : [{ value: runId, label }, ...newest];
}

const runLabel = (run: Choice): string =>
  text.run(
    timeText(run.created_at),
    statuses[runState(run)],
    run.of_draft ? undefined : String(run.workflow_version),
  );
