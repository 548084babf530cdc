import { Select } from '@mantine/core';
import { valuesFrom as text } from '#console/src/messages/en/workflows/authoring.ts';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { runChoices } from '#console/src/pages/workflows/node-tests/run-choices.ts';
import { useScope } from './scope.ts';
import type { ValuesRun } from './use-values-run.ts';

/** Chooses the run whose values the fields show. */
export function ValuesFrom({ values: { runs, runId, choose } }: { values: ValuesRun }) {
  const { problem } = useScope();
  if (runId === '') {
    return <Dimmed size="xs">{text.noRuns}</Dimmed>;
  }
  return (
    <Select
      label={text.label}
      description={problem}
      data={runChoices(runs, runId)}
      value={runId}
      allowDeselect={false}
      onChange={(value) => choose(value ?? undefined)}
    />
  );
}
