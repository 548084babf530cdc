import { Button, Group, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Member, Role } from '../../../../client/index.ts';
import { api } from '../../api.ts';
import { useAction } from '../../parts/action.ts';
import { UserText } from '../../parts/user-text.tsx';
import { Form } from '../../parts/form.tsx';
import { Snippet } from '../../parts/snippet.tsx';
import { membersKey } from '../../queries/members.ts';
import { workspaceQuery } from '../../queries/workspace.ts';
import { inviteUrl } from './invite-link.tsx';
import { roleOptions } from './roles.ts';

/** Invites somebody, then shows what to send them. */
export function InviteForm({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('editor');
  const invite = useAction(
    (input: { name: string; email: string; role: Role }) => api().inviteMember(input),
    { changes: [membersKey, workspaceQuery.queryKey], quiet: true },
  );
  if (invite.data !== undefined) return <Invited member={invite.data} onClose={onClose} />;
  return (
    <Form
      action={invite}
      submit="Invite"
      onSubmit={() => invite.mutate({ name, email, role })}
      onCancel={onClose}
      ready={name.trim() !== '' && email.includes('@')}
    >
      <TextInput
        label="Name"
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        maxLength={200}
        autoComplete="off"
        required
        data-autofocus
      />
      <TextInput
        type="email"
        label="E-mail"
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
        maxLength={254}
        autoComplete="off"
        required
      />
      <NativeSelect
        label="Role"
        description="You cannot give more than you hold yourself."
        value={role}
        onChange={(event) => setRole(event.currentTarget.value as Role)}
        data={roleOptions}
      />
    </Form>
  );
}

function Invited({ member, onClose }: { member: Member; onClose: () => void }) {
  return (
    <Stack gap="sm">
      <Text size="sm">
        <UserText>{member.name}</UserText> is invited. Send them this link; where the service has an
        e-mail provider, it is mailed too.
      </Text>
      {member.invite_code !== null && (
        <>
          <Snippet text={inviteUrl(member.invite_code)} what="the invitation link" />
          <Text size="sm">Or the code alone:</Text>
          <Snippet text={member.invite_code} what="the invitation code" />
          <Text size="xs" c="dimmed">
            Whoever has the code can come in as them. It works once, for some days. The list shows
            until when, and makes another one.
          </Text>
        </>
      )}
      <Group justify="flex-end">
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  );
}
