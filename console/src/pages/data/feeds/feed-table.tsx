import { Badge, Group, Table, Text } from '@mantine/core';
import type { Feed } from '#client/index.ts';
import { words } from '#console/src/messages/en/words.ts';
import { feedTable as text } from '#console/src/messages/en/data/feeds.ts';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { When } from '#console/src/parts/text/time.tsx';
import { FeedStatus } from './feed-status.tsx';
import { KindBadge } from '#console/src/pages/data/kind-badge.tsx';
import { TextLink } from '#console/src/parts/links.tsx';
import { Row, RowTable } from '#console/src/parts/data/row-table.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';

export function FeedTable({ feeds }: { feeds: readonly Feed[] }) {
  return (
    <RowTable
      label={text.label}
      columns={[
        words.feed,
        words.mode,
        words.status,
        text.recordTypes,
        text.latestRecord,
        text.lastReceived,
      ]}
    >
      {feeds.map((feed) => (
        <FeedRow key={feed.id} feed={feed} />
      ))}
    </RowTable>
  );
}

function FeedRow({ feed }: { feed: Feed }) {
  const { last_event_at, last_checked_at } = feed.freshness;
  return (
    <Row>
      <Table.Td>
        <TextLink to="/data/feeds/$feedId" params={{ feedId: feed.id }}>
          <UserText>{feed.name}</UserText>
        </TextLink>
        {feed.description !== '' && (
          <Text size="xs" c="dimmed" lineClamp={2}>
            <UserText>{feed.description}</UserText>
          </Text>
        )}
      </Table.Td>
      <KindBadge isDemo={feed.is_demo} />
      <FeedStatus status={feed.status} />
      <Group gap={4}>
        {feed.entity_types.length === 0 && <Dimmed>{text.anyType}</Dimmed>}
        {feed.entity_types.map((type) => (
          <Badge key={type} variant="default" tt="none" fw={500}>
            {type}
          </Badge>
        ))}
      </Group>
      {last_event_at === null ? text.noRecord : <When at={last_event_at} ago />}
      {last_checked_at === null ? text.neverReceived : <When at={last_checked_at} ago />}
    </Row>
  );
}
