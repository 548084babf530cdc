import { PasswordInput, TagsInput, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { Secret } from '#client/index.ts';
import { MIN_SECRET_LENGTH, SECRET_NAME } from '#shared/values/secrets.ts';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import { secretForm as text } from '#console/src/messages/en/workspace/secrets.ts';
import { editForm, useEdit } from '#console/src/parts/forms/edited.tsx';
import { Form } from '#console/src/parts/forms/form.tsx';
import { secretsKey } from '#console/src/queries/workspace.ts';

/** A secret that was read has no value. A value that the user has entered survives a reload of the form. */
type EnteredSecret = Secret & { value?: string };

/** Creates a secret, or replaces its value and hosts. */
export const SecretForm = editForm<EnteredSecret, { onClose: () => void }, undefined>(
  function SecretFields({ editing, onClose }) {
    const secret = editing?.record;
    const form = useForm({
      initialValues: {
        name: secret?.name ?? '',
        value: secret?.value ?? '',
        allowed_hosts: secret?.allowed_hosts ?? [],
        description: secret?.description ?? '',
      },
    });
    const { name, ...fields } = form.values;
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
        onCancel={onClose}
        ready={
          SECRET_NAME.test(name) &&
          fields.value.trim().length >= MIN_SECRET_LENGTH &&
          fields.allowed_hosts.length > 0
        }
      >
        <TextInput
          label={words.name}
          description={text.aboutName}
          placeholder="CRM_API_KEY"
          maxLength={64}
          required
          disabled={secret !== undefined}
          data-autofocus={secret === undefined}
          {...form.getInputProps('name')}
          error={name === '' || SECRET_NAME.test(name) ? undefined : text.wrongName}
        />
        <PasswordInput
          label={words.value}
          description={text.aboutValue}
          autoComplete="off"
          required
          data-autofocus={secret !== undefined}
          {...form.getInputProps('value')}
          error={
            fields.value === '' || fields.value.trim().length >= MIN_SECRET_LENGTH
              ? undefined
              : text.shortValue(MIN_SECRET_LENGTH)
          }
        />
        <TagsInput
          label={text.allowedHosts}
          description={text.aboutAllowedHosts}
          placeholder="api.example.com"
          required
          {...form.getInputProps('allowed_hosts')}
        />
        <TextInput
          label={words.description}
          maxLength={1_000}
          {...form.getInputProps('description')}
        />
      </Form>
    );
  },
);
