import { Button, Group, Modal, Stack, Table, Text } from '@mantine/core';
import { IconUserPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Member } from '../../../../client/index.ts';
import { api } from '../../api.ts';
import { useAction } from '../../parts/action.ts';
import { UserText } from '../../parts/user-text.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page, Section } from '../../parts/page.tsx';
import { TextLink } from '../../parts/links.tsx';
import { RowTable } from '../../parts/row-table.tsx';
import { Tag } from '../../parts/tag.tsx';
import { When } from '../../parts/time.tsx';
import { useIdentity, useMay } from '../../queries/identity.ts';
import { membersKey, membersQuery } from '../../queries/members.ts';
import { workspaceQuery } from '../../queries/workspace.ts';
import { confirmRemoval } from './confirm-removal.tsx';
import { InviteForm } from './invite-form.tsx';
import { InviteLink } from './invite-link.tsx';
import { statusColours } from './roles.ts';

const MEMBERS_EVERY_MS = 10_000;

/** Who is in the workspace, who is invited, and who asks to be let in. */
export function MembersPage() {
  const members = useQuery({ ...membersQuery, refetchInterval: MEMBERS_EVERY_MS });
  const mayManage = useMay('manage_members');
  const [inviting, setInviting] = useState(false);
  return (
    <Page
      title="Members"
      about="Who may come in, and as what. Open one to see what they may do, and what they did."
      actions={
        mayManage && (
          <Button leftSection={<IconUserPlus size={16} />} onClick={() => setInviting(true)}>
            Invite
          </Button>
        )
      }
    >
      <Loaded query={members}>
        {(all) => (
          <>
            <Pending members={all.filter(({ status }) => status === 'pending')} />
            <MemberTable members={all.filter(({ status }) => status !== 'pending')} />
          </>
        )}
      </Loaded>
      <Modal opened={inviting} onClose={() => setInviting(false)} title="Invite a member">
        <InviteForm onClose={() => setInviting(false)} />
      </Modal>
    </Page>
  );
}

function Pending({ members }: { members: Member[] }) {
  if (members.length === 0) return null;
  return (
    <Section title="Asking to be let in">
      <Text size="sm" c="dimmed">
        Anybody can sign up with any address. Unless the service has an e-mail provider, nobody
        checks that it is theirs: approve only people whom you expect.
      </Text>
      <RowTable
        label="Members to approve"
        minWidth={480}
        columns={['Name', 'E-mail', 'Since', 'Actions']}
      >
        {members.map((member) => (
          <Table.Tr key={member.id}>
            <Table.Td>
              <MemberName member={member} />
            </Table.Td>
            <Table.Td>
              <UserText>{member.email}</UserText>
            </Table.Td>
            <Table.Td>
              <When at={member.created_at} ago />
            </Table.Td>
            <Table.Td>
              <PendingActions member={member} />
            </Table.Td>
          </Table.Tr>
        ))}
      </RowTable>
    </Section>
  );
}

function PendingActions({ member }: { member: Member }) {
  const approve = useAction((id: string) => api().approveMember(id), {
    changes: [membersKey, workspaceQuery.queryKey],
    done: `${member.name} may come in, as a ${member.role}`,
  });
  if (!useMay('manage_members')) return null;
  return (
    <Group gap={4} wrap="nowrap">
      <Button
        size="compact-xs"
        loading={approve.isPending}
        onClick={() => approve.mutate(member.id)}
        aria-label={`Approve ${member.name}`}
      >
        Approve
      </Button>
      <Remove member={member} verb="Refuse" />
    </Group>
  );
}

function MemberTable({ members }: { members: Member[] }) {
  return (
    <Section title="Members and invitations">
      <RowTable label="Members" columns={['Name', 'E-mail', 'Role', 'Status', 'Since', 'Actions']}>
        {members.map((member) => (
          <Table.Tr key={member.id}>
            <Table.Td>
              <MemberName member={member} />
            </Table.Td>
            <Table.Td>
              <UserText>{member.email}</UserText>
            </Table.Td>
            <Table.Td>{member.role}</Table.Td>
            <Table.Td>
              <Stack gap={4} align="flex-start">
                <Tag color={statusColours[member.status]}>{member.status}</Tag>
                {member.invite_code !== null && <InviteLink code={member.invite_code} />}
                {member.invite_expires_at !== null && (
                  <Text size="xs" c="dimmed" component="div">
                    The code expires <When at={member.invite_expires_at} ago />
                  </Text>
                )}
              </Stack>
            </Table.Td>
            <Table.Td>
              <When at={member.created_at} ago />
            </Table.Td>
            <Table.Td>
              <Group gap={4} wrap="nowrap">
                {member.status === 'invited' && <Renew member={member} />}
                <Remove
                  member={member}
                  verb={member.status === 'invited' ? 'Withdraw' : 'Remove'}
                />
              </Group>
            </Table.Td>
          </Table.Tr>
        ))}
      </RowTable>
    </Section>
  );
}

function MemberName({ member }: { member: Member }) {
  const { id } = useIdentity();
  return (
    <Group gap="xs">
      <TextLink to="/members/$memberId" params={{ memberId: member.id }}>
        <UserText>{member.name}</UserText>
      </TextLink>
      {member.is_owner && (
        <Tag size="sm" variant="default">
          owner
        </Tag>
      )}
      {member.id === id && (
        <Text size="xs" c="dimmed">
          you
        </Text>
      )}
    </Group>
  );
}

function Renew({ member }: { member: Member }) {
  const renew = useAction((id: string) => api().renewInvite(id), {
    changes: [membersKey],
    done: ({ invite_code: code }) =>
      code === null ? 'There is a new code' : `The new code is ${code}`,
  });
  if (!useMay('manage_members')) return null;
  return (
    <Button
      size="compact-xs"
      variant="default"
      loading={renew.isPending}
      onClick={() => renew.mutate(member.id)}
      aria-label={`New code for ${member.name}`}
    >
      New code
    </Button>
  );
}

function Remove({ member, verb }: { member: Member; verb: string }) {
  const remove = useAction((id: string) => api().removeMember(id), {
    changes: [membersKey, workspaceQuery.queryKey],
    done: 'Done',
  });
  if (!useMay('manage_members')) return null;
  return (
    <Button
      size="compact-xs"
      variant="light"
      color="red"
      loading={remove.isPending}
      onClick={() => confirmRemoval(member, verb, () => remove.mutate(member.id))}
      aria-label={`${verb} ${member.name}`}
    >
      {verb}
    </Button>
  );
}
