import { Button, Group, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { Member, Role } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import { inviteForm as text, inviteLink } from '#console/src/messages/en/people/invitations.ts';
import { people } from '#console/src/messages/en/people/shared.ts';
import { Message } from '#console/src/messages/message.tsx';
import { useAction } from '#console/src/parts/forms/action.ts';
import { Form } from '#console/src/parts/forms/form.tsx';
import { Snippet } from '#console/src/parts/code/snippet.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { membersKey } from '#console/src/queries/members.ts';
import { workspaceQuery } from '#console/src/queries/workspace.ts';
import { inviteUrl } from './invite-link.tsx';
import { roleOptions } from './roles.ts';

/** Invites a member, then shows the invitation to send. */
export function InviteForm({ onClose }: { onClose: () => void }) {
  const form = useForm({ initialValues: { name: '', email: '', role: 'editor' as Role } });
  const { name, email } = form.values;
  const invite = useAction(
    (input: { name: string; email: string; role: Role }) => api().inviteMember(input),
    { changes: [membersKey, workspaceQuery.queryKey], quiet: true },
  );
  if (invite.data !== undefined) return <Invited member={invite.data} onClose={onClose} />;
  return (
    <Form
      action={invite}
      submit={text.send}
      onSubmit={() => invite.mutate(form.values)}
      onCancel={onClose}
      ready={name.trim() !== '' && email.includes('@')}
    >
      <TextInput
        label={words.name}
        maxLength={200}
        autoComplete="off"
        required
        data-autofocus
        {...form.getInputProps('name')}
      />
      <TextInput
        type="email"
        label={words.email}
        maxLength={254}
        autoComplete="off"
        required
        {...form.getInputProps('email')}
      />
      <NativeSelect
        label={people.role}
        description={text.aboutRole}
        data={roleOptions}
        {...form.getInputProps('role')}
      />
    </Form>
  );
}

function Invited({ member, onClose }: { member: Member; onClose: () => void }) {
  return (
    <Stack gap="sm">
      <Text size="sm">
        <Message text={text.sendLink} values={{ name: member.name }} />
      </Text>
      {member.invite_code !== null && (
        <>
          <Snippet text={inviteUrl(member.invite_code)} what={inviteLink.whatLink} />
          <Text size="sm">{text.orSendCode}</Text>
          <Snippet text={member.invite_code} what={inviteLink.whatCode} />
          <Dimmed size="xs">{text.aboutCode}</Dimmed>
        </>
      )}
      <Group justify="flex-end">
        <Button onClick={onClose}>{words.done}</Button>
      </Group>
    </Stack>
  );
}
