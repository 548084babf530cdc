import { Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import type { DecidedGate } from '#client/index.ts';
import { assignee, decidedPage as text, inbox } from '#console/src/messages/en/approvals.ts';
import { LoadedList } from '#console/src/parts/data/loaded-list.tsx';
import { Row, RowTable } from '#console/src/parts/data/row-table.tsx';
import { Empty } from '#console/src/parts/empty.tsx';
import { ByText } from '#console/src/parts/forms/gate-rules.tsx';
import { RunLink, TextLink } from '#console/src/parts/links.tsx';
import { Page } from '#console/src/parts/page.tsx';
import { Tag } from '#console/src/parts/tag.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { When } from '#console/src/parts/text/time.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { useIdentity } from '#console/src/queries/identity.ts';
import { decidedQuery } from '#console/src/queries/runs.ts';
import { pollMs } from '#console/src/queries/stream-state.ts';
import { stepOf } from './chosen.ts';

const POLL_MS = 10_000;

/** What was decided at gates in the last days: by whom, when and how. */
export function DecidedPage() {
  const query = useInfiniteQuery({ ...decidedQuery, refetchInterval: () => pollMs(POLL_MS) });
  return (
    <Page title={inbox.title} about={text.about}>
      <LoadedList
        query={query}
        empty={
          <Empty title={text.none}>
            <Dimmed>{text.noneAbout}</Dimmed>
          </Empty>
        }
      >
        {(rows) => (
          <RowTable label={text.list} columns={Object.values(text.columns)}>
            {rows.map((row) => (
              <Decided key={`${row.run_id} ${row.step_key} ${row.round}`} row={row} />
            ))}
          </RowTable>
        )}
      </LoadedList>
    </Page>
  );
}

function Decided({ row }: { row: DecidedGate }) {
  const { run_id: runId, node_id: nodeId, decision, decider } = row;
  const { id: own } = useIdentity();
  return (
    <Row>
      <div>
        <TextLink
          to="/approvals/$runId/$nodeId"
          params={{ runId, nodeId }}
          search={{ step: stepOf(row) }}
        >
          <UserText>{row.title}</UserText>
        </TextLink>
        <Dimmed size="xs">
          <UserText>{row.workflow_name}</UserText>
        </Dimmed>
      </div>
      <Tag size="sm" color={decision.approved ? 'success' : 'danger'}>
        {!decision.approved
          ? text.rejected
          : row.changed_arguments
            ? text.approvedChanged
            : text.approved}
      </Tag>
      <Text size="sm">
        {decision.by_kind === 'deadline' ? (
          text.deadline
        ) : decider !== null && decider.id === own ? (
          <ByText
            by={assignee.you(decider.name)}
            byLink={decision.by_link}
            bySlack={decision.by_slack}
          />
        ) : (
          <ByText by={decision.by} byLink={decision.by_link} bySlack={decision.by_slack} />
        )}
      </Text>
      <When at={decision.at} ago />
      <Text size="sm" lineClamp={2}>
        <UserText>{decision.reason ?? ''}</UserText>
      </Text>
      <RunLink run={runId} step={row.step_key}>
        {`…${runId.slice(-6)}`}
      </RunLink>
    </Row>
  );
}
