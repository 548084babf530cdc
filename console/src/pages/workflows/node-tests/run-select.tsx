import { Select, type SelectProps, Text } from '@mantine/core';
import type { ListedRun, Run } from '#client/index.ts';
import { statuses } from '#console/src/messages/en/parts/values.ts';
import { runChoices as text } from '#console/src/messages/en/workflows/node-tests.ts';
import { runState } from '#console/src/parts/run-badges.tsx';
import { shortTimeText } from '#console/src/parts/text/times.ts';
import { UserText } from '#console/src/parts/text/user-text.tsx';

type Choice = Pick<
  Run,
  'id' | 'created_at' | 'status' | 'failure' | 'workflow_version' | 'of_draft'
> & { input_excerpt?: ListedRun['input_excerpt'] };

/** Chooses one of the newest runs of a workflow. Each option shows when it started, how it ended and its input. */
export function RunSelect({
  runs,
  run,
  first = [],
  value,
  onChoose,
  ...look
}: Pick<SelectProps, 'label' | 'description'> & {
  runs: readonly Choice[];
  /** The chosen run, once it was read: it may be older than `runs`. */
  run?: Choice | undefined;
  /** Options before the runs. */
  first?: readonly { value: string; label: string }[];
  value: string;
  onChoose: (runId: string) => void;
}) {
  const options = [...first, ...runs.map((each) => ({ value: each.id, label: runLabel(each) }))];
  const known = value === '' || options.some((option) => option.value === value);
  const label = run?.id === value ? runLabel(run) : value;
  const excerpts = new Map(runs.map((each) => [each.id, each.input_excerpt]));
  return (
    <Select
      {...look}
      data={known ? options : [{ value, label }, ...options]}
      value={value}
      allowDeselect={false}
      onChange={(chosen) => chosen !== null && onChoose(chosen)}
      renderOption={({ option }) => (
        <div style={{ minWidth: 0 }}>
          <div>{option.label}</div>
          {excerpts.get(option.value) != null && (
            <Text size="xs" c="dimmed" truncate>
              <UserText>{excerpts.get(option.value)}</UserText>
            </Text>
          )}
        </div>
      )}
    />
  );
}

const runLabel = (run: Choice): string =>
  text.run(
    shortTimeText(run.created_at),
    statuses[runState(run)],
    run.of_draft ? undefined : String(run.workflow_version),
  );
