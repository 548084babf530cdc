import { Stack, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { RunQueue } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { queues as text } from '#console/src/messages/en/workflows/limits.ts';
import { Message } from '#console/src/messages/message.tsx';
import { words } from '#console/src/messages/en/words.ts';
import { Row, RowTable } from '#console/src/parts/data/row-table.tsx';
import { Empty } from '#console/src/parts/empty.tsx';
import { useAction } from '#console/src/parts/forms/action.ts';
import { ActionButton } from '#console/src/parts/forms/action-button.tsx';
import { RunLink, WorkflowLink } from '#console/src/parts/links.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { Page, Section } from '#console/src/parts/page.tsx';
import { RunBadge } from '#console/src/parts/run-badges.tsx';
import { IdEnd } from '#console/src/parts/short-id.tsx';
import { Tag } from '#console/src/parts/tag.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { When } from '#console/src/parts/text/time.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { useMay } from '#console/src/queries/identity.ts';
import { queuesKey, queuesQuery } from '#console/src/queries/limits.ts';
import { runsKey } from '#console/src/queries/runs.ts';

const route = getRouteApi('/inside/queues');

/** Per workflow and key: who holds each slot, and who waits. */
export function QueuesPage() {
  const { workflow } = route.useSearch();
  const query = useQuery(queuesQuery(workflow));
  return (
    <Page title={text.title} about={text.about}>
      <Loaded query={query}>
        {(queues) =>
          queues.length === 0 ? (
            <Empty {...text.empty} />
          ) : (
            <Stack gap="xl">
              {queues.map((queue) => (
                <Queue key={`${queue.workflow_id} ${queue.for} ${queue.key}`} queue={queue} />
              ))}
            </Stack>
          )
        }
      </Loaded>
    </Page>
  );
}

function Queue({ queue }: { queue: RunQueue }) {
  const { workflow_id, workflow_name, key, limit, in_flight, waiting, waiting_count } = queue;
  const unseen = waiting_count - waiting.length;
  return (
    <Section title={workflow_name}>
      <Text size="sm" component="div">
        {key !== '' && (
          <>
            <Message text={text.forKey} values={{ key: <UserText>{key}</UserText> }} />
            {' · '}
          </>
        )}
        {queue.for === 'concurrency' && limit !== null && (
          <>
            {text.inFlightOf(in_flight.length, limit)}
            {' · '}
          </>
        )}
        {waiting_count > 0 && (
          <>
            {text.waiting(waiting_count)}
            {' · '}
          </>
        )}
        <WorkflowLink workflow={workflow_id} underline="always">
          {text.workflow}
        </WorkflowLink>
      </Text>
      <RowTable
        label={text.label(workflow_name)}
        columns={[text.place, words.run, words.status, text.priority, text.since, words.actions]}
        minWidth={640}
      >
        {in_flight.map((run) => (
          <QueueRow key={run.run_id} run={run} place={text.inFlight} priority="–" />
        ))}
        {waiting.map((run) => (
          <QueueRow
            key={run.run_id}
            run={run}
            place={run.until === null ? <Position run={run} /> : text.debounced}
            priority={String(run.priority)}
          />
        ))}
      </RowTable>
      {unseen > 0 && <Dimmed>{text.more(unseen)}</Dimmed>}
    </Section>
  );
}

const Position = ({ run }: { run: RunQueue['waiting'][number] }) => (
  <>
    {run.position}
    {run.deadlocked && (
      <>
        {' '}
        <Tag color="danger">{text.deadlock}</Tag>
        <Dimmed>{text.deadlockAbout}</Dimmed>
      </>
    )}
  </>
);

function QueueRow({
  run: { run_id: id, status, since },
  place,
  priority,
}: {
  run: Pick<RunQueue['in_flight'][number], 'run_id' | 'status' | 'since'>;
  place: ReactNode;
  priority: string;
}) {
  const mayCancel = useMay('cancel_resume');
  const cancel = useAction(() => api().cancel(id), {
    changes: [queuesKey, runsKey],
    done: text.cancelled,
  });
  return (
    <Row>
      <Table.Td>{place}</Table.Td>
      <RunLink run={id} size="sm">
        <IdEnd id={id} />
      </RunLink>
      <RunBadge run={{ status, failure: null }} />
      <Table.Td>{priority}</Table.Td>
      <When at={since} ago />
      <Table.Td>
        {mayCancel && status !== 'success' && status !== 'failed' && (
          <ActionButton action={cancel} ask={text.askCancel} size="compact-sm" variant="default">
            {text.cancel}
          </ActionButton>
        )}
      </Table.Td>
    </Row>
  );
}
