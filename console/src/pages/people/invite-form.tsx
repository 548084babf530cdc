import { Button, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
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
import { Footer } from '#console/src/parts/forms/footer.tsx';

/** A role, or a viewer who can also decide at gates. */
type Preset = Role | 'approver';

const presetOptions = [
  ...roleOptions.slice(0, 1),
  { value: 'approver', label: text.approver },
  ...roleOptions.slice(1),
];

async function inviteAs({
  role,
  ...person
}: {
  name: string;
  email: string;
  role: Preset;
}): Promise<Member> {
  if (role !== 'approver') return api().inviteMember({ ...person, role });
  const member = await api().inviteMember({ ...person, role: 'viewer' });
  // New permissions replace the code of an invitation. Not every service shows it again.
  const changed = await api().changePermissions(
    member.id,
    { approve_gates: true },
    { ifMatch: member.etag },
  );
  return changed.invite_code === null ? api().renewInvite(member.id) : changed;
}

/** Invites a member, then shows the invitation to send. */
export function InviteForm({ onClose }: { onClose: () => void }) {
  const form = useForm({ initialValues: { name: '', email: '', role: 'editor' as Preset } });
  const { name, email } = form.values;
  const invite = useAction(inviteAs, {
    changes: [membersKey, workspaceQuery.queryKey],
    quiet: true,
  });
  const byEmail = useQuery(workspaceQuery).data?.invitations_by_email === true;
  if (invite.data !== undefined) {
    return <Invited member={invite.data} byEmail={byEmail} onClose={onClose} />;
  }
  return (
    <Form
      action={invite}
      submit={byEmail ? text.send : text.create}
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
        data={presetOptions}
        {...form.getInputProps('role')}
      />
      <Dimmed size="xs">{byEmail ? text.byEmail : text.noEmail}</Dimmed>
    </Form>
  );
}

function Invited({
  member,
  byEmail,
  onClose,
}: {
  member: Member;
  byEmail: boolean;
  onClose: () => void;
}) {
  return (
    <Stack gap="sm">
      <Text size="sm">
        <Message text={byEmail ? text.sent : text.sendLink} values={{ name: member.name }} />
      </Text>
      {member.invite_code !== null && (
        <>
          <Snippet text={inviteUrl(member.invite_code)} what={inviteLink.whatLink} />
          <Text size="sm">{text.orSendCode}</Text>
          <Snippet text={member.invite_code} what={inviteLink.whatCode} />
          <Dimmed size="xs">{text.aboutCode}</Dimmed>
        </>
      )}
      <Footer>
        <Button onClick={onClose}>{words.done}</Button>
      </Footer>
    </Stack>
  );
}
