import { PasswordInput, TagsInput, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Secret } from '../../../../client/index.ts';
import { api } from '../../api.ts';
import { useAction } from '../../parts/forms/action.ts';
import { Form } from '../../parts/forms/form.tsx';
import { secretsKey } from '../../queries/secrets.ts';

/** Creates a secret, or replaces the value and the hosts of one. */
export function SecretForm({
  secret,
  onClose,
}: {
  secret: Secret | undefined;
  onClose: () => void;
}) {
  const [name, setName] = useState(secret?.name ?? '');
  const [value, setValue] = useState('');
  const [hosts, setHosts] = useState(secret?.allowed_hosts ?? []);
  const [description, setDescription] = useState(secret?.description ?? '');
  const save = useAction(
    () => api().putSecret(name, { value, allowed_hosts: hosts, description }),
    {
      changes: [secretsKey],
      done: secret === undefined ? 'Secret created' : 'Secret replaced',
      onDone: onClose,
      quiet: true,
    },
  );
  return (
    <Form
      action={save}
      submit={secret === undefined ? 'Create secret' : 'Replace secret'}
      onSubmit={() => save.mutate(undefined)}
      onCancel={onClose}
      ready={name !== '' && value !== '' && hosts.length > 0}
    >
      <TextInput
        label="Name"
        description="Capital letters, digits and _. Workflows refer to it as {secrets.NAME}."
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
        label="Allowed hosts"
        description="The only hosts that receive the value. Press Enter after each."
        placeholder="api.example.com"
        value={hosts}
        onChange={setHosts}
        required
      />
      <TextInput
        label="Description"
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
      label="Value"
      description="At least 8 characters. It is never shown again."
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      autoComplete="off"
      required
      data-autofocus={focused}
    />
  );
}
