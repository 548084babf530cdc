import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import type { Workflow, WorkflowDraft } from '../../../../../client/index.ts';
import { When } from '../../../parts/text/time.tsx';
import { UserText } from '../../../parts/text/user-text.tsx';

/** Someone else changed the draft or the version meanwhile. The member decides which content counts. */
export function Conflict({
  workflow,
  draft,
  behind,
  reason,
  onTake,
  onKeep,
}: {
  workflow: Workflow;
  draft: WorkflowDraft | null;
  /** The draft is the known one, and a newer version is current. */
  behind: boolean;
  /** Why the last request was refused, if one was. */
  reason: string | undefined;
  onTake: () => void;
  onKeep: () => void;
}) {
  const title = behind
    ? `Version ${workflow.version} is current now`
    : draft === null
      ? 'The draft was published or discarded'
      : 'Someone else changed this draft';
  return (
    <Alert color="yellow" role="status" title={title}>
      <Stack gap="xs">
        {reason !== undefined && <Text size="sm">{reason}</Text>}
        <Text size="sm" component="div">
          <Explanation workflow={workflow} draft={draft} behind={behind} />
        </Text>
        <Group>
          {!behind && (
            <Button size="compact-sm" variant="default" onClick={onTake}>
              {draft === null ? `Load version ${workflow.version}` : 'Load their draft'}
            </Button>
          )}
          <Button size="compact-sm" variant="default" onClick={onKeep}>
            Keep mine
          </Button>
        </Group>
      </Stack>
    </Alert>
  );
}

function Explanation({
  workflow: { version },
  draft,
  behind,
}: {
  workflow: Workflow;
  draft: WorkflowDraft | null;
  behind: boolean;
}) {
  if (behind) {
    return `The draft began at an earlier version. “Keep mine” saves it on top of version ${version}, so that it replaces that version when it is published. Compare them first.`;
  }
  if (draft === null) {
    return `“Keep mine” saves your content as a new draft, based on version ${version}.`;
  }
  return (
    <>
      <UserText>{draft.saved_by_name ?? 'Someone'}</UserText> saved it{' '}
      <When at={draft.saved_at} ago />. “Keep mine” replaces their content with yours.
    </>
  );
}
