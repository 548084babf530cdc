import { Alert, Group, Progress, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api } from '#console/src/api.ts';
import { replayProgress as text } from '#console/src/messages/en/workflows/inbound-events.ts';
import { Message } from '#console/src/messages/message.tsx';
import { useAction } from '#console/src/parts/forms/action.ts';
import { ActionButton } from '#console/src/parts/forms/action-button.tsx';
import { countText } from '#console/src/parts/text/numbers.ts';
import { When } from '#console/src/parts/text/time.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { inboundEventsKey, lastReplayQuery } from '#console/src/queries/inbound-events.ts';

/** The newest replay of several events, with its progress. */
export function ReplayProgress({
  workflowId,
  mayCancel,
}: {
  workflowId: string;
  mayCancel: boolean;
}) {
  const { data: replay } = useQuery(lastReplayQuery(workflowId));
  if (replay === undefined || replay === null) return null;
  const { status, progress, last_refusal: refusal } = replay;
  return (
    <Alert
      variant="light"
      color={status === 'failed' ? 'danger' : 'gray'}
      title={text.states[status]}
      role="status"
    >
      <Stack gap="xs">
        {status === 'running' && (
          <Progress
            aria-label={text.replayedEvents}
            value={(100 * progress.done) / Math.max(1, progress.total ?? 0)}
          />
        )}
        <Text size="sm">
          <Message
            text={text.progress}
            values={{
              done: countText(progress.done),
              total: progress.total === null ? '…' : countText(progress.total),
              started: countText(replay.started),
              sent: countText(replay.sent),
              duplicates: countText(replay.duplicates),
              refused: countText(replay.refused),
              when: <When at={replay.created_at} ago />,
            }}
          />
        </Text>
        {refusal !== null && (
          <Text size="sm">
            <Message text={text.lastRefusal} values={{ reason: refusal }} />
          </Text>
        )}
        {replay.error !== null && (
          <Text size="sm">
            <UserText>{replay.error}</UserText>
          </Text>
        )}
        {mayCancel && status === 'running' && <Cancel replayId={replay.id} />}
      </Stack>
    </Alert>
  );
}

function Cancel({ replayId }: { replayId: string }) {
  const cancel = useAction(() => api().cancelEventReplay(replayId), {
    changes: [inboundEventsKey],
    done: text.cancelled,
  });
  return (
    <Group>
      <ActionButton size="compact-sm" action={cancel}>
        {text.cancel}
      </ActionButton>
    </Group>
  );
}
