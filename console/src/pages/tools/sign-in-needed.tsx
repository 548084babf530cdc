import {
  Alert,
  Button,
  Group,
  NativeSelect,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { NeededSignIn, OAuthConnection } from '#client/index.ts';
import { SECRET_NAME } from '#shared/values/secrets.ts';
import { api } from '#console/src/api.ts';
import { neededSignIn as text } from '#console/src/messages/en/workspace/connections.ts';
import { Message } from '#console/src/messages/message.tsx';
import { connectionOfServer } from '#console/src/pages/connections/connection-draft.ts';
import { SignInButton, signsIn } from '#console/src/parts/connections/sign-in-button.tsx';
import { useAction } from '#console/src/parts/forms/action.ts';
import { Failure } from '#console/src/parts/failure.tsx';
import { TextLink } from '#console/src/parts/links.tsx';
import { useMay } from '#console/src/queries/identity.ts';
import { connectionsKey, connectionsQuery } from '#console/src/queries/workspace.ts';

const owners = Object.entries(text.owners).map(([value, label]) => ({ value, label }));

/** What to do about an MCP server that requires sign-in: use its connection, sign in to it, or create it. */
export function SignInNeeded({
  needed,
  chosen,
  onUse,
}: {
  needed: NeededSignIn;
  /** The connection of the present request. */
  chosen: string | undefined;
  onUse?: (connection: string) => void;
}) {
  const { data: all = [] } = useQuery(connectionsQuery);
  const known = all.find(({ id }) => id === needed.connection?.id);
  return (
    <Alert color="info" role="alert" title={text.title}>
      <Stack gap="sm">
        <Text size="sm">
          <Message
            text={needed.issuer === null ? text.about : text.aboutIssuer}
            values={{ server: needed.resource, issuer: needed.issuer ?? '' }}
          />
        </Text>
        {known === undefined ? (
          <NewConnection needed={needed} />
        ) : (
          <KnownConnection connection={known} chosen={chosen} onUse={onUse} />
        )}
      </Stack>
    </Alert>
  );
}

function KnownConnection({
  connection,
  chosen,
  onUse,
}: {
  connection: OAuthConnection;
  chosen: string | undefined;
  onUse: ((connection: string) => void) | undefined;
}) {
  const { name, owner, status } = connection;
  const mayImport = useMay('run_workflows');
  const maySignIn = useMay(signsIn(owner));
  const isReady = status === 'connected' && chosen !== name && onUse !== undefined && mayImport;
  if (!isReady && !maySignIn) return <Text size="sm">{text.needs(signsIn(owner))}</Text>;
  return (
    <Group gap="xs">
      {isReady && (
        <Button size="sm" onClick={() => onUse(name)}>
          {text.use(name)}
        </Button>
      )}
      {!isReady && <SignInButton connection={connection} size="sm" />}
    </Group>
  );
}

/** Creates a connection to the server and leads to its sign-in. */
function NewConnection({ needed: { resource } }: { needed: NeededSignIn }) {
  const mayManage = useMay('manage_workspace');
  const [name, setName] = useState(() => connectionOfServer(resource));
  const [owner, setOwner] = useState<OAuthConnection['owner']>('workspace');
  const create = useAction(
    async () => {
      const { id } = await api().createConnection({ name, owner, mcp_server_url: resource });
      return api().authorizeConnection(id);
    },
    {
      changes: [connectionsKey],
      quiet: true,
      onDone: ({ authorization_url: url }) => window.location.assign(url),
    },
  );
  if (!mayManage) return <Text size="sm">{text.needs('manage_workspace')}</Text>;
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        <TextInput
          label={text.name}
          maxLength={64}
          value={name}
          onChange={({ currentTarget: { value } }) => setName(value)}
          error={SECRET_NAME.test(name) ? undefined : text.wrongName}
        />
        <NativeSelect
          label={text.owner}
          data={owners}
          value={owner}
          onChange={({ currentTarget: { value } }) => setOwner(value as typeof owner)}
        />
      </SimpleGrid>
      {create.error !== null && (
        <>
          <Failure error={create.error} />
          <TextLink to="/connections" search={{ mcp_server: resource }} size="sm">
            {text.giveClient}
          </TextLink>
        </>
      )}
      <Group gap="xs">
        <Button
          size="sm"
          loading={create.isPending}
          disabled={!SECRET_NAME.test(name)}
          onClick={() => create.mutate(undefined)}
        >
          {text.create}
        </Button>
      </Group>
      <Text size="xs">{text.leaves}</Text>
    </>
  );
}
