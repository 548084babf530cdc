import { Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { ReceivedEvent, ListedInboundEvent } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import { eventDetail as text } from '#console/src/messages/en/workflows/inbound-events.ts';
import { JsonView } from '#console/src/parts/code/json-view.tsx';
import { Facts } from '#console/src/parts/data/facts.tsx';
import { useAction } from '#console/src/parts/forms/action.ts';
import { ActionButton } from '#console/src/parts/forms/action-button.tsx';
import { EventLink, RunLink } from '#console/src/parts/links.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { When } from '#console/src/parts/text/time.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { inboundEventQuery, inboundEventsKey } from '#console/src/queries/inbound-events.ts';
import { refusalReasons } from '#console/src/messages/en/workflows/inbound-events.ts';
import { webhookQuery } from '#console/src/queries/workspace.ts';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { isUnverified } from './event-texts.ts';

/** The headers and body of an event, what to do about a refusal, and the button that replays it. */
export function EventDetail({
  of: listed,
  mayReplay,
}: {
  of: ListedInboundEvent;
  mayReplay: boolean;
}) {
  const query = useQuery(inboundEventQuery(listed.id));
  return (
    <Loaded query={query}>
      {(event) => (
        <Stack gap="md" py="xs">
          {event.reason !== null && (
            <Text size="sm">
              <strong>{text.whatToDo}</strong> {refusalReasons[event.reason].remedy}
            </Text>
          )}
          <EventFacts of={event} />
          <Stack gap={4}>
            <Dimmed size="xs">{text.body}</Dimmed>
            <Body of={event} />
          </Stack>
          {Object.keys(event.headers).length > 0 && <Headers of={event} />}
          {event.replayed_by.length > 0 && <Replays of={event} />}
          {mayReplay && <Replay of={event} />}
        </Stack>
      )}
    </Loaded>
  );
}

const EventFacts = ({ of: event }: { of: ReceivedEvent }) => (
  <Facts
    of={[
      [text.received, <When key="at" at={event.received_at} />],
      [words.status, event.status],
      [
        text.eventId,
        event.event_id === null ? undefined : <UserText key="id">{event.event_id}</UserText>,
      ],
      [
        text.duplicateOf,
        event.duplicate_of === null ? undefined : (
          <Text key="of" size="xs" ff="monospace" span>
            {event.duplicate_of}
          </Text>
        ),
      ],
      [
        text.logEntry,
        <Text key="entry" size="xs" ff="monospace" span>
          {event.id}
        </Text>,
      ],
    ]}
  />
);

function Body({ of: { body, body_truncated: truncated } }: { of: ReceivedEvent }) {
  if (body === null) {
    return <Dimmed>{text.bodyNotRead}</Dimmed>;
  }
  if (body === '') {
    return <Dimmed>{text.bodyEmpty}</Dimmed>;
  }
  return (
    <>
      <JsonView value={truncated ? body : indented(body)} what={text.theBody} />
      {truncated && <Dimmed size="xs">{text.bodyCut}</Dimmed>}
    </>
  );
}

/** JSON with line breaks. Text that is not JSON, or that this would change, is returned unchanged. */
function indented(body: string): string {
  try {
    const value: unknown = JSON.parse(body);
    return JSON.stringify(value, null, 2);
  } catch {
    return body;
  }
}

const Headers = ({ of: { headers } }: { of: ReceivedEvent }) => (
  <Stack gap={4}>
    <Dimmed size="xs">{text.headers}</Dimmed>
    <JsonView
      value={Object.entries(headers)
        .map(([name, value]) => `${name}: ${value}`)
        .join('\n')}
      what={text.theHeaders}
    />
  </Stack>
);

const Replays = ({ of: { replayed_by: replays } }: { of: ReceivedEvent }) => (
  <Stack gap={4}>
    <Dimmed size="xs">{text.replayedBy}</Dimmed>
    {replays.map(({ run_id: runId, sent_event_id: sent, created_at }) => (
      <Group key={runId ?? sent} gap="xs">
        {sent !== null && <EventLink event={sent} />}
        {runId !== null && (
          <RunLink run={runId} size="xs" ff="monospace">
            {runId}
          </RunLink>
        )}
        <Dimmed size="xs">
          <When at={created_at} ago />
        </Dimmed>
      </Group>
    ))}
  </Stack>
);

/** Whether its input was not stored. */
const isLost = ({ body, body_truncated, outcome }: ReceivedEvent): boolean =>
  body === null || (body_truncated && outcome !== 'run' && outcome !== 'event');

function consequenceOf(event: ReceivedEvent, sends: boolean): string {
  if (isUnverified(event)) return sends ? text.replaySentUnverified : text.replayUnverified;
  if (sends) return text.replaySent;
  const started = event.outcome === 'run' || event.outcome === 'duplicate';
  return started ? text.replayStarted : text.replayRefused;
}

function Replay({ of: event }: { of: ReceivedEvent }) {
  const navigate = useNavigate();
  const { data: webhook } = useQuery(webhookQuery(event.workflow_id));
  const unverified = isUnverified(event);
  const replay = useAction(
    () => api().replayInboundEvent(event.id, { allow_unverified: unverified }),
    {
      changes: [inboundEventsKey],
      done: text.replayed,
      onDone: (done) =>
        void ('id' in done
          ? navigate({ to: '/runs/$runId', params: { runId: done.id } })
          : navigate({ to: '/events/$eventId', params: { eventId: done.event_id } })),
    },
  );
  if (isLost(event)) {
    return <Dimmed>{text.lost}</Dimmed>;
  }
  return (
    <Group>
      <ActionButton
        size="compact-sm"
        action={replay}
        ask={{
          title: text.replayTitle,
          consequence: consequenceOf(event, webhook?.event != null),
          confirm: text.replay,
          dangerous: unverified,
        }}
        aria-label={text.replayOf(event.id)}
        variant="filled"
      >
        {text.replay}
      </ActionButton>
    </Group>
  );
}
