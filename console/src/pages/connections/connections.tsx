import { Alert, Button, Code, Group, Modal, Table } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import type { OAuthConnection } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import { connections as text } from '#console/src/messages/en/workspace/connections.ts';
import { Row, RowTable } from '#console/src/parts/data/row-table.tsx';
import { Empty } from '#console/src/parts/empty.tsx';
import { SignInButton, signsIn } from '#console/src/parts/connections/sign-in-button.tsx';
import { useAction } from '#console/src/parts/forms/action.ts';
import { ActionButton } from '#console/src/parts/forms/action-button.tsx';
import { ButtonLink } from '#console/src/parts/links.tsx';
import { NewButton } from '#console/src/parts/forms/new-button.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { Page } from '#console/src/parts/page.tsx';
import { Tag } from '#console/src/parts/tag.tsx';
import { When } from '#console/src/parts/text/time.tsx';
import { useMay } from '#console/src/queries/identity.ts';
import { connectionsKey, connectionsQuery } from '#console/src/queries/workspace.ts';
import { ConnectionForm } from './connection-form.tsx';

const route = getRouteApi('/inside/connections');

/** Accounts at other services, whose access tokens workflows send. */
export function ConnectionsPage() {
  const connections = useQuery(connectionsQuery);
  const mayManage = useMay('manage_workspace');
  const { mcp_server: server } = route.useSearch();
  const navigate = route.useNavigate();
  const [edited, setEdited] = useState<OAuthConnection | 'new' | undefined>(
    server === undefined ? undefined : 'new',
  );
  const close = (): void => {
    setEdited(undefined);
    if (server !== undefined) void navigate({ search: {}, replace: true });
  };
  return (
    <Page
      title={text.title}
      about={text.about}
      actions={mayManage && <NewButton onClick={() => setEdited('new')}>{text.new}</NewButton>}
    >
      <SignInResult />
      <Loaded query={connections}>
        {(all) =>
          all.length === 0 ? (
            <Empty {...text.empty} missing={!mayManage && 'manage_workspace'}>
              {mayManage && <Button onClick={() => setEdited('new')}>{text.empty.create}</Button>}
            </Empty>
          ) : (
            <ConnectionTable connections={all} onEdit={mayManage ? setEdited : undefined} />
          )
        }
      </Loaded>
      <Modal
        opened={edited !== undefined && mayManage}
        onClose={close}
        title={edited === 'new' ? text.new : text.editTitle}
        size="lg"
        closeOnClickOutside={false}
      >
        <ConnectionForm
          record={edited === 'new' ? undefined : edited}
          server={server}
          onClose={close}
        />
      </Modal>
    </Page>
  );
}

/** How the sign-in ended that has led here. */
function SignInResult() {
  const { result, connection, reason = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const { data: all = [] } = useQuery(connectionsQuery);
  const found = all.find(({ id }) => id === connection);
  const mayImport = useMay('create_edit_workflows');
  if (result === undefined) return <ToSignIn connection={found} />;
  const { name, resource = null } = found ?? {};
  const nothing = { result: undefined, connection: undefined, reason: undefined };
  const dismiss = (): void => void navigate({ search: nothing, replace: true });
  if (result === 'connected') {
    return (
      <Alert
        color="success"
        role="status"
        withCloseButton
        closeButtonLabel={text.close}
        onClose={dismiss}
      >
        <Group gap="md">
          {name === undefined ? text.connected : text.connectedTo(name)}
          {resource !== null && mayImport && (
            <ButtonLink to="/tools" search={{ import: name }} size="compact-sm">
              {text.importTools}
            </ButtonLink>
          )}
        </Group>
      </Alert>
    );
  }
  const reasons: Readonly<Record<string, string>> = text.reasons;
  return (
    <Alert
      color="danger"
      role="alert"
      title={text.failed}
      withCloseButton
      closeButtonLabel={text.close}
      onClose={dismiss}
    >
      {Object.hasOwn(reasons, reason) ? reasons[reason] : text.reasons.unknown}
    </Alert>
  );
}

/** For a link to one connection, such as that of an error. */
function ToSignIn({ connection }: { connection: OAuthConnection | undefined }) {
  const may = useMay(signsIn(connection?.owner ?? 'workspace'));
  if (connection === undefined || !may || connection.grant === 'client_credentials') return null;
  if (connection.status === 'connected') return null;
  return (
    <Alert color="info" role="status">
      <Group gap="md">
        {text.toSignIn}
        <SignInButton connection={connection} size="sm" />
      </Group>
    </Alert>
  );
}

const COLUMNS = [
  words.name,
  text.account,
  text.status,
  text.allowedHosts,
  text.lastUsed,
  text.actions,
];
const colors = {
  not_signed_in: 'gray',
  connected: 'success',
  needs_sign_in: 'warning',
} as const satisfies Record<OAuthConnection['status'], string>;

function ConnectionTable({
  connections,
  onEdit,
}: {
  connections: OAuthConnection[];
  onEdit: ((connection: OAuthConnection) => void) | undefined;
}) {
  return (
    <RowTable label={text.table} columns={COLUMNS}>
      {connections.map((connection) => (
        <Row key={connection.id}>
          <Code>{connection.name}</Code>
          <Table.Td>{text.owners[connection.owner]}</Table.Td>
          <Table.Td>
            <Tag color={colors[connection.status]}>{text.statuses[connection.status]}</Tag>
          </Table.Td>
          <Table.Td>{connection.allowed_hosts.join(', ')}</Table.Td>
          {connection.last_used_at === null ? (
            text.never
          ) : (
            <When at={connection.last_used_at} ago />
          )}
          <Table.Td>
            <Group gap={4} wrap="nowrap">
              <Account connection={connection} />
              {onEdit !== undefined && (
                <>
                  <Button
                    size="compact-xs"
                    variant="light"
                    onClick={() => onEdit(connection)}
                    aria-label={text.edit(connection.name)}
                  >
                    {words.edit}
                  </Button>
                  <DeleteConnection connection={connection} />
                </>
              )}
            </Group>
          </Table.Td>
        </Row>
      ))}
    </RowTable>
  );
}

/** Signs in to the account of the workspace, or to one's own, and out of it. */
function Account({ connection }: { connection: OAuthConnection }) {
  const { id, name, owner, grant, status } = connection;
  const may = useMay(signsIn(owner));
  const disconnect = useAction(() => api().disconnectConnection(id), {
    changes: [connectionsKey],
    done: text.disconnected,
  });
  if (!may || grant === 'client_credentials') return null;
  if (status !== 'connected') return <SignInButton connection={connection} />;
  return (
    <ActionButton
      size="compact-xs"
      action={disconnect}
      input={undefined}
      ask={{ ...text.confirmDisconnect, values: { name } }}
      aria-label={text.disconnectFrom(name)}
    >
      {text.disconnect}
    </ActionButton>
  );
}

function DeleteConnection({ connection }: { connection: OAuthConnection }) {
  const { id, name } = connection;
  const remove = useAction(
    ({ etag }: OAuthConnection) => api().deleteConnection(id, { ifMatch: etag }),
    { changes: [connectionsKey], done: text.deleted },
  );
  return (
    <ActionButton
      size="compact-xs"
      action={remove}
      input={connection}
      ask={{ ...text.confirmDelete, values: { name } }}
      aria-label={text.delete(name)}
    >
      {words.delete}
    </ActionButton>
  );
}
