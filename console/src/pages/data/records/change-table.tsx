import { Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { NamedChange, Source } from '#client/index.ts';
import { words } from '#console/src/messages/en/words.ts';
import { changeTable as text } from '#console/src/messages/en/data/records.ts';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { When } from '#console/src/parts/text/time.tsx';
import { feedsQuery, sourcesQuery } from '#console/src/queries/data.ts';
import { ChangedValue } from '#console/src/parts/data/changed-value.tsx';
import { TextLink } from '#console/src/parts/links.tsx';
import { Row, RowTable } from '#console/src/parts/data/row-table.tsx';
import { CutValue } from './value.tsx';

type Names = ReadonlyMap<string, string>;

export function ChangeTable({ changes }: { changes: readonly NamedChange[] }) {
  const feeds = useNames(useQuery(feedsQuery).data);
  const sources = useNames(useQuery(sourcesQuery).data);
  return (
    <RowTable
      label={words.changes}
      columns={[words.time, text.record, words.feed, text.attribute, text.change, words.source]}
      minWidth={860}
    >
      {changes.map((change) => (
        <Row key={change.id}>
          <When at={change.changed_at} ago />
          <Table.Td>
            <TextLink
              size="sm"
              to="/data/entities/$entityId"
              params={{ entityId: change.entity_id }}
            >
              <UserText>{change.entity_name ?? change.entity_id}</UserText>
            </TextLink>
            <Text size="xs" c="dimmed">
              {change.entity_type} · {text.version(change.version)}
            </Text>
          </Table.Td>
          <UserText>{feeds.get(change.feed_id) ?? change.feed_id}</UserText>
          <UserText>{change.attribute}</UserText>
          <ChangedValue
            before={<CutValue of={change.old_value} />}
            after={<CutValue of={change.new_value} />}
          />
          <Table.Td>
            {change.source_id !== null && (
              <UserText>{sources.get(change.source_id) ?? change.source_id}</UserText>
            )}
          </Table.Td>
        </Row>
      ))}
    </RowTable>
  );
}

const useNames = (rows: readonly Pick<Source, 'id' | 'name'>[] | undefined): Names =>
  useMemo(() => new Map(rows?.map(({ id, name }) => [id, name])), [rows]);
