import { Select } from '@mantine/core';
import type { Step } from '#client/index.ts';
import { statuses } from '#console/src/messages/en/parts/values.ts';
import { valuesFrom as text } from '#console/src/messages/en/workflows/authoring.ts';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { runChoices } from '#console/src/pages/workflows/node-tests/run-choices.ts';
import { useScope } from './scope.ts';
import { itemsOfNode, shownItem, type ValuesRun } from './use-values-run.ts';

const SHOWN_ITEMS = 100;
const SHOWN_CHARACTERS = 90;

/** Chooses the run whose values the fields of a node show and, in a map or loop, the item. */
export function ValuesFrom({ values, nodeId }: { values: ValuesRun; nodeId: string }) {
  const { runs, runId, choose, run, chooseItem } = values;
  const { problem } = useScope();
  if (runId === '') {
    return <Dimmed size="xs">{text.noRuns}</Dimmed>;
  }
  const items = itemsOfNode(run, nodeId);
  return (
    <>
      <Select
        label={text.label}
        description={problem ?? (run && text.input(excerptOf(run.input)))}
        data={runChoices(runs, runId, run)}
        value={runId}
        allowDeselect={false}
        onChange={(value) => choose(value ?? undefined)}
      />
      {items.length > 1 && (
        <Select
          label={text.item}
          data={items.map((step) => ({ value: step.step_key, label: itemLabel(step) }))}
          value={shownItem(values, nodeId)?.step_key ?? null}
          allowDeselect={false}
          searchable
          limit={SHOWN_ITEMS}
          onChange={(value) => chooseItem(value ?? undefined)}
        />
      )}
    </>
  );
}

const excerptOf = (input: unknown): string => {
  const text = JSON.stringify(input);
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
};

const itemLabel = ({ iteration, status }: Step): string =>
  text.itemChoice(iteration.join('.'), statuses[status]);
