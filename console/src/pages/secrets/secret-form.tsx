import { PasswordInput, TagsInput, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Secret } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import { secretForm as text } from '#console/src/messages/en/workspace/secrets.ts';
import { Edited, type Editing, useEdit } from '#console/src/parts/forms/edited.tsx';
import { Form } from '#console/src/parts/forms/form.tsx';
import { secretsKey } from '#console/src/queries/secrets.ts';

/** No secret has its value when it is read. The one that a person has entered survives a reload of the form. */
type EnteredSecret = Secret & { value?: string };

/** Creates a secret, or replaces the value and the hosts of one. */
export function SecretForm({
  secret,
  onClose,
}: {
  secret: Secret | undefined;
  onClose: () => void;
}) {
  return (
    <Edited<EnteredSecret> record={secret}>
      {(editing) => <SecretFields editing={editing} onClose={onClose} />}
    </Edited>
  );
}

function SecretFields({
  editing,
  onClose,
}: {
  editing: Editing<EnteredSecret> | undefined;
  onClose: () => void;
}) {
  const secret = editing?.record;
  const [name, setName] = useState(secret?.name ?? '');
  const [value, setValue] = useState(secret?.value ?? '');
  const [hosts, setHosts] = useState(secret?.allowed_hosts ?? []);
  const [description, setDescription] = useState(secret?.description ?? '');
  const fields = { value, allowed_hosts: hosts, description };
  const save = useEdit<EnteredSecret, Secret>(
    editing,
    fields,
    (known) => api().putSecret(name, fields, known),
    {
      changes: [secretsKey],
      done: secret === undefined ? text.created : text.replaced,
      onDone: onClose,
    },
  );
  return (
    <Form
      action={save}
      submit={secret === undefined ? text.create : text.replace}
      onSubmit={() => save.mutate(undefined)}
      onCancel={onClose}
      ready={name !== '' && value !== '' && hosts.length > 0}
    >
      <TextInput
        label={words.name}
        description={text.aboutName}
        placeholder="CRM_API_KEY"
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        maxLength={64}
        required
        disabled={secret !== undefined}
        data-autofocus={secret === undefined}
      />
      <ValueInput value={value} onChange={setValue} focused={secret !== undefined} />
      <TagsInput
        label={text.allowedHosts}
        description={text.aboutAllowedHosts}
        placeholder="api.example.com"
        value={hosts}
        onChange={setHosts}
        required
      />
      <TextInput
        label={words.description}
        value={description}
        onChange={(event) => setDescription(event.currentTarget.value)}
        maxLength={1_000}
      />
    </Form>
  );
}

function ValueInput({
  value,
  onChange,
  focused,
}: {
  value: string;
  onChange: (value: string) => void;
  focused: boolean;
}) {
  return (
    <PasswordInput
      label={text.value}
      description={text.aboutValue}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      autoComplete="off"
      required
      data-autofocus={focused}
    />
  );
}
