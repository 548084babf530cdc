import { Table, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { waitList as text } from '#console/src/messages/en/workflows/events.ts';
import { words } from '#console/src/messages/en/words.ts';
import { LoadedList } from '#console/src/parts/data/loaded-list.tsx';
import { Row, RowTable } from '#console/src/parts/data/row-table.tsx';
import { Empty } from '#console/src/parts/empty.tsx';
import { RunLink, TextLink, WorkflowLink } from '#console/src/parts/links.tsx';
import { When } from '#console/src/parts/text/time.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { waitsQuery } from '#console/src/queries/events.ts';

/** What the steps of open runs wait for. */
export function WaitList() {
  const query = useInfiniteQuery(waitsQuery);
  return (
    <LoadedList query={query} empty={<Empty {...text.empty} />}>
      {(waits) => (
        <RowTable
          label={text.label}
          columns={[text.waitsFor, words.step, words.workflow, text.since, text.until]}
          minWidth={720}
        >
          {waits.map((wait) => (
            <Row key={`${wait.run_id} ${wait.step_key}`}>
              <Table.Td>
                {wait.connection !== null ? (
                  <Text size="sm">
                    {text.aSignIn(wait.connection.member_name, wait.connection.name)}
                  </Text>
                ) : wait.limit !== null ? (
                  <Text size="sm">{text.aCall(wait.limit.name)}</Text>
                ) : wait.for !== 'event' ? (
                  <Text size="sm">{wait.for === 'time' ? text.aTime : text.aCallback}</Text>
                ) : (
                  wait.events.map((name, at) => (
                    <span key={at}>
                      {at > 0 && ', '}
                      <TextLink to="/events" search={{ name }} size="sm">
                        {name}
                      </TextLink>
                    </span>
                  ))
                )}
              </Table.Td>
              <RunLink run={wait.run_id} step={wait.step_key} size="sm">
                <UserText>{wait.label}</UserText>
              </RunLink>
              <WorkflowLink workflow={wait.workflow_id} size="sm">
                <UserText>{wait.workflow_name}</UserText>
              </WorkflowLink>
              <When at={wait.since} ago />
              <Table.Td>
                {wait.until === null ? text.noLimit : <When at={wait.until} ago />}
              </Table.Td>
            </Row>
          ))}
        </RowTable>
      )}
    </LoadedList>
  );
}
