import { Tag } from '../../../parts/tag.tsx';
import { ActionIcon, Menu, Stack, Table, Text, type MantineColor } from '@mantine/core';
import { IconDots } from '@tabler/icons-react';
import type { Source } from '../../../../../client/index.ts';
import { api } from '../../../api.ts';
import { useAction } from '../../../parts/forms/action.ts';
import { confirm } from '../../../parts/forms/confirm.tsx';
import { UserText } from '../../../parts/text/user-text.tsx';
import { percentText } from '../../../parts/text/numbers.ts';
import { When } from '../../../parts/text/time.tsx';
import { sourcesKey } from '../../../queries/data.ts';
import { KindBadge } from '../kind-badge.tsx';
import { sentenceCase } from '../../../parts/text/sentence-case.ts';

const healthColours: Record<Source['health']['status'], MantineColor> = {
  unknown: 'gray',
  healthy: 'teal',
  failed: 'red',
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
    <Table.Tr>
      <Table.Td>
        <Text size="sm">
          <UserText>{source.name}</UserText>
        </Text>
        <Text size="xs" c="dimmed">
          <UserText>{[source.type, source.jurisdiction].filter(Boolean).join(' · ')}</UserText>
        </Text>
      </Table.Td>
      <Table.Td>
        <KindBadge isDemo={source.is_demo} />
      </Table.Td>
      <Table.Td>
        <Tag color={healthColours[status]}>{sentenceCase(status)}</Tag>
        {failures > 1 && (
          <Text size="xs" c="dimmed">
            {failures} consecutive failures
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <LastReport health={source.health} />
      </Table.Td>
      <Table.Td>{source.cadence === null ? '' : <UserText>{source.cadence}</UserText>}</Table.Td>
      <Table.Td>
        {source.reliability_score !== null && percentText(source.reliability_score * 100)}
      </Table.Td>
      {mayChange && (
        <Table.Td>
          <SourceMenu source={source} onEdit={onEdit} onReport={onReport} />
        </Table.Td>
      )}
    </Table.Tr>
  );
}

function LastReport({ health }: { health: Source['health'] }) {
  const { last_success_at: worked, last_failure_at: failed, last_error } = health;
  if (worked === null && failed === null) return 'None yet';
  // Health changes only after several failures; the first failure is shown anyway.
  const failing = health.consecutive_failures > 0;
  return (
    <Stack gap={2} maw={320}>
      {worked !== null && (
        <span>
          Succeeded <When at={worked} ago />
        </span>
      )}
      {failing && failed !== null && (
        <span>
          Failed <When at={failed} ago />
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
  const remove = useAction(() => api().deleteSource(source.id), {
    changes: [sourcesKey],
    done: 'Source deleted',
  });
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={`Actions for ${source.name}`}>
          <IconDots size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={onReport}>Report check result</Menu.Item>
        <Menu.Item onClick={onEdit}>Edit</Menu.Item>
        <Menu.Item
          color="red"
          onClick={() =>
            confirm({
              title: 'Delete this source?',
              consequence: (
                <>
                  This deletes <UserText>{source.name}</UserText> and its check results. Records
                  that refer to it do not change.
                </>
              ),
              confirmLabel: 'Delete source',
              onConfirm: () => remove.mutate(undefined),
            })
          }
        >
          Delete
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
