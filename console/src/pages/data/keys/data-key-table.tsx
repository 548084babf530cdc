import { Tag } from '#console/src/parts/tag.tsx';
import { Badge, Code, Group, Stack, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { DataKey, WorkspaceDataUsage } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import { dataKeyTable as text } from '#console/src/messages/en/data/keys.ts';
import { Message } from '#console/src/messages/message.tsx';
import { useAction } from '#console/src/parts/forms/action.ts';
import { ActionButton } from '#console/src/parts/forms/action-button.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { countText } from '#console/src/parts/text/numbers.ts';
import { When } from '#console/src/parts/text/time.tsx';
import { dataKeysKey, dataUsageQuery } from '#console/src/queries/data.ts';
import { Row, RowTable } from '#console/src/parts/data/row-table.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';

type KeyUsage = WorkspaceDataUsage['keys'][number];

const columns = [text.key, words.mode, text.scopes, text.requests, text.credits, text.lastUsed];

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
      label={text.label}
      columns={mayRevoke ? [...columns, { label: words.actions, hidden: true }] : columns}
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
    <Row>
      <Table.Td>
        <Text size="sm">
          <UserText>{key.name}</UserText>
        </Text>
        <Code>{key.prefix}…</Code>
        <KeyBounds of={key} />
      </Table.Td>
      <Tag color={key.mode === 'live' ? 'success' : 'trial'}>{text.modes[key.mode]}</Tag>
      <Group gap={4} maw={260}>
        {key.scopes.map((scope) => (
          <Badge key={scope} variant="default" tt="none" fw={500}>
            {scope}
          </Badge>
        ))}
      </Group>
      <Table.Td>{allowanceText(usage?.requests.used, key.monthly_request_allowance)}</Table.Td>
      <Table.Td>{allowanceText(usage?.credits.used, key.monthly_credit_allowance)}</Table.Td>
      {key.last_used_at === null ? text.neverUsed : <When at={key.last_used_at} ago />}
      {mayRevoke && <Table.Td>{!key.revoked && <Revoke of={key} />}</Table.Td>}
    </Row>
  );
}

const allowanceText = (used = 0, allowance: number | null): string =>
  allowance === null ? countText(used) : text.usedOf(countText(used), countText(allowance));

function KeyBounds({ of: { revoked, expires_at, ip_allowlist } }: { of: DataKey }) {
  return (
    <Stack gap={0}>
      {revoked && <Tag color="gray">{text.isRevoked}</Tag>}
      {expires_at !== null && (
        <Dimmed size="xs">
          <Message
            text={Date.parse(expires_at) < Date.now() ? text.expired : text.expires}
            values={{ time: <When at={expires_at} ago /> }}
          />
        </Dimmed>
      )}
      {ip_allowlist.length > 0 && <Dimmed size="xs">{text.from(ip_allowlist.join(', '))}</Dimmed>}
    </Stack>
  );
}

function Revoke({ of: key }: { of: DataKey }) {
  const revoke = useAction(({ id, etag }: DataKey) => api().revokeDataKey(id, { ifMatch: etag }), {
    changes: [dataKeysKey],
    done: text.revoked,
  });
  return (
    <ActionButton
      size="compact-sm"
      action={revoke}
      input={key}
      ask={{ ...text.confirmRevoke, values: { name: key.name } }}
      aria-label={text.revokeKey(key.name)}
    >
      {text.revoke}
    </ActionButton>
  );
}
