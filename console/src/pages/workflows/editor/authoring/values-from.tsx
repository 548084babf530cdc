import { Select, Text } from '@mantine/core';
import type { Step } from '#client/index.ts';
import { statuses } from '#console/src/messages/en/parts/values.ts';
import { valuesFrom as text } from '#console/src/messages/en/workflows/authoring.ts';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { RunSelect } from '#console/src/pages/workflows/node-tests/run-select.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { useScope } from './scope.ts';
import { itemsOfNode, shownItem, type ValuesRun } from './use-values-run.ts';

const SHOWN_ITEMS = 100;
const SHOWN_CHARACTERS = 90;
const MOST_STEPS = 300;

/** Chooses the run whose values the fields of a node show and, in a map or loop, the item. */
export function ValuesFrom({ values, nodeId }: { values: ValuesRun; nodeId: string }) {
  const { runs, runId, choose, run, chooseItem } = values;
  const { problem, itemAt } = useScope();
  if (runId === '') {
    return <Dimmed size="xs">{text.noRuns}</Dimmed>;
  }
  const items = itemsOfNode(run, nodeId);
  // The run is replayed for each, which is quick only for a short one.
  const itemOf = (run?.steps.length ?? 0) <= MOST_STEPS ? itemAt : undefined;
  return (
    <>
      <RunSelect
        label={text.label}
        description={problem ?? (run && text.input(excerptOf(run.input)))}
        {...{ runs, run }}
        value={runId}
        onChoose={choose}
      />
      {items.length > 1 && (
        <Select
          label={text.item}
          data={items.map((step) => ({ value: step.step_key, label: itemLabel(step) }))}
          value={shownItem(values, nodeId)?.step_key ?? null}
          allowDeselect={false}
          searchable
          limit={SHOWN_ITEMS}
          renderOption={({ option }) => (
            <div style={{ minWidth: 0 }}>
              <div>{option.label}</div>
              <Item of={itemOf?.(option.value)} />
            </div>
          )}
          onChange={(value) => chooseItem(value ?? undefined)}
        />
      )}
    </>
  );
}

function Item({ of }: { of: unknown }) {
  if (of === undefined) return null;
  return (
    <Text size="xs" c="dimmed" truncate>
      <UserText>{excerptOf(of)}</UserText>
    </Text>
  );
}

const excerptOf = (input: unknown): string => {
  const text = JSON.stringify(input);
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
};

const itemLabel = ({ iteration, status }: Step): string =>
  text.itemChoice(iteration.join('.'), statuses[status]);
