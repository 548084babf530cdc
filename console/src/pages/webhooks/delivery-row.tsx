import { Button, Group, Table, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useId } from 'react';
import type { WebhookDelivery } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import { deliveryRow as text } from '#console/src/messages/en/webhooks.ts';
import { Message } from '#console/src/messages/message.tsx';
import { useAction } from '#console/src/parts/forms/action.ts';
import { ActionButton } from '#console/src/parts/forms/action-button.tsx';
import { countText } from '#console/src/parts/text/numbers.ts';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { durationText } from '#console/src/parts/text/duration.ts';
import { When } from '#console/src/parts/text/time.tsx';
import { endpointsKey } from '#console/src/queries/data.ts';
import { DeliveryStatus } from './endpoint-status.tsx';
import { Row, RowTable } from '#console/src/parts/data/row-table.tsx';

/** A delivery, with its attempts on demand. */
export function DeliveryRow({
  endpointId,
  of: delivery,
  mayRedeliver,
}: {
  endpointId: string;
  of: WebhookDelivery;
  mayRedeliver: boolean;
}) {
  const [opened, { toggle }] = useDisclosure(false);
  const id = useId();
  return (
    <>
      <Row>
        <Text size="xs" ff="monospace">
          {delivery.id}
        </Text>
        <Table.Td>
          {delivery.type}
          <Text size="xs" c="dimmed" ff="monospace">
            {delivery.event_id}
          </Text>
        </Table.Td>
        <Table.Td>
          <DeliveryStatus of={delivery} />
          <Outlook of={delivery} />
        </Table.Td>
        <Table.Td>{delivery.attempts}</Table.Td>
        <When at={delivery.created_at} ago />
        <Group gap="xs" justify="flex-end" wrap="nowrap">
          <Button
            size="compact-sm"
            variant="default"
            aria-expanded={opened}
            aria-controls={id}
            aria-label={
              opened ? text.hideAttemptsOf(delivery.id) : text.showAttemptsOf(delivery.id)
            }
            disabled={delivery.log.length === 0}
            onClick={toggle}
          >
            {opened ? text.hideAttempts : text.showAttempts}
          </Button>
          {mayRedeliver && delivery.status !== 'pending' && (
            <Retry endpointId={endpointId} of={delivery} />
          )}
        </Group>
      </Row>
      <Table.Tr id={id} hidden={!opened}>
        <Table.Td colSpan={6}>{opened && <Attempts of={delivery} />}</Table.Td>
      </Table.Tr>
    </>
  );
}

/** The time of the next attempt, or why the delivery failed without one. */
function Outlook({ of: { next_attempt_at, reason } }: { of: WebhookDelivery }) {
  return (
    <Text size="xs" c="dimmed" component="div">
      {next_attempt_at !== null && (
        <Message text={text.nextAttempt} values={{ when: <When at={next_attempt_at} ago /> }} />
      )}
      {reason !== null && <UserText>{reason}</UserText>}
    </Text>
  );
}

function Attempts({ of: { id, log } }: { of: WebhookDelivery }) {
  const rounds = (log.at(-1)?.round ?? 1) > 1;
  return (
    <RowTable
      label={text.attemptsOf(id)}
      columns={[text.attempt, words.started, text.response, words.duration, words.error]}
      minWidth={600}
    >
      {log.map(({ round, attempt, started_at, status_code, duration_ms, error }) => (
        <Row key={`${round}.${attempt}`}>
          <Table.Td>
            {rounds ? text.attemptOfCycle(countText(attempt), countText(round)) : attempt}
          </Table.Td>
          <When at={started_at} />
          <Table.Td>{status_code ?? words.none}</Table.Td>
          <Table.Td>{durationText(duration_ms)}</Table.Td>
          <Table.Td>{error !== null && <UserText>{error}</UserText>}</Table.Td>
        </Row>
      ))}
    </RowTable>
  );
}

function Retry({ endpointId, of: { id } }: { endpointId: string; of: WebhookDelivery }) {
  const redeliver = useAction(() => api().redeliverDelivery(endpointId, id), {
    changes: [endpointsKey],
    done: text.scheduled,
  });
  return (
    <ActionButton size="compact-sm" action={redeliver} aria-label={text.retryOf(id)}>
      {text.retry}
    </ActionButton>
  );
}
