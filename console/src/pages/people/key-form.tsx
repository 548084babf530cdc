import { NativeSelect, Select, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { BodyOf, CreatedApiKey, Role } from '../../../../client/index.ts';
import { api } from '../../api.ts';
import { apiUrl } from '../../document.ts';
import { useAction } from '../../parts/action.ts';
import { Form } from '../../parts/form.tsx';
import { showSecretOnce } from '../../parts/secret-once.tsx';
import { keysKey } from '../../queries/keys.ts';
import { membersKey, membersQuery } from '../../queries/members.ts';
import { roleOptions } from './roles.ts';

/** Makes a key, of a role or of a member, and shows its secret this once. */
export function KeyForm({ onClose }: { onClose: () => void }) {
  const { data: members = [] } = useQuery(membersQuery);
  const [name, setName] = useState('');
  const [memberId, setMemberId] = useState<string | null>(null);
  const [role, setRole] = useState<Role>('editor');
  const create = useAction((body: BodyOf<'POST /api/keys'>) => api().createApiKey(body), {
    changes: [keysKey, membersKey],
    onDone: (key) => {
      onClose();
      showKey(key);
    },
    quiet: true,
  });
  const send = (): void =>
    create.mutate(memberId === null ? { name, role } : { name, member_id: memberId });
  return (
    <Form
      action={create}
      submit="Create"
      onSubmit={send}
      onCancel={onClose}
      ready={name.trim() !== ''}
    >
      <TextInput
        label="Name"
        description="What will use it"
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        maxLength={200}
        required
        data-autofocus
      />
      <Select
        label="Member"
        description="A linked key may do what its member may at that moment, and ends with them."
        placeholder="Nobody: the key acts in its own name"
        value={memberId}
        onChange={setMemberId}
        data={members
          .filter(({ status }) => status === 'active')
          .map((member) => ({ value: member.id, label: `${member.name}, ${member.role}` }))}
        searchable
        clearable
        clearButtonProps={{ 'aria-label': 'Nobody' }}
      />
      {memberId === null && (
        <NativeSelect
          label="Role"
          value={role}
          onChange={(event) => setRole(event.currentTarget.value as Role)}
          data={roleOptions}
        />
      )}
    </Form>
  );
}

function showKey({ name, secret }: CreatedApiKey): void {
  showSecretOnce({
    title: `The key of ${name}`,
    secret,
    use: `curl -s ${apiUrl}/api/auth/me -H 'X-API-Key: ${secret}'`,
  });
}
