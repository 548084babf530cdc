import { Button, Code, Group, Modal, Table } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Secret } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import { secrets as text } from '#console/src/messages/en/workspace/secrets.ts';
import { NewButton } from '#console/src/parts/forms/new-button.tsx';
import { Row, RowTable } from '#console/src/parts/data/row-table.tsx';
import { Empty } from '#console/src/parts/empty.tsx';
import { useAction } from '#console/src/parts/forms/action.ts';
import { ActionButton } from '#console/src/parts/forms/action-button.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { Page } from '#console/src/parts/page.tsx';
import { When } from '#console/src/parts/text/time.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { useMay } from '#console/src/queries/identity.ts';
import { secretsKey, secretsQuery } from '#console/src/queries/workspace.ts';
import { SecretForm } from './secret-form.tsx';

/** Values that workflows send to other services. They can be replaced, but never read. */
export function SecretsPage() {
  const secrets = useQuery(secretsQuery);
  const mayManage = useMay('manage_workspace');
  const [edited, setEdited] = useState<Secret | 'new'>();
  const close = (): void => setEdited(undefined);
  return (
    <Page
      title={text.title}
      about={text.about}
      actions={mayManage && <NewButton onClick={() => setEdited('new')}>{text.new}</NewButton>}
    >
      <Loaded query={secrets}>
        {(all) =>
          all.length === 0 ? (
            <Empty {...text.empty} missing={!mayManage && 'manage_workspace'}>
              {mayManage && <Button onClick={() => setEdited('new')}>{text.empty.create}</Button>}
            </Empty>
          ) : (
            <SecretTable secrets={all} onReplace={mayManage ? setEdited : undefined} />
          )
        }
      </Loaded>
      <Modal
        opened={edited !== undefined}
        onClose={close}
        title={edited === 'new' ? text.new : text.replaceSecret(edited?.name ?? '')}
      >
        <SecretForm record={edited === 'new' ? undefined : edited} onClose={close} />
      </Modal>
    </Page>
  );
}

const COLUMNS = [words.name, text.allowedHosts, words.description, text.updated, text.lastUsed];

function SecretTable({
  secrets,
  onReplace,
}: {
  secrets: Secret[];
  onReplace: ((secret: Secret) => void) | undefined;
}) {
  return (
    <RowTable
      label={text.table}
      columns={onReplace === undefined ? COLUMNS : [...COLUMNS, text.actions]}
    >
      {secrets.map((secret) => (
        <Row key={secret.name}>
          <Code>{secret.name}</Code>
          <Table.Td>{secret.allowed_hosts.join(', ')}</Table.Td>
          <UserText>{secret.description}</UserText>
          <When at={secret.updated_at} ago />
          {secret.last_used_at === null ? text.never : <When at={secret.last_used_at} ago />}
          {onReplace !== undefined && (
            <Table.Td>
              <Group gap={4} wrap="nowrap">
                <Button
                  size="compact-xs"
                  variant="light"
                  onClick={() => onReplace(secret)}
                  aria-label={text.replaceSecret(secret.name)}
                >
                  {text.replace}
                </Button>
                <DeleteSecret secret={secret} />
              </Group>
            </Table.Td>
          )}
        </Row>
      ))}
    </RowTable>
  );
}

function DeleteSecret({ secret }: { secret: Secret }) {
  const { name } = secret;
  const remove = useAction(({ etag }: Secret) => api().deleteSecret(name, { ifMatch: etag }), {
    changes: [secretsKey],
    done: text.deleted,
  });
  return (
    <ActionButton
      size="compact-xs"
      action={remove}
      input={secret}
      ask={{ ...text.confirmDelete, values: { name } }}
      aria-label={text.deleteSecret(name)}
    >
      {words.delete}
    </ActionButton>
  );
}
