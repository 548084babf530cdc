import { Button, Code, Group, Modal, Table, Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Secret } from '../../../../client/index.ts';
import { api } from '../../api.ts';
import { RowTable } from '../../parts/data/row-table.tsx';
import { Empty } from '../../parts/empty.tsx';
import { useAction } from '../../parts/forms/action.ts';
import { confirm } from '../../parts/forms/confirm.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { When } from '../../parts/text/time.tsx';
import { UserText } from '../../parts/text/user-text.tsx';
import { useMay } from '../../queries/identity.ts';
import { secretsKey, secretsQuery } from '../../queries/secrets.ts';
import { SecretForm } from './secret-form.tsx';

/** Values that workflows send to other services. They can be replaced, and never read. */
export function SecretsPage() {
  const secrets = useQuery(secretsQuery);
  const mayManage = useMay('manage_workspace');
  const [edited, setEdited] = useState<Secret | 'new'>();
  const close = (): void => setEdited(undefined);
  return (
    <Page
      title="Secrets"
      about="Values that workflows send to allowed hosts, as {secrets.NAME}. No one can read them here."
      actions={
        mayManage && (
          <Button leftSection={<IconPlus size={16} />} onClick={() => setEdited('new')}>
            New secret
          </Button>
        )
      }
    >
      <Loaded query={secrets}>
        {(all) =>
          all.length === 0 ? (
            <Empty title="No secrets yet">
              <Text size="sm" c="dimmed">
                {mayManage
                  ? 'Create a secret to use it in headers, query and body of requests.'
                  : 'You need the manage_workspace permission to create one.'}
              </Text>
            </Empty>
          ) : (
            <SecretTable secrets={all} onReplace={mayManage ? setEdited : undefined} />
          )
        }
      </Loaded>
      <Modal
        opened={edited !== undefined}
        onClose={close}
        title={edited === 'new' ? 'New secret' : `Replace ${edited?.name ?? ''}`}
      >
        <SecretForm secret={edited === 'new' ? undefined : edited} onClose={close} />
      </Modal>
    </Page>
  );
}

const COLUMNS = ['Name', 'Allowed hosts', 'Description', 'Updated', 'Last used'];

function SecretTable({
  secrets,
  onReplace,
}: {
  secrets: Secret[];
  onReplace: ((secret: Secret) => void) | undefined;
}) {
  return (
    <RowTable label="Secrets" columns={onReplace === undefined ? COLUMNS : [...COLUMNS, 'Actions']}>
      {secrets.map((secret) => (
        <Table.Tr key={secret.name}>
          <Table.Td>
            <Code>{secret.name}</Code>
          </Table.Td>
          <Table.Td>{secret.allowed_hosts.join(', ')}</Table.Td>
          <Table.Td>
            <UserText>{secret.description}</UserText>
          </Table.Td>
          <Table.Td>
            <When at={secret.updated_at} ago />
          </Table.Td>
          <Table.Td>
            {secret.last_used_at === null ? 'never' : <When at={secret.last_used_at} ago />}
          </Table.Td>
          {onReplace !== undefined && (
            <Table.Td>
              <Group gap={4} wrap="nowrap">
                <Button
                  size="compact-xs"
                  variant="light"
                  onClick={() => onReplace(secret)}
                  aria-label={`Replace ${secret.name}`}
                >
                  Replace
                </Button>
                <DeleteSecret name={secret.name} />
              </Group>
            </Table.Td>
          )}
        </Table.Tr>
      ))}
    </RowTable>
  );
}

function DeleteSecret({ name }: { name: string }) {
  const remove = useAction(() => api().deleteSecret(name), {
    changes: [secretsKey],
    done: 'Secret deleted',
  });
  const ask = (): void =>
    confirm({
      title: 'Delete this secret?',
      consequence: `Steps that send ${name} will fail. You cannot undo this.`,
      confirmLabel: 'Delete secret',
      onConfirm: () => remove.mutate(undefined),
    });
  return (
    <Button
      size="compact-xs"
      variant="light"
      color="red"
      loading={remove.isPending}
      onClick={ask}
      aria-label={`Delete ${name}`}
    >
      Delete
    </Button>
  );
}
