import { Box, Button, Group, Text } from '@mantine/core';
import { useState } from 'react';
import type { Workflow, WorkflowDraft } from '../../../../../client/index.ts';
import { When } from '../../../parts/text/time.tsx';
import { UserText } from '../../../parts/text/user-text.tsx';
import { useMay } from '../../../queries/identity.ts';
import { PublishDialog } from './publish-dialog.tsx';
import type { Content, Saving } from './use-saving.tsx';

interface Shown {
  workflow: Workflow;
  draft: WorkflowDraft | null;
  saving: Saving;
}

/** Whose draft this is, what uses it, and how it becomes the current version. */
export function DraftBar({ content, ...shown }: Shown & { content: Content }) {
  const { workflow, saving } = shown;
  const mayPublish = useMay('publish_workflows');
  const [publishing, setPublishing] = useState(false);
  return (
    <Group gap="sm" justify="space-between">
      <Box>
        <DraftState {...shown} />
        <Text size="sm" c="dimmed">
          Runs, webhooks and schedules use version {workflow.version} until a draft is published.
          {!mayPublish &&
            ' You need the publish_workflows permission to publish: save the draft and ask someone who has it.'}
        </Text>
      </Box>
      {saving.etag !== undefined && (
        <Group gap="xs">
          <Button variant="default" disabled={saving.pending} onClick={saving.discard}>
            Discard draft
          </Button>
          {mayPublish && (
            <Button
              disabled={saving.unsaved || saving.pending || saving.conflict !== null}
              onClick={() => setPublishing(true)}
            >
              Publish
            </Button>
          )}
        </Group>
      )}
      <PublishDialog
        workflow={workflow}
        content={content}
        saving={saving}
        opened={publishing}
        onClose={() => setPublishing(false)}
      />
    </Group>
  );
}

function DraftState({ workflow, draft, saving }: Shown) {
  if (saving.etag === undefined) {
    return <Text size="sm">Version {workflow.version}, without a draft</Text>;
  }
  return (
    <Text size="sm" component="div">
      Draft, based on version {saving.baseVersion}
      {draft !== null && (
        <>
          , saved by <UserText>{draft.saved_by_name ?? 'an API key'}</UserText>{' '}
          <When at={draft.saved_at} ago />
        </>
      )}
    </Text>
  );
}
