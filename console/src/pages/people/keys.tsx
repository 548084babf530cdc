import { Button, Code, Modal, Switch, Table, Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ApiKey } from '../../../../client/index.ts';
import { api } from '../../api.ts';
import { useAction } from '../../parts/forms/action.ts';
import { confirm } from '../../parts/forms/confirm.tsx';
import { Empty } from '../../parts/empty.tsx';
import { UserText } from '../../parts/text/user-text.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { TextLink } from '../../parts/links.tsx';
import { RowTable } from '../../parts/data/row-table.tsx';
import { Tag } from '../../parts/tag.tsx';
import { When } from '../../parts/text/time.tsx';
import { useMay } from '../../queries/identity.ts';
import { keysKey, keysQuery } from '../../queries/keys.ts';
import { membersKey, membersQuery } from '../../queries/members.ts';
import { KeyForm } from './key-form.tsx';

const KEYS_EVERY_MS = 10_000;

/** API keys, the credentials of programs. */
export function KeysPage() {
  const keys = useQuery({ ...keysQuery, refetchInterval: KEYS_EVERY_MS });
  const mayManage = useMay('manage_api_keys');
  const [creating, setCreating] = useState(false);
  const [withRevoked, setWithRevoked] = useState(false);
  const create = mayManage && (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setCreating(true)}>
      New API key
    </Button>
  );
  return (
    <Page
      title="API keys"
      about="Credentials for programs, sent in the X-API-Key header. Only a hash is stored."
      actions={create}
    >
      <Loaded query={keys}>
        {(all) => {
          const shown = all.filter((key) => withRevoked || !key.revoked);
          return (
            <>
              {all.some((key) => key.revoked) && (
                <Switch
                  label="Show revoked keys"
                  checked={withRevoked}
                  onChange={(event) => setWithRevoked(event.currentTarget.checked)}
                />
              )}
              {shown.length === 0 ? (
                <Empty title="No API keys yet">
                  <Text size="sm" c="dimmed">
                    {mayManage
                      ? 'Create an API key so that programs can start runs and read results.'
                      : 'You need the manage_api_keys permission to create one.'}
                  </Text>
                </Empty>
              ) : (
                <KeyTable keys={shown} />
              )}
            </>
          );
        }}
      </Loaded>
      <Modal opened={creating} onClose={() => setCreating(false)} title="New API key">
        <KeyForm onClose={() => setCreating(false)} />
      </Modal>
    </Page>
  );
}

function KeyTable({ keys }: { keys: ApiKey[] }) {
  return (
    <RowTable
      label="API keys"
      columns={['Name', 'Prefix', 'Acts as', 'Created', 'Last used', 'Actions']}
    >
      {keys.map((key) => (
        <Table.Tr key={key.id}>
          <Table.Td>
            <UserText>{key.name}</UserText>
          </Table.Td>
          <Table.Td>
            <Code>{key.prefix}</Code>
          </Table.Td>
          <Table.Td>
            <KeyActor apiKey={key} />
          </Table.Td>
          <Table.Td>
            <When at={key.created_at} ago />
          </Table.Td>
          <Table.Td>
            {key.last_used_at === null ? 'never' : <When at={key.last_used_at} ago />}
          </Table.Td>
          <Table.Td>
            {key.revoked ? <Tag color="gray">Revoked</Tag> : <Revoke apiKey={key} />}
          </Table.Td>
        </Table.Tr>
      ))}
    </RowTable>
  );
}

function KeyActor({ apiKey: { member_id, role } }: { apiKey: ApiKey }) {
  const { data: members = [] } = useQuery(membersQuery);
  if (member_id === null) return role;
  const name = members.find(({ id }) => id === member_id)?.name ?? member_id;
  return (
    <>
      <TextLink size="sm" to="/members/$memberId" params={{ memberId: member_id }}>
        <UserText>{name}</UserText>
      </TextLink>
      , {role}
    </>
  );
}

function Revoke({ apiKey }: { apiKey: ApiKey }) {
  const revoke = useAction((id: string) => api().revokeApiKey(id), {
    changes: [keysKey, membersKey],
    done: 'API key revoked',
  });
  if (!useMay('manage_api_keys')) return null;
  const ask = (): void =>
    confirm({
      title: 'Revoke this API key?',
      consequence: (
        <>
          Requests with <UserText>{apiKey.name}</UserText> will fail immediately. You cannot undo
          this.
        </>
      ),
      confirmLabel: 'Revoke key',
      onConfirm: () => revoke.mutate(apiKey.id),
    });
  return (
    <Button
      size="compact-xs"
      variant="light"
      color="red"
      loading={revoke.isPending}
      onClick={ask}
      aria-label={`Revoke ${apiKey.name}`}
    >
      Revoke
    </Button>
  );
}
