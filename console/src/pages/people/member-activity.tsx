import { Stack, Table } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { MemberStats } from '#client/index.ts';
import { words } from '#console/src/messages/en/words.ts';
import { memberActivity as text } from '#console/src/messages/en/people/members.ts';
import { DayBars } from '#console/src/parts/data/day-bars.tsx';
import { Facts } from '#console/src/parts/data/facts.tsx';
import { AuditTarget } from '#console/src/parts/audit-target.tsx';
import { actionText } from '#console/src/parts/text/audit-texts.ts';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { countText, dollarsText } from '#console/src/parts/text/numbers.ts';
import { TextLink } from '#console/src/parts/links.tsx';
import { Row, RowTable } from '#console/src/parts/data/row-table.tsx';
import { When } from '#console/src/parts/text/time.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { memberStatsQuery } from '#console/src/queries/members.ts';

/** The statistics of a member, their actions per day, and their latest actions. */
export function MemberActivity({ memberId }: { memberId: string }) {
  const stats = useQuery(memberStatsQuery(memberId));
  return <Loaded query={stats}>{(loaded) => <Stats stats={loaded} />}</Loaded>;
}

function Stats({ stats }: { stats: MemberStats }) {
  return (
    <Stack gap="md">
      <Facts
        of={[
          [text.runsStarted, countText(stats.runs_triggered)],
          [text.runCost, dollarsText(stats.total_cost_usd)],
          [text.approved, countText(stats.approvals)],
          [text.rejected, countText(stats.rejections)],
          [text.workflowsCreated, countText(stats.workflows_created)],
        ]}
      />
      <DayBars
        label={text.perDay}
        rows={stats.activity}
        series={{ name: 'count', label: text.actions, colour: 'accent.6', text: countText }}
      />
      <Recent stats={stats} />
    </Stack>
  );
}

function Recent({ stats }: { stats: MemberStats }) {
  if (stats.recent_actions.length === 0) {
    return <Dimmed>{text.none}</Dimmed>;
  }
  return (
    <>
      <RowTable label={text.recent} minWidth={420} columns={[words.time, text.action, text.target]}>
        {stats.recent_actions.map((entry) => (
          <Row key={entry.id}>
            <When at={entry.created_at} ago />
            <span title={entry.action}>{actionText(entry.action)}</span>
            <Table.Td>
              <AuditTarget entry={entry} />
            </Table.Td>
          </Row>
        ))}
      </RowTable>
      <TextLink size="sm" to="/audit" search={{ actor_id: stats.member_id }}>
        {text.all}
      </TextLink>
    </>
  );
}
