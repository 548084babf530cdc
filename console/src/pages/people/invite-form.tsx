import { Button, Group, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Member, Role } from '../../../../client/index.ts';
import { api } from '../../api.ts';
import { useAction } from '../../parts/forms/action.ts';
import { UserText } from '../../parts/text/user-text.tsx';
import { Form } from '../../parts/forms/form.tsx';
import { Snippet } from '../../parts/code/snippet.tsx';
import { membersKey } from '../../queries/members.ts';
import { workspaceQuery } from '../../queries/workspace.ts';
import { inviteUrl } from './invite-link.tsx';
import { roleOptions } from './roles.ts';

/** Invites a member, then shows the invitation to send. */
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
      submit="Send invitation"
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
        label="Email"
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
        maxLength={254}
        autoComplete="off"
        required
      />
      <NativeSelect
        label="Role"
        description="You can only assign roles up to your own permissions."
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
        Send <UserText>{member.name}</UserText> this link. If an email provider is configured, they
        also get it by email.
      </Text>
      {member.invite_code !== null && (
        <>
          <Snippet text={inviteUrl(member.invite_code)} what="the invitation link" />
          <Text size="sm">Or send only the code:</Text>
          <Snippet text={member.invite_code} what="the invitation code" />
          <Text size="xs" c="dimmed">
            Anyone with the code can join as this member. It works once and expires after a few
            days. The member list shows the expiry date and can create a new code.
          </Text>
        </>
      )}
      <Group justify="flex-end">
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  );
}
