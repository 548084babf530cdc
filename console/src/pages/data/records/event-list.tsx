import { Group, Table, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import type { IntelligenceEvent } from '#client/index.ts';
import { words } from '#console/src/messages/en/words.ts';
import { eventList as text, verificationTexts } from '#console/src/messages/en/data/records.ts';
import { Empty } from '#console/src/parts/empty.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { LoadedList } from '#console/src/parts/data/loaded-list.tsx';
import { percentText } from '#console/src/parts/text/numbers.ts';
import { When } from '#console/src/parts/text/time.tsx';
import { type EventFilter, eventsQuery } from '#console/src/queries/data.ts';
import { Evidence } from './evidence.tsx';
import { TextLink } from '#console/src/parts/links.tsx';
import { Row, RowTable } from '#console/src/parts/data/row-table.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';

/** The events of records, newest first. The events of one record do not repeat its name. */
export function EventList({ filter, limit }: { filter: EventFilter; limit?: number }) {
  const events = useInfiniteQuery(eventsQuery(filter, limit));
  return (
    <LoadedList query={events} empty={<Empty {...text.empty} />}>
      {(rows) => (
        <RowTable
          label={words.events}
          columns={[
            words.time,
            words.event,
            words.verified,
            { label: words.confidence, numbers: true },
          ]}
        >
          {rows.map((event) => (
            <EventRow key={event.id} event={event} named={filter.entity_id === undefined} />
          ))}
        </RowTable>
      )}
    </LoadedList>
  );
}

function EventRow({ event, named }: { event: IntelligenceEvent; named: boolean }) {
  return (
    <Row>
      <When at={event.occurred_at} />
      <Table.Td>
        <Text size="sm">
          <UserText>{event.summary}</UserText>
        </Text>
        <Group gap="xs">
          <Dimmed size="xs">{event.event_type}</Dimmed>
          {named && (
            <TextLink
              size="xs"
              to="/data/entities/$entityId"
              params={{ entityId: event.primary_entity_id }}
            >
              {text.viewRecord}
            </TextLink>
          )}
        </Group>
        {event.match_reason !== null && (
          <Dimmed size="xs">
            <UserText>{event.match_reason}</UserText>
          </Dimmed>
        )}
        <Evidence of={event.source_evidence} />
      </Table.Td>
      <Table.Td>{verificationTexts[event.verification_status]}</Table.Td>
      <Table.Td className="numbers">{percentText(event.confidence * 100)}</Table.Td>
    </Row>
  );
}
