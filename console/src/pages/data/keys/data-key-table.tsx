import { Tag } from '../../../parts/tag.tsx';
import { Badge, Button, Code, Group, Stack, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { DataKey, WorkspaceDataUsage } from '../../../../../client/index.ts';
import { api } from '../../../api.ts';
import { useAction } from '../../../parts/forms/action.ts';
import { confirm } from '../../../parts/forms/confirm.tsx';
import { UserText } from '../../../parts/text/user-text.tsx';
import { countText } from '../../../parts/text/numbers.ts';
import { When } from '../../../parts/text/time.tsx';
import { dataKeysKey, dataUsageQuery } from '../../../queries/data.ts';
import { RowTable } from '../../../parts/data/row-table.tsx';
import { sentenceCase } from '../../../parts/text/sentence-case.ts';

type KeyUsage = WorkspaceDataUsage['keys'][number];

const columns = ['Key', 'Mode', 'Scopes', 'Requests this month', 'Credits this month', 'Last used'];

export function DataKeyTable({
  keys,
  mayRevoke,
}: {
  keys: readonly DataKey[];
  mayRevoke: boolean;
}) {
  const usage = useQuery(dataUsageQuery).data?.keys;
  return (
    <RowTable
      label="Data keys"
      columns={mayRevoke ? [...columns, { label: 'Actions', hidden: true }] : columns}
      minWidth={940}
    >
      {keys.map((key) => (
        <DataKeyRow
          key={key.id}
          of={key}
          usage={usage?.find(({ id }) => id === key.id)}
          mayRevoke={mayRevoke}
        />
      ))}
    </RowTable>
  );
}

function DataKeyRow({
  of: key,
  usage,
  mayRevoke,
}: {
  of: DataKey;
  usage: KeyUsage | undefined;
  mayRevoke: boolean;
}) {
  return (
    <Table.Tr>
      <Table.Td>
        <Text size="sm">
          <UserText>{key.name}</UserText>
        </Text>
        <Code>{key.prefix}…</Code>
        <KeyBounds of={key} />
      </Table.Td>
      <Table.Td>
        <Tag color={key.mode === 'live' ? 'teal' : 'grape'}>{sentenceCase(key.mode)}</Tag>
      </Table.Td>
      <Table.Td>
        <Group gap={4} maw={260}>
          {key.scopes.map((scope) => (
            <Badge key={scope} variant="default" tt="none" fw={500}>
              {scope}
            </Badge>
          ))}
        </Group>
      </Table.Td>
      <Table.Td>{allowanceText(usage?.requests.used, key.monthly_request_allowance)}</Table.Td>
      <Table.Td>{allowanceText(usage?.credits.used, key.monthly_credit_allowance)}</Table.Td>
      <Table.Td>
        {key.last_used_at === null ? 'Never' : <When at={key.last_used_at} ago />}
      </Table.Td>
      {mayRevoke && <Table.Td>{!key.revoked && <Revoke of={key} />}</Table.Td>}
    </Table.Tr>
  );
}

const allowanceText = (used = 0, allowance: number | null): string =>
  allowance === null ? countText(used) : `${countText(used)} of ${countText(allowance)}`;

function KeyBounds({ of: { revoked, expires_at, ip_allowlist } }: { of: DataKey }) {
  return (
    <Stack gap={0}>
      {revoked && <Tag color="gray">Revoked</Tag>}
      {expires_at !== null && (
        <Text size="xs" c="dimmed">
          {Date.parse(expires_at) < Date.now() ? 'Expired' : 'Expires'} <When at={expires_at} ago />
        </Text>
      )}
      {ip_allowlist.length > 0 && (
        <Text size="xs" c="dimmed">
          From {ip_allowlist.join(', ')}
        </Text>
      )}
    </Stack>
  );
}

function Revoke({ of: key }: { of: DataKey }) {
  const revoke = useAction(() => api().revokeDataKey(key.id), {
    changes: [dataKeysKey],
    done: 'Data key revoked',
  });
  return (
    <Button
      size="compact-sm"
      variant="light"
      color="red"
      aria-label={`Revoke ${key.name}`}
      loading={revoke.isPending}
      onClick={() =>
        confirm({
          title: 'Revoke this data key?',
          consequence: (
            <>
              Requests with <UserText>{key.name}</UserText> will fail immediately. You cannot undo
              this.
            </>
          ),
          confirmLabel: 'Revoke key',
          onConfirm: () => revoke.mutate(undefined),
        })
      }
    >
      Revoke
    </Button>
  );
}
