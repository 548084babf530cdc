import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { Workflow, WorkflowDraft } from '#client/index.ts';
import { words } from '#console/src/messages/en/words.ts';
import { conflict as text } from '#console/src/messages/en/workflows/publishing.ts';
import { Message } from '#console/src/messages/message.tsx';
import { When } from '#console/src/parts/text/time.tsx';
import { DiffView } from '#console/src/pages/workflows/versions/diff-view.tsx';
import type { VersionContent } from '#console/src/pages/workflows/versions/version-diff.ts';
import { Footer } from '#console/src/parts/forms/footer.tsx';

interface Choice {
  workflow: Workflow;
  draft: WorkflowDraft | null;
  /** The draft has not changed, but a newer version is current. */
  behind: boolean;
  /** The content of the editor. */
  mine: VersionContent;
  onTake: () => void;
  onKeep: () => void;
}

/**
 * Someone else has changed the draft or the version. The member compares both contents, and decides which one counts.
 */
export function Conflict({
  reason,
  ...choice
}: Choice & {
  /** Why the last request was refused, if it was. */
  reason: string | undefined;
}) {
  const { workflow, draft, behind } = choice;
  const [comparing, { open, close }] = useDisclosure(false);
  const title = behind
    ? text.newVersion(workflow.version)
    : draft === null
      ? text.draftGone
      : text.draftChanged;
  return (
    <Alert color="warning" role="status" title={title}>
      <Stack gap="xs">
        {reason !== undefined && <Text size="sm">{reason}</Text>}
        <Text size="sm" component="div">
          <Explanation workflow={workflow} draft={draft} behind={behind} />
        </Text>
        <Group>
          <Button size="compact-sm" variant="default" onClick={open}>
            {text.compare}
          </Button>
        </Group>
      </Stack>
      <Comparison {...choice} opened={comparing} onClose={close} />
    </Alert>
  );
}

const textsOfVersion = ({ version }: Workflow) => ({
  title: text.compareVersion(version),
  changes: text.changesInVersion(version),
  load: text.loadVersion(version),
});

const textsOfDraft = {
  title: text.compareDraft,
  changes: text.changesInDraft,
  load: text.loadDraft,
};

/** What the member's content would change in the other one, and the choice. */
function Comparison({
  workflow,
  draft,
  behind,
  mine,
  onTake,
  onKeep,
  opened,
  onClose,
}: Choice & { opened: boolean; onClose: () => void }) {
  const theirs = behind || draft === null ? workflow : draft;
  const named = theirs === workflow ? textsOfVersion(workflow) : textsOfDraft;
  const choose = (act: () => void) => (): void => {
    onClose();
    act();
  };
  return (
    <Modal opened={opened} onClose={onClose} title={named.title} size="xl">
      <Stack gap="md">
        <Text size="sm">{named.changes}</Text>
        <DiffView from={theirs} to={mine} />
        <Footer>
          <Button variant="default" onClick={onClose}>
            {words.cancel}
          </Button>
          {!behind && (
            <Button variant="default" onClick={choose(onTake)}>
              {named.load}
            </Button>
          )}
          <Button onClick={choose(onKeep)}>{text.keepMine}</Button>
        </Footer>
      </Stack>
    </Modal>
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
    return text.behind(version);
  }
  if (draft === null) {
    return text.keepAsNewDraft(version);
  }
  return (
    <Message
      text={text.savedMeanwhile}
      values={{
        author: draft.saved_by_name ?? text.someone,
        when: <When at={draft.saved_at} ago />,
      }}
    />
  );
}
