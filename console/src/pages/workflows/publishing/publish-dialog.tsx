import { Button, Group, Modal, Stack, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import type { Workflow } from '../../../../../client/index.ts';
import { DiffView } from '../versions/diff-view.tsx';
import type { Content, Saving } from './use-saving.tsx';

const MAX_NOTE = 1_000;

/** What publishing the draft changes, and a note about it. */
export function PublishDialog({
  workflow,
  content,
  saving,
  opened,
  onClose,
}: {
  workflow: Workflow;
  content: Content;
  saving: Saving;
  opened: boolean;
  onClose: () => void;
}) {
  const [note, setNote] = useState('');
  return (
    <Modal opened={opened} onClose={onClose} title="Publish this draft?" size="xl">
      <Stack gap="md">
        <Text size="sm">
          It becomes version {workflow.version + 1}. New runs, webhooks and schedules use it
          immediately.
        </Text>
        <DiffView
          from={workflow}
          to={{ graph: content.graph, input_schema: content.inputSchema }}
        />
        <Textarea
          label="Note"
          description="What this version changes. Everyone who can see the workflow can read it."
          maxLength={MAX_NOTE}
          autosize
          minRows={2}
          value={note}
          onChange={(event) => setNote(event.currentTarget.value)}
        />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button
            onClick={() => {
              saving.publish(note);
              setNote('');
              onClose();
            }}
          >
            Publish draft
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
