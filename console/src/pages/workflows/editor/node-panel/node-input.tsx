import { Button, Group } from '@mantine/core';
import { IconPencil } from '@tabler/icons-react';
import { useState } from 'react';
import { nodePanel as text } from '#console/src/messages/en/workflows/editor.ts';
import { words } from '#console/src/messages/en/words.ts';
import { ChangedState } from '#console/src/parts/forms/changed-state.tsx';
import { JsonTree } from '#console/src/parts/json/json-tree.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { useScope } from '#console/src/pages/workflows/editor/authoring/scope.ts';
import type { StateChanges } from '#console/src/pages/workflows/editor/authoring/use-values-run.ts';

/**
 * The state that the node starts with in the chosen run. Its values can be inserted into the fields of the node, and it
 * can be edited for tests.
 */
export function NodeInput({
  beside,
  onInsert,
  changes: { changed, change },
}: {
  /** Whether the fields are beside it, so that values can be dragged there. */
  beside: boolean;
  onInsert: (path: string) => void;
  changes: StateChanges;
}) {
  const { state, recorded, problem } = useScope();
  const [editing, setEditing] = useState(false);
  if (editing) {
    return (
      <>
        <ChangedState
          state={recorded ?? NO_STATE}
          changed={changed}
          description={recorded === undefined ? text.wholeState : text.stateAbout}
          onChange={change}
        />
        <Group gap="xs" mt="xs">
          <Button size="compact-sm" onClick={() => setEditing(false)}>
            {words.done}
          </Button>
          <Button
            size="compact-sm"
            variant="default"
            onClick={() => {
              change(undefined);
              setEditing(false);
            }}
          >
            {text.discardState}
          </Button>
        </Group>
      </>
    );
  }
  return (
    <>
      <Group justify="space-between" wrap="nowrap" align="flex-start" mb={4} gap="xs">
        <Dimmed size="xs">
          {state === undefined ? (problem ?? text.noState) : hintFor(beside, changed !== undefined)}
        </Dimmed>
        <Button
          size="compact-xs"
          variant="default"
          style={{ flexShrink: 0 }}
          leftSection={<IconPencil size={12} aria-hidden />}
          onClick={() => setEditing(true)}
        >
          {text.editState}
        </Button>
      </Group>
      {state !== undefined && <JsonTree value={state} what={text.theState} onInsert={onInsert} />}
    </>
  );
}

const NO_STATE = {};

const hintFor = (beside: boolean, changed: boolean): string => {
  const insert = beside ? text.insertOrDrag : text.insertAbout;
  return changed ? `${text.stateChanged} ${insert}` : insert;
};
