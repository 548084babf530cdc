import { Box, Button, Group, Title } from '@mantine/core';
import { IconPencil } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Pin } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { nodePanel as text } from '#console/src/messages/en/workflows/editor.ts';
import { Message } from '#console/src/messages/message.tsx';
import { JsonView } from '#console/src/parts/code/json-view.tsx';
import { useAction } from '#console/src/parts/forms/action.ts';
import { Form } from '#console/src/parts/forms/form.tsx';
import { JsonField } from '#console/src/parts/forms/json-field.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { When } from '#console/src/parts/text/time.tsx';
import { pinQuery, pinsKey } from '#console/src/queries/node-tests.ts';

/** What the tests of other nodes use as the output of this one. It can be edited in its place. */
export function PinnedOutput({ workflowId, pin }: { workflowId: string; pin: Pin }) {
  const { data: whole } = useQuery(pinQuery(workflowId, pin.node_id));
  const [editing, setEditing] = useState(false);
  const output = whole?.output;
  return (
    <Box>
      <Group justify="space-between" wrap="nowrap">
        <Title order={3} size="h6">
          {text.pinned}
        </Title>
        {output !== undefined && !editing && (
          <Button
            size="compact-xs"
            variant="default"
            leftSection={<IconPencil size={12} aria-hidden />}
            onClick={() => setEditing(true)}
          >
            {text.editPin}
          </Button>
        )}
      </Group>
      <Dimmed size="xs">
        <Message
          text={pin.edited ? text.pinEditedAt : text.pinnedAt}
          values={{ when: <When at={pin.pinned_at} ago /> }}
        />
      </Dimmed>
      {output !== undefined &&
        (editing ? (
          <EditPin {...{ workflowId, pin, output }} onClose={() => setEditing(false)} />
        ) : (
          <JsonView value={output} what={text.thePinned} />
        ))}
    </Box>
  );
}

/** Saves another output as the pin. The service refuses one that the response schema of an agent excludes. */
function EditPin({
  workflowId,
  pin: { node_id: nodeId, run_id, step_key },
  output,
  onClose,
}: {
  workflowId: string;
  pin: Pin;
  output: unknown;
  onClose: () => void;
}) {
  const [edited, setEdited] = useState(output);
  const [broken, setBroken] = useState(false);
  const save = useAction(
    () => api().savePin(workflowId, nodeId, { run_id, step_key, output: edited }),
    { changes: [pinsKey(workflowId)], quiet: true, onDone: onClose },
  );
  return (
    <Form action={save} submit={text.savePin} ready={!broken} onCancel={onClose}>
      <JsonField
        label={text.pinned}
        value={edited}
        judge={(value) => (value === undefined ? text.noPin : undefined)}
        onBroken={setBroken}
        onChange={setEdited}
        minHeight={120}
      />
    </Form>
  );
}
