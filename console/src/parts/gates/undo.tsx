import { Button, Group, Paper, Text } from '@mantine/core';
import { waitingDecision as text } from '#console/src/messages/en/gates.ts';
import { Message } from '#console/src/messages/message.tsx';
import { useMoment } from '#console/src/parts/text/now.ts';
import { countText } from '#console/src/parts/text/numbers.ts';
import { sendNow, type ShownDecision, undoDecision } from './waiting-decision.ts';

/** A decision that can still be undone: what it is, for how long, and the two buttons. */
export function Undo({
  decision,
  sticky = false,
}: {
  decision: ShownDecision;
  /** Whether it stays in view. */
  sticky?: boolean;
}) {
  const { approved, title, sendsAt, changes } = decision;
  const now = useMoment(sendsAt !== undefined);
  const seconds = sendsAt === undefined ? 0 : Math.max(0, Math.ceil((sendsAt - now) / 1_000));
  return (
    <Paper
      withBorder
      p="sm"
      shadow="sm"
      role="group"
      aria-label={text.label}
      tabIndex={-1}
      className={sticky ? 'decision-undo' : undefined}
    >
      <Group gap="sm" justify="space-between">
        <Text size="sm" role="status">
          <Message
            text={
              !approved
                ? text.rejected
                : changes === 0
                  ? text.approved
                  : text.approvedChanged(changes)
            }
            values={{ gate: title }}
          />
        </Text>
        <Group gap="xs">
          <Button variant="default" disabled={sendsAt === undefined} onClick={undoDecision}>
            {seconds > 0 ? text.undoWithin(countText(seconds)) : text.undo}
          </Button>
          <Button variant="subtle" loading={sendsAt === undefined} onClick={() => sendNow()}>
            {text.sendNow}
          </Button>
        </Group>
      </Group>
    </Paper>
  );
}
