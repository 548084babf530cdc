import { Anchor, Button, Group, List, ScrollArea, Stack, Text } from '@mantine/core';
import { modals } from '@mantine/modals';
import { notifications } from '@mantine/notifications';
import type { ListedRun } from '#client/index.ts';
import { words } from '#console/src/messages/en/words.ts';
import { bulkActions as text } from '#console/src/messages/en/runs/list.ts';
import { confirm } from '#console/src/parts/forms/confirm.tsx';
import { countText } from '#console/src/parts/text/numbers.ts';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { queryClient } from '#console/src/query-client.ts';
import { runsKey } from '#console/src/queries/runs.ts';
import { actOnAll, type BulkAction, type BulkResult } from './bulk.ts';
import { Footer } from '#console/src/parts/forms/footer.tsx';

/** How long an action can be undone. Nothing is sent before that. */
const UNDO_MS = 5_000;

/** Asks for confirmation, waits for an undo if there can be one, acts, and reports the runs for which it failed. */
export function confirmBulk(
  action: BulkAction,
  runs: readonly ListedRun[],
  { left, onStart }: { left: number; onStart: () => void },
): void {
  const texts = text[action];
  confirm({
    title: texts.title(runs.length),
    consequence: (
      <>
        {texts.effect}
        {left > 0 && ` ${texts.left(left)}`}
      </>
    ),
    confirm: texts.confirm(runs.length),
    cancelLabel: action === 'cancel' ? text.cancel.keep : words.cancel,
    dangerous: action === 'cancel',
    onConfirm: () => {
      onStart();
      if (action === 'resume') void perform(action, runs);
      else performLater(action, runs);
    },
  });
}

// Not part of the page, so that it also happens after the user has left the page.
function performLater(action: BulkAction, runs: readonly ListedRun[]): void {
  const id = `bulk-${performance.now()}`;
  const timer = setTimeout(() => {
    notifications.hide(id);
    void perform(action, runs);
  }, UNDO_MS);
  notifications.show({
    id,
    autoClose: false,
    withCloseButton: false,
    message: (
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm">{text[action].soon(runs.length, countText(UNDO_MS / 1_000))}</Text>
        <Button
          size="compact-sm"
          variant="default"
          onClick={() => {
            clearTimeout(timer);
            notifications.hide(id);
          }}
        >
          {text.undo}
        </Button>
      </Group>
    ),
  });
}

async function perform(action: BulkAction, runs: readonly ListedRun[]): Promise<void> {
  const id = `bulk-${performance.now()}`;
  const show = (answered: number) => ({
    id,
    loading: true,
    autoClose: false,
    withCloseButton: false,
    message: text[action].progress(countText(answered), runs.length),
  });
  notifications.show(show(0));
  const result = await actOnAll(action, runs, (answered) => notifications.update(show(answered)));
  notifications.hide(id);
  report(action, result);
  await queryClient.invalidateQueries({ queryKey: runsKey });
}

function report(action: BulkAction, { done, refused }: BulkResult): void {
  const texts = text[action];
  if (refused.length === 0) {
    return void notifications.show({ color: 'success', message: texts.done(done) });
  }
  modals.open({
    title: texts.doneExcept(done, countText(refused.length)),
    children: (
      <Stack gap="sm">
        <ScrollArea.Autosize mah={320}>
          <List size="sm" spacing={6}>
            {refused.map(({ run, reason }) => (
              <List.Item key={run.id}>
                <Anchor href={`/runs/${run.id}`}>
                  <UserText>{run.workflow_name}</UserText> {run.id}
                </Anchor>
                : <UserText>{reason}</UserText>
              </List.Item>
            ))}
          </List>
        </ScrollArea.Autosize>
        <Footer>
          <Button onClick={() => modals.closeAll()}>{words.close}</Button>
        </Footer>
      </Stack>
    ),
  });
}
