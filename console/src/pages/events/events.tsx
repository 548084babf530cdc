import { Group, SegmentedControl, Table, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { SentEvent } from '#client/index.ts';
import { eventList as text } from '#console/src/messages/en/workflows/events.ts';
import { words } from '#console/src/messages/en/words.ts';
import { shortValue } from '#console/src/parts/code/short-value.ts';
import { isRecord } from '#console/src/parts/data/record.ts';
import { LoadedList } from '#console/src/parts/data/loaded-list.tsx';
import { Row, RowTable } from '#console/src/parts/data/row-table.tsx';
import { Empty } from '#console/src/parts/empty.tsx';
import { FilterText } from '#console/src/parts/forms/filter-text.tsx';
import { RunLink, TextLink } from '#console/src/parts/links.tsx';
import { Page } from '#console/src/parts/page.tsx';
import { sentenceCase } from '#console/src/parts/text/sentence-case.ts';
import { When } from '#console/src/parts/text/time.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { eventsQuery } from '#console/src/queries/events.ts';
import { excerptOfFields } from '#shared/values/excerpt.ts';
import { useMay } from '#console/src/queries/identity.ts';
import { SendEventButton } from './send-event.tsx';
import { WaitList } from './wait-list.tsx';

const route = getRouteApi('/inside/events');

/** The events of the workspace, with what each did, and what open runs wait for. */
export function EventListPage() {
  const { show } = route.useSearch();
  const navigate = route.useNavigate();
  const maySend = useMay('run_workflows');
  return (
    <Page
      title={text.title}
      about={show === undefined ? text.about : text.aboutWaiting}
      actions={maySend && <SendEventButton />}
    >
      <Group gap="sm" align="flex-end" justify="space-between">
        {show === undefined ? <NameFilter /> : <span />}
        <SegmentedControl
          aria-label={text.show}
          data={[
            { value: 'sent', label: text.sent },
            { value: 'waiting', label: text.waiting },
          ]}
          value={show ?? 'sent'}
          onChange={(value) =>
            void navigate({ search: value === 'waiting' ? { show: 'waiting' } : {} })
          }
        />
      </Group>
      {show === undefined ? <EventTable /> : <WaitList />}
    </Page>
  );
}

function NameFilter() {
  const { name } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <search aria-label={text.filter}>
      <FilterText
        label={words.name}
        placeholder={text.namePlaceholder}
        value={name}
        onChange={(typed) => void navigate({ search: { name: typed }, replace: true })}
      />
    </search>
  );
}

function EventTable() {
  const { name } = route.useSearch();
  const query = useInfiniteQuery(eventsQuery(name));
  return (
    <LoadedList
      query={query}
      empty={<Empty {...(name === undefined ? text.empty : text.noMatch)} />}
    >
      {(events) => (
        <RowTable
          label={text.label}
          columns={[words.name, text.sent, text.by, text.data, text.did]}
          minWidth={760}
        >
          {events.map((event) => (
            <Row key={event.id}>
              <Table.Td>
                <TextLink to="/events/$eventId" params={{ eventId: event.id }} size="sm">
                  {event.name}
                </TextLink>
              </Table.Td>
              <When at={event.created_at} ago />
              <SentBy event={event} />
              <Text size="sm" span>
                <UserText>
                  {(isRecord(event.data) && excerptOfFields(event.data)) || shortValue(event.data)}
                </UserText>
              </Text>
              <Text size="sm" span>
                {didText(event)}
              </Text>
            </Row>
          ))}
        </RowTable>
      )}
    </LoadedList>
  );
}

/** Who sent an event: a member or key, a run, a webhook, or the data API. */
export function SentBy({ event: { run_id: runId, created_by: by, source } }: { event: SentEvent }) {
  if (runId !== null) return <RunLink run={runId}>{text.aRun}</RunLink>;
  if (by === null && source === 'webhook') return text.aWebhook;
  if (source === 'data') return text.theDataApi;
  return by === null ? '–' : <UserText>{by}</UserText>;
}

function didText({ woke, started, cancelled, pending }: SentEvent): string {
  const done = [
    ...(woke > 0 ? [text.woke(woke)] : []),
    ...(started > 0 ? [text.started(started)] : []),
    ...(cancelled > 0 ? [text.cancelled(cancelled)] : []),
  ];
  if (done.length > 0) return sentenceCase(done.join(', '));
  return pending ? text.comparing : text.nothing;
}
