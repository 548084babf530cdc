import type { RunSummary } from '#client/index.ts';
import { statuses } from '#console/src/messages/en/parts/values.ts';
import { runChoices as text } from '#console/src/messages/en/workflows/node-tests.ts';
import { timeText } from '#console/src/parts/text/times.ts';

/** The newest runs as options of a select, and the selected run if it is older. */
export function runChoices(
  runs: readonly RunSummary[],
  runId: string,
): { value: string; label: string }[] {
  const newest = runs.map((run) => ({ value: run.id, label: runLabel(run) }));
  const known = runId === '' || newest.some(({ value }) => value === runId);
  return known ? newest : [{ value: runId, label: runId }, ...newest];
}

const runLabel = ({ created_at: at, status, workflow_version: version }: RunSummary): string =>
  text.run(timeText(at), statuses[status], String(version));
