import { Checkbox, NativeSelect, Select, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import type { BodyOf, CreatedApiKey, Role } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { apiUrl } from '#console/src/document.ts';
import { words } from '#console/src/messages/en/words.ts';
import { keyForm as text } from '#console/src/messages/en/people/keys.ts';
import { roleNamesInText } from '#console/src/messages/en/parts/roles.ts';
import { people } from '#console/src/messages/en/people/shared.ts';
import { useAction } from '#console/src/parts/forms/action.ts';
import { Form } from '#console/src/parts/forms/form.tsx';
import { showSecretOnce } from '#console/src/parts/forms/secret-once.tsx';
import { keysKey } from '#console/src/queries/workspace.ts';
import { membersKey, membersQuery } from '#console/src/queries/members.ts';
import { roleOptions } from './roles.ts';

/** Creates a key for a role or a member, and shows its secret once. */
export function KeyForm({ onClose }: { onClose: () => void }) {
  const { data: members = [] } = useQuery(membersQuery);
  const form = useForm({
    initialValues: {
      name: '',
      memberId: null as string | null,
      role: 'editor' as Role,
      decide: true,
    },
  });
  const { name, memberId, role, decide } = form.values;
  const create = useAction((body: BodyOf<'POST /api/keys'>) => api().createApiKey(body), {
    changes: [keysKey, membersKey],
    onDone: (key) => {
      onClose();
      showKey(key);
    },
    quiet: true,
  });
  const send = (): void =>
    create.mutate({ name, decide, ...(memberId === null ? { role } : { member_id: memberId }) });
  return (
    <Form
      action={create}
      submit={text.create}
      onSubmit={send}
      onCancel={onClose}
      ready={name.trim() !== ''}
    >
      <TextInput
        label={words.name}
        description={text.aboutName}
        maxLength={200}
        required
        data-autofocus
        {...form.getInputProps('name')}
      />
      <Select
        label={words.member}
        description={text.aboutMember}
        placeholder={text.noMember}
        data={members
          .filter(({ status }) => status === 'active')
          .map((member) => ({
            value: member.id,
            label: `${member.name}, ${roleNamesInText[member.role]}`,
          }))}
        searchable
        clearable
        clearButtonProps={{ 'aria-label': text.clearMember }}
        {...form.getInputProps('memberId')}
      />
      {memberId === null && (
        <NativeSelect label={people.role} data={roleOptions} {...form.getInputProps('role')} />
      )}
      <Checkbox
        label={text.decide}
        description={text.aboutDecide}
        {...form.getInputProps('decide', { type: 'checkbox' })}
      />
    </Form>
  );
}

function showKey({ name, secret }: CreatedApiKey): void {
  showSecretOnce({
    title: text.created(name),
    secret,
    use: `curl -s ${apiUrl}/api/auth/me -H 'X-API-Key: ${secret}'`,
  });
}
