import { Tag } from '#console/src/parts/tag.tsx';
import { ActionIcon, Menu, Stack, Table, Text, type MantineColor } from '@mantine/core';
import { IconDots } from '@tabler/icons-react';
import type { Source } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import { sourceRow as text } from '#console/src/messages/en/data/sources.ts';
import { Message } from '#console/src/messages/message.tsx';
import { useAction } from '#console/src/parts/forms/action.ts';
import { confirm } from '#console/src/parts/forms/confirm.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { percentText } from '#console/src/parts/text/numbers.ts';
import { When } from '#console/src/parts/text/time.tsx';
import { sourcesKey } from '#console/src/queries/data.ts';
import { KindBadge } from '#console/src/pages/data/kind-badge.tsx';
import { Row } from '#console/src/parts/data/row-table.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';

const healthColours: Record<Source['health']['status'], MantineColor> = {
  unknown: 'gray',
  healthy: 'success',
  failed: 'danger',
};

export function SourceRow({
  source,
  mayChange,
  onEdit,
  onReport,
}: {
  source: Source;
  mayChange: boolean;
  onEdit: () => void;
  onReport: () => void;
}) {
  const { status, consecutive_failures: failures } = source.health;
  return (
    <Row>
      <Table.Td>
        <Text size="sm">
          <UserText>{source.name}</UserText>
        </Text>
        <Dimmed size="xs">
          <UserText>{[source.type, source.jurisdiction].filter(Boolean).join(' · ')}</UserText>
        </Dimmed>
      </Table.Td>
      <KindBadge isDemo={source.is_demo} />
      <Table.Td>
        <Tag color={healthColours[status]}>{text.health[status]}</Tag>
        {failures > 1 && <Dimmed size="xs">{text.failures(failures)}</Dimmed>}
      </Table.Td>
      <LastReport health={source.health} />
      <Table.Td>{source.cadence === null ? '' : <UserText>{source.cadence}</UserText>}</Table.Td>
      <Table.Td>
        {source.reliability_score !== null && percentText(source.reliability_score * 100)}
      </Table.Td>
      {mayChange && (
        <Table.Td>
          <SourceMenu source={source} onEdit={onEdit} onReport={onReport} />
        </Table.Td>
      )}
    </Row>
  );
}

function LastReport({ health }: { health: Source['health'] }) {
  const { last_success_at: worked, last_failure_at: failed, last_error } = health;
  if (worked === null && failed === null) return text.noCheck;
  // Health only changes after several failures, but the first failure is already shown.
  const failing = health.consecutive_failures > 0;
  return (
    <Stack gap={2} maw={320}>
      {worked !== null && (
        <span>
          <Message text={text.succeeded} values={{ time: <When at={worked} ago /> }} />
        </span>
      )}
      {failing && failed !== null && (
        <span>
          <Message text={text.failed} values={{ time: <When at={failed} ago /> }} />
        </span>
      )}
      {failing && last_error !== null && (
        <Text size="xs" c="dimmed" lineClamp={3} title={last_error}>
          <UserText>{last_error}</UserText>
        </Text>
      )}
    </Stack>
  );
}

function SourceMenu({
  source,
  onEdit,
  onReport,
}: {
  source: Source;
  onEdit: () => void;
  onReport: () => void;
}) {
  const remove = useAction(({ id, etag }: Source) => api().deleteSource(id, { ifMatch: etag }), {
    changes: [sourcesKey],
    done: text.deleted,
  });
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={text.actionsFor(source.name)}>
          <IconDots size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={onReport}>{text.report}</Menu.Item>
        <Menu.Item onClick={onEdit}>{words.edit}</Menu.Item>
        <Menu.Item
          color="danger"
          onClick={() =>
            confirm({
              ...text.confirmDelete,
              values: { name: source.name },
              onConfirm: () => remove.mutate(source),
            })
          }
        >
          {words.delete}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
