import { Button, Table, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useId } from 'react';
import type { ListedInboundEvent } from '#client/index.ts';
import { eventRow as text } from '#console/src/messages/en/workflows/inbound-events.ts';
import { EventLink, RunLink } from '#console/src/parts/links.tsx';
import { Tag } from '#console/src/parts/tag.tsx';
import { When } from '#console/src/parts/text/time.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { EventDetail } from './event-detail.tsx';
import { refusalReasons } from '#console/src/messages/en/workflows/inbound-events.ts';
import { outcomes, sizeText } from './event-texts.ts';
import { Row } from '#console/src/parts/data/row-table.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';

/** An event in the log, with its headers and body on demand. */
export function EventRow({ of: event, mayReplay }: { of: ListedInboundEvent; mayReplay: boolean }) {
  const [opened, { toggle }] = useDisclosure(false);
  const id = useId();
  const { label, color } = outcomes[event.outcome];
  return (
    <>
      <Row>
        <Table.Td style={{ whiteSpace: 'nowrap' }}>
          <When at={event.received_at} ago />
        </Table.Td>
        <Table.Td>
          <Tag color={color}>{label}</Tag>
          {event.times > 1 && <Dimmed size="xs">{text.moreLikeThis(event.times)}</Dimmed>}
        </Table.Td>
        <Table.Td maw={360}>
          <RunOrReason of={event} />
        </Table.Td>
        <Text size="xs" ff="monospace">
          {event.source}
        </Text>
        <Table.Td className="numbers">{event.size === null ? '–' : sizeText(event.size)}</Table.Td>
        <Table.Td ta="right">
          <Button
            size="compact-sm"
            variant="default"
            aria-expanded={opened}
            aria-controls={id}
            aria-label={opened ? text.hideDetailsOf(event.id) : text.showDetailsOf(event.id)}
            onClick={toggle}
          >
            {opened ? text.hide : text.details}
          </Button>
        </Table.Td>
      </Row>
      <Table.Tr id={id} hidden={!opened}>
        <Table.Td colSpan={6}>
          {opened && <EventDetail of={event} mayReplay={mayReplay} />}
        </Table.Td>
      </Table.Tr>
    </>
  );
}

function RunOrReason({
  of: { reason, detail, run_id, sent_event_id: sent, replays },
}: {
  of: ListedInboundEvent;
}) {
  return (
    <>
      {reason !== null && <Text size="sm">{refusalReasons[reason].label}</Text>}
      {detail !== null && (
        <Text size="xs" c="dimmed" lineClamp={2}>
          <UserText>{detail}</UserText>
        </Text>
      )}
      {run_id !== null && (
        <RunLink run={run_id} size="xs" ff="monospace">
          {run_id}
        </RunLink>
      )}
      {sent !== null && <EventLink event={sent} />}
      {replays > 0 && <Dimmed size="xs">{text.replayed(replays)}</Dimmed>}
    </>
  );
}
