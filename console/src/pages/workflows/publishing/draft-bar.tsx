import { Box, Button, Group, Text } from '@mantine/core';
import { useState } from 'react';
import type { Workflow, WorkflowDraft } from '#client/index.ts';
import { draftBar as text } from '#console/src/messages/en/workflows/publishing.ts';
import { Message } from '#console/src/messages/message.tsx';
import { When } from '#console/src/parts/text/time.tsx';
import { useMay } from '#console/src/queries/identity.ts';
import { StartExperiment } from '#console/src/pages/experiments/start-experiment.tsx';
import type { Checked } from '#console/src/pages/workflows/mistakes/use-mistakes.ts';
import { PublishDialog } from './publish-dialog.tsx';
import type { Content, Saving } from './use-saving.tsx';

interface Shown {
  workflow: Workflow;
  draft: WorkflowDraft | null;
  saving: Saving;
}

/** Whose draft this is, what uses it, and how it becomes the current version. */
export function DraftBar({
  content,
  checked,
  opening,
  ...shown
}: Shown & {
  content: Content;
  checked: Checked;
  /** Whether the page was opened to publish the draft. */
  opening: boolean;
}) {
  const { workflow, saving } = shown;
  const mayPublish = useMay('publish_workflows');
  const [publishing, setPublishing] = useState(opening && mayPublish && saving.etag !== undefined);
  return (
    <Group gap={8} justify="space-between" w="100%">
      <Box flex="1 1 240px" miw={0}>
        <DraftState {...shown} />
        <Text size="xs" c="dimmed" visibleFrom="sm">
          {text.usedVersion(workflow.version)}
          {!mayPublish && ` ${text.mayNotPublish}`}
        </Text>
      </Box>
      {saving.etag !== undefined && (
        <Group gap="xs">
          <Button
            size="compact-sm"
            variant="default"
            disabled={saving.pending}
            onClick={saving.discard}
          >
            {text.discard}
          </Button>
          <StartExperiment
            workflow={workflow}
            size="compact-sm"
            disabled={saving.unsaved || saving.pending}
          />
          {mayPublish && (
            <Button
              size="compact-sm"
              disabled={saving.unsaved || saving.pending || saving.conflict !== null}
              onClick={() => setPublishing(true)}
            >
              {text.publish}
            </Button>
          )}
        </Group>
      )}
      <PublishDialog
        workflow={workflow}
        draft={shown.draft}
        content={content}
        checked={checked}
        saving={saving}
        opened={publishing}
        onClose={() => setPublishing(false)}
      />
    </Group>
  );
}

function DraftState({ workflow, draft, saving }: Shown) {
  if (saving.etag === undefined) {
    const state = saving.unsaved ? text.newDraft : text.withoutDraft;
    return <Text size="xs">{state(workflow.version, workflow.graph.nodes.length === 0)}</Text>;
  }
  return (
    <Text size="xs" component="div">
      {draft === null ? (
        text.draft(saving.baseVersion)
      ) : (
        <Message
          text={text.draftSaved}
          values={{
            version: saving.baseVersion,
            author: draft.saved_by_name ?? text.anApiKey,
            when: <When at={draft.saved_at} ago />,
          }}
        />
      )}
    </Text>
  );
}
