import { Group, Table } from '@mantine/core';
import type { Entity } from '#client/index.ts';
import { words } from '#console/src/messages/en/words.ts';
import { recordTable as text, verificationTexts } from '#console/src/messages/en/data/records.ts';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { percentText } from '#console/src/parts/text/numbers.ts';
import { When } from '#console/src/parts/text/time.tsx';
import { KindBadge } from '#console/src/pages/data/kind-badge.tsx';
import { placeText } from './place.ts';
import { TextLink } from '#console/src/parts/links.tsx';
import { Row, RowTable } from '#console/src/parts/data/row-table.tsx';

const columns = [
  text.record,
  words.type,
  text.location,
  { label: words.confidence, numbers: true },
  words.verified,
  { label: words.version, numbers: true },
  text.updated,
] as const;

export function RecordTable({ label, records }: { label: string; records: readonly Entity[] }) {
  return (
    <RowTable label={label} columns={columns} minWidth={820}>
      {records.map((record) => (
        <RecordRow key={record.id} record={record} />
      ))}
    </RowTable>
  );
}

function RecordRow({ record }: { record: Entity }) {
  const place = placeText(record.geography);
  return (
    <Row>
      <Group gap="xs">
        <TextLink to="/data/entities/$entityId" params={{ entityId: record.id }}>
          <UserText>{record.canonical_name}</UserText>
        </TextLink>
        {record.is_demo && <KindBadge isDemo />}
      </Group>
      <Table.Td>{record.entity_type}</Table.Td>
      <Table.Td>{place !== undefined && <UserText>{place}</UserText>}</Table.Td>
      <Table.Td className="numbers">{percentText(record.confidence * 100)}</Table.Td>
      <Table.Td>{verificationTexts[record.verification_status]}</Table.Td>
      <Table.Td className="numbers">{record.version}</Table.Td>
      <When at={record.updated_at} ago />
    </Row>
  );
}
