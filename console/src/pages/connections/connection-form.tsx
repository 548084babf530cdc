import { Group, NativeSelect, PasswordInput, TagsInput, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import type { OAuthConnection } from '#client/index.ts';
import { SECRET_NAME } from '#shared/values/secrets.ts';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import { connectionForm as text } from '#console/src/messages/en/workspace/connections.ts';
import { Snippet } from '#console/src/parts/code/snippet.tsx';
import { editForm, useEdit } from '#console/src/parts/forms/edited.tsx';
import { Form } from '#console/src/parts/forms/form.tsx';
import { connectionPresetsQuery, connectionsKey } from '#console/src/queries/workspace.ts';
import {
  changesOf,
  draftOf,
  inputOf,
  isComplete,
  MCP_SERVER,
  withPreset,
} from './connection-draft.ts';

const owners = Object.entries(text.owners).map(([value, label]) => ({ value, label }));
const grants = Object.entries(text.grants).map(([value, label]) => ({ value, label }));

/** Creates a connection, or changes it. Its name, account and sign-in cannot change. */
export const ConnectionForm = editForm<
  OAuthConnection,
  {
    /** The MCP server that a new connection is for. */
    server: string | undefined;
    onClose: () => void;
  },
  undefined
>(function ConnectionFields({ editing, server, onClose }) {
  const connection = editing?.record;
  const form = useForm({
    initialValues: connection === undefined ? draftOf(undefined, server) : draftOf(connection),
  });
  const { values } = form;
  const { data: presets = [] } = useQuery(connectionPresetsQuery);
  const changes = connection === undefined ? {} : changesOf(connection, values);
  const { client_secret: _secret, ...shown } = changes;
  const save = useEdit<OAuthConnection, OAuthConnection>(
    editing,
    shown,
    (known) =>
      connection === undefined
        ? api().createConnection(inputOf(values))
        : api().updateConnection(connection.id, changes, known),
    {
      changes: [connectionsKey],
      done: connection === undefined ? text.created : text.saved,
      onDone: onClose,
    },
  );
  const isNew = connection === undefined;
  const isServer = values.preset === MCP_SERVER;
  // The metadata of an MCP server gives the addresses; later they can be changed.
  const isFound = isNew && isServer;
  return (
    <Form
      action={save}
      submit={isNew ? text.create : words.saveChanges}
      onCancel={onClose}
      ready={isComplete(values)}
    >
      <Group grow align="flex-start">
        <NativeSelect
          label={text.service}
          data={[
            { value: '', label: text.other },
            { value: MCP_SERVER, label: text.mcpServer },
            ...presets.map(({ id, label }) => ({ value: id, label })),
          ]}
          disabled={!isNew}
          value={values.preset}
          onChange={({ currentTarget: { value } }) =>
            form.setValues({
              ...withPreset(
                values,
                presets.find(({ id }) => id === value),
              ),
              ...(value === MCP_SERVER ? { preset: MCP_SERVER } : {}),
            })
          }
        />
        <TextInput
          label={words.name}
          description={text.aboutName}
          placeholder="SLACK"
          maxLength={64}
          required
          disabled={!isNew}
          {...form.getInputProps('name')}
          error={values.name === '' || SECRET_NAME.test(values.name) ? undefined : text.wrongName}
        />
      </Group>
      {isFound && (
        <TextInput
          type="url"
          label={text.serverUrl}
          description={text.aboutServer}
          placeholder="https://tools.example.com/mcp"
          maxLength={2_000}
          required
          {...form.getInputProps('server')}
        />
      )}
      {isNew && (
        <Group grow align="flex-start">
          <NativeSelect label={text.owner} data={owners} {...form.getInputProps('owner')} />
          {values.preset === '' && values.owner === 'workspace' && (
            <NativeSelect label={text.grant} data={grants} {...form.getInputProps('grant')} />
          )}
        </Group>
      )}
      <Group grow align="flex-start">
        <TextInput
          label={text.clientId}
          description={isFound ? text.aboutOwnClient : undefined}
          maxLength={1_000}
          required={!isFound}
          {...form.getInputProps('client_id')}
        />
        <PasswordInput
          label={text.clientSecret}
          description={isNew ? text.aboutClientSecret : text.aboutNewSecret}
          autoComplete="off"
          {...form.getInputProps('client_secret')}
        />
      </Group>
      {(values.preset === '' || (isServer && !isNew)) && (
        <TextInput
          type="url"
          label={text.issuer}
          description={text.aboutIssuer}
          placeholder="https://login.example.com"
          maxLength={2_000}
          {...form.getInputProps('issuer')}
        />
      )}
      {values.grant === 'authorization_code' && !isFound && (
        <TextInput
          type="url"
          label={text.authorizationUrl}
          maxLength={2_000}
          required={values.issuer === ''}
          {...form.getInputProps('authorization_url')}
        />
      )}
      {!isFound && (
        <TextInput
          type="url"
          label={text.tokenUrl}
          maxLength={2_000}
          required={values.issuer === ''}
          {...form.getInputProps('token_url')}
        />
      )}
      <TagsInput
        label={text.scopes}
        description={text.aboutScopes}
        {...form.getInputProps('scopes')}
      />
      {!isFound && (
        <TagsInput
          label={text.allowedHosts}
          description={text.aboutAllowedHosts}
          placeholder="api.example.com"
          required
          {...form.getInputProps('allowed_hosts')}
        />
      )}
      {typeof connection?.callback_url === 'string' && (
        <>
          <Text size="sm">{text.callback}</Text>
          <Text size="xs">{text.aboutCallback}</Text>
          <Snippet text={connection.callback_url} what={text.whatCallback} />
        </>
      )}
    </Form>
  );
});
