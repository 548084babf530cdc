import { Code, Stack, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { MemberStats } from '../../../../client/index.ts';
import { DayBars } from '../../parts/data/day-bars.tsx';
import { Facts } from '../../parts/data/facts.tsx';
import { UserText } from '../../parts/text/user-text.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { countText, dollarsText } from '../../parts/text/numbers.ts';
import { TextLink } from '../../parts/links.tsx';
import { RowTable } from '../../parts/data/row-table.tsx';
import { When } from '../../parts/text/time.tsx';
import { memberStatsQuery } from '../../queries/members.ts';

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
          ['Runs started', countText(stats.runs_triggered)],
          ['Run cost', dollarsText(stats.total_cost_usd)],
          ['Approved', countText(stats.approvals)],
          ['Rejected', countText(stats.rejections)],
          ['Workflows created', countText(stats.workflows_created)],
        ]}
      />
      <DayBars
        label="Actions in the last 30 days"
        rows={stats.activity}
        series={{ name: 'count', label: 'Actions', colour: 'indigo.6', text: countText }}
      />
      <Recent stats={stats} />
    </Stack>
  );
}

function Recent({ stats }: { stats: MemberStats }) {
  if (stats.recent_actions.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        No activity in the audit log.
      </Text>
    );
  }
  return (
    <>
      <RowTable label="Recent actions" minWidth={420} columns={['Time', 'Action', 'Target']}>
        {stats.recent_actions.map((entry) => (
          <Table.Tr key={entry.id}>
            <Table.Td>
              <When at={entry.created_at} ago />
            </Table.Td>
            <Table.Td>
              <Code>{entry.action}</Code>
            </Table.Td>
            <Table.Td>
              {entry.target_type} <UserText>{entry.target_id}</UserText>
            </Table.Td>
          </Table.Tr>
        ))}
      </RowTable>
      <TextLink size="sm" to="/audit" search={{ actor_id: stats.member_id }}>
        View all actions in the audit log
      </TextLink>
    </>
  );
}
