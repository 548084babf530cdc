import { Button, Group, Modal, Stack, Table, Text } from '@mantine/core';
import { IconUserPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Member } from '../../../../client/index.ts';
import { api } from '../../api.ts';
import { useAction } from '../../parts/forms/action.ts';
import { UserText } from '../../parts/text/user-text.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page, Section } from '../../parts/page.tsx';
import { TextLink } from '../../parts/links.tsx';
import { RowTable } from '../../parts/data/row-table.tsx';
import { Tag } from '../../parts/tag.tsx';
import { When } from '../../parts/text/time.tsx';
import { useIdentity, useMay } from '../../queries/identity.ts';
import { membersKey, membersQuery } from '../../queries/members.ts';
import { workspaceQuery } from '../../queries/workspace.ts';
import { confirmRemoval, removalTexts } from './confirm-removal.tsx';
import { InviteForm } from './invite-form.tsx';
import { InviteLink } from './invite-link.tsx';
import { statusColours } from './roles.ts';
import { sentenceCase } from '../../parts/text/sentence-case.ts';

const MEMBERS_EVERY_MS = 10_000;

/** The members of the workspace, invited users and pending sign-ups. */
export function MembersPage() {
  const members = useQuery({ ...membersQuery, refetchInterval: MEMBERS_EVERY_MS });
  const mayManage = useMay('manage_members');
  const [inviting, setInviting] = useState(false);
  return (
    <Page
      title="Members"
      about="People with access to this workspace. Select a member to see their permissions and activity."
      actions={
        mayManage && (
          <Button leftSection={<IconUserPlus size={16} />} onClick={() => setInviting(true)}>
            Invite member
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
      <Modal opened={inviting} onClose={() => setInviting(false)} title="Invite member">
        <InviteForm onClose={() => setInviting(false)} />
      </Modal>
    </Page>
  );
}

function Pending({ members }: { members: Member[] }) {
  if (members.length === 0) return null;
  return (
    <Section title="Pending requests">
      <Text size="sm" c="dimmed">
        Anyone can sign up with any email address. Without an email provider, addresses are not
        verified. Only approve people you expect.
      </Text>
      <RowTable
        label="Members to approve"
        minWidth={480}
        columns={['Name', 'Email', 'Requested', 'Actions']}
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
    done: `Approved ${member.name} as ${member.role}`,
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
      <Remove member={member} />
    </Group>
  );
}

function MemberTable({ members }: { members: Member[] }) {
  return (
    <Section title="Members and invitations">
      <RowTable label="Members" columns={['Name', 'Email', 'Role', 'Status', 'Added', 'Actions']}>
        {members.map((member) => (
          <Table.Tr key={member.id}>
            <Table.Td>
              <MemberName member={member} />
            </Table.Td>
            <Table.Td>
              <UserText>{member.email}</UserText>
            </Table.Td>
            <Table.Td>{sentenceCase(member.role)}</Table.Td>
            <Table.Td>
              <Stack gap={4} align="flex-start">
                <Tag color={statusColours[member.status]}>{sentenceCase(member.status)}</Tag>
                {member.invite_code !== null && <InviteLink code={member.invite_code} />}
                {member.invite_expires_at !== null && (
                  <Text size="xs" c="dimmed" component="div">
                    Code expires <When at={member.invite_expires_at} ago />
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
                <Remove member={member} />
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
          Owner
        </Tag>
      )}
      {member.id === id && (
        <Text size="xs" c="dimmed">
          You
        </Text>
      )}
    </Group>
  );
}

function Renew({ member }: { member: Member }) {
  const renew = useAction((id: string) => api().renewInvite(id), {
    changes: [membersKey],
    done: ({ invite_code: code }) => (code === null ? 'New code created' : `New code: ${code}`),
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

function Remove({ member }: { member: Member }) {
  const { verb, done } = removalTexts[member.status];
  const remove = useAction((id: string) => api().removeMember(id), {
    changes: [membersKey, workspaceQuery.queryKey],
    done,
  });
  if (!useMay('manage_members')) return null;
  return (
    <Button
      size="compact-xs"
      variant="light"
      color="red"
      loading={remove.isPending}
      onClick={() => confirmRemoval(member, () => remove.mutate(member.id))}
      aria-label={`${verb} ${member.name}`}
    >
      {verb}
    </Button>
  );
}
