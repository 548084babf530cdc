import { Button, Modal, Stack, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import type { Workflow, WorkflowDraft } from '#client/index.ts';
import { words } from '#console/src/messages/en/words.ts';
import { publishDialog as text } from '#console/src/messages/en/workflows/publishing.ts';
import { Message } from '#console/src/messages/message.tsx';
import { When } from '#console/src/parts/text/time.tsx';
import { DiffView } from '#console/src/pages/workflows/versions/diff-view.tsx';
import { Problems } from '#console/src/pages/workflows/mistakes/problems.tsx';
import type { Checked } from '#console/src/pages/workflows/mistakes/use-mistakes.ts';
import type { Content, Saving } from './use-saving.tsx';
import { Footer } from '#console/src/parts/forms/footer.tsx';

const MAX_NOTE = 1_000;

/** What publishing the draft changes, and a note about it. */
export function PublishDialog({
  workflow,
  draft,
  content,
  checked,
  saving,
  opened,
  onClose,
}: {
  workflow: Workflow;
  draft: WorkflowDraft | null;
  content: Content;
  checked: Checked;
  saving: Saving;
  opened: boolean;
  onClose: () => void;
}) {
  const [note, setNote] = useState('');
  return (
    <Modal opened={opened} onClose={onClose} title={text.title} size="xl">
      <Stack gap="md">
        <Problems checked={checked} title={text.problems} />
        <Text size="sm">{text.consequence(workflow.version + 1)}</Text>
        {draft !== null && (
          <Text size="sm" component="div">
            <Author of={draft} />
          </Text>
        )}
        <Textarea
          label={text.note}
          description={text.noteAbout}
          maxLength={MAX_NOTE}
          autosize
          minRows={2}
          value={note}
          onChange={(event) => setNote(event.currentTarget.value)}
        />
        <DiffView
          from={workflow}
          to={{ graph: content.graph, input_schema: content.inputSchema }}
        />
        <Footer>
          <Button variant="default" onClick={onClose}>
            {words.cancel}
          </Button>
          <Button
            disabled={checked.mistakes?.some(({ severity }) => severity === 'error')}
            onClick={() => {
              saving.publish(note);
              setNote('');
              onClose();
            }}
          >
            {text.publish}
          </Button>
        </Footer>
      </Stack>
    </Modal>
  );
}

const Author = ({ of: draft }: { of: WorkflowDraft }) => (
  <Message
    text={text.author}
    values={{
      author: draft.saved_by_name ?? text.anApiKey,
      when: <When at={draft.saved_at} ago />,
    }}
  />
);
