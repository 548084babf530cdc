import { List, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import type { SentEventDetail } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { eventPage as text } from '#console/src/messages/en/workflows/events.ts';
import { Message } from '#console/src/messages/message.tsx';
import { words } from '#console/src/messages/en/words.ts';
import { Facts } from '#console/src/parts/data/facts.tsx';
import { useAction } from '#console/src/parts/forms/action.ts';
import { ActionButton } from '#console/src/parts/forms/action-button.tsx';
import { ValueView } from '#console/src/parts/json/value-view.tsx';
import { RunLink, WorkflowLink } from '#console/src/parts/links.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { LoadingPage } from '#console/src/parts/loading.tsx';
import { Page, Section } from '#console/src/parts/page.tsx';
import { shortId } from '#console/src/parts/text/short-id.ts';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { When } from '#console/src/parts/text/time.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { eventQuery, eventsKey } from '#console/src/queries/events.ts';
import { useMay } from '#console/src/queries/identity.ts';
import { workflowsQuery } from '#console/src/queries/workflows.ts';
import { SentBy } from './events.tsx';

const route = getRouteApi('/inside/events/$eventId');

/** An event with its data, the waits that it has ended and the runs that it has started and cancelled. */
export function EventPage() {
  const { eventId } = route.useParams();
  const query = useQuery(eventQuery(eventId));
  return (
    <Loaded
      query={query}
      loading={
        <Page title={words.event}>
          <LoadingPage />
        </Page>
      }
    >
      {(event) => (
        <Page title={event.name} actions={<Again event={event} />}>
          <EventFacts event={event} />
          <Section title={text.data}>
            <ValueView value={event.data} what={text.dataOf} />
          </Section>
          <Woken event={event} />
          <StartedRuns event={event} />
          <CancelledRuns event={event} />
        </Page>
      )}
    </Loaded>
  );
}

/** Names of the service's own events, which only the service sends. */
const RESERVED = /^(entity|intelligence_event|feed|source|usage|export|run)\./i;

function Again({ event }: { event: SentEventDetail }) {
  const navigate = useNavigate();
  const maySend = useMay('run_workflows');
  const send = useAction(() => api().sendWorkspaceEvent({ name: event.name, data: event.data }), {
    changes: [eventsKey],
    done: text.sentAgain,
    onDone: ({ id }) => void navigate({ to: '/events/$eventId', params: { eventId: id } }),
  });
  if (!maySend) return null;
  if (RESERVED.test(event.name)) return <Dimmed size="xs">{text.reserved}</Dimmed>;
  return (
    <ActionButton action={send} ask={{ ...text.askAgain, dangerous: false }}>
      {text.again}
    </ActionButton>
  );
}

const EventFacts = ({ event }: { event: SentEventDetail }) => (
  <Facts
    of={[
      [text.sent, <When key="sent" at={event.created_at} />],
      [text.by, <SentBy key="by" event={event} />],
      [
        text.id,
        <Text key="id" size="xs" ff="monospace" span>
          {event.id}
        </Text>,
      ],
      [
        text.ownId,
        event.given_id === null || event.source === 'tool' ? undefined : (
          <UserText key="own">{event.given_id}</UserText>
        ),
      ],
      [text.depth, event.depth === 0 ? undefined : event.depth],
    ]}
  />
);

const Woken = ({ event: { waits } }: { event: SentEventDetail }) => (
  <Section title={text.woke}>
    {waits.length === 0 ? (
      <Dimmed>{text.wokeNone}</Dimmed>
    ) : (
      <List size="sm" spacing={4}>
        {waits.map((wait) => (
          <List.Item key={`${wait.run_id} ${wait.step_key}`}>
            <RunLink run={wait.run_id} step={wait.step_key} underline="always">
              <UserText>{wait.step_key}</UserText>
            </RunLink>{' '}
            <OfWorkflow id={wait.workflow_id} />
          </List.Item>
        ))}
      </List>
    )}
  </Section>
);

const StartedRuns = ({ event: { starts } }: { event: SentEventDetail }) => (
  <Section title={text.started}>
    {starts.length === 0 ? (
      <Dimmed>{text.startedNone}</Dimmed>
    ) : (
      <List size="sm" spacing={4}>
        {starts.map((start) => (
          <List.Item key={start.trigger_id}>
            <Stack gap={2}>
              <span>
                {start.run_id === null ? (
                  start.refusal === null && text.soon
                ) : (
                  <RunLink run={start.run_id} underline="always" title={start.run_id}>
                    {text.run(shortId(start.run_id))}
                  </RunLink>
                )}{' '}
                <OfWorkflow id={start.workflow_id} />
              </span>
              {start.refusal !== null && (
                <Text size="sm" c="var(--mantine-color-error)" component="div">
                  <Message text={text.refused} values={{ reason: start.refusal }} />
                </Text>
              )}
            </Stack>
          </List.Item>
        ))}
      </List>
    )}
  </Section>
);

/** Few workflows have events that cancel their runs, so there is no section without one. */
function CancelledRuns({ event: { cancels } }: { event: SentEventDetail }) {
  if (cancels.length === 0) return null;
  return (
    <Section title={text.cancelled}>
      <List size="sm" spacing={4}>
        {cancels.map(({ run_id: runId, workflow_id: workflowId, cancelled_at: at, refusal }) => (
          <List.Item key={runId}>
            <Stack gap={2}>
              <span>
                <RunLink run={runId} underline="always" title={runId}>
                  {text.run(shortId(runId))}
                </RunLink>{' '}
                <OfWorkflow id={workflowId} />{' '}
                {at === null ? refusal === null && text.cancelSoon : <When at={at} ago />}
              </span>
              {refusal !== null && (
                <Text size="sm" c="var(--mantine-color-error)" component="div">
                  <Message text={text.notCancelled} values={{ reason: refusal }} />
                </Text>
              )}
            </Stack>
          </List.Item>
        ))}
      </List>
    </Section>
  );
}

function OfWorkflow({ id }: { id: string }) {
  const { data: workflows = [] } = useQuery(workflowsQuery);
  const name = workflows.find((each) => each.id === id)?.name ?? id;
  return (
    <Message
      text={text.of}
      values={{
        workflow: (
          <WorkflowLink workflow={id} tab="triggers" underline="always">
            <UserText>{name}</UserText>
          </WorkflowLink>
        ),
      }}
    />
  );
}
