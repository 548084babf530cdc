import { Button, Group, Modal, Stack, Table, Text } from '@mantine/core';
import { IconUserPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Member } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import {
  members as text,
  memberStatusNames,
  removalTexts,
} from '#console/src/messages/en/people/members.ts';
import { roleNames, roleNamesInText } from '#console/src/messages/en/parts/roles.ts';
import { people } from '#console/src/messages/en/people/shared.ts';
import { Message } from '#console/src/messages/message.tsx';
import { useAction } from '#console/src/parts/forms/action.ts';
import { ActionButton } from '#console/src/parts/forms/action-button.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { Page, Section } from '#console/src/parts/page.tsx';
import { TextLink } from '#console/src/parts/links.tsx';
import { Row, RowTable } from '#console/src/parts/data/row-table.tsx';
import { Tag } from '#console/src/parts/tag.tsx';
import { When } from '#console/src/parts/text/time.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { useRequestedForm } from '#console/src/parts/forms/requested-form.ts';
import { useIdentity, useMay } from '#console/src/queries/identity.ts';
import { membersKey, membersQuery } from '#console/src/queries/members.ts';
import { workspaceQuery } from '#console/src/queries/workspace.ts';
import { pollMs } from '#console/src/queries/stream-state.ts';
import { InviteForm } from './invite-form.tsx';
import { InviteLink } from './invite-link.tsx';
import { statusColours } from './roles.ts';

const MEMBERS_EVERY_MS = 10_000;

/** The members of the workspace, invited users and pending sign-ups. */
export function MembersPage() {
  const members = useQuery({ ...membersQuery, refetchInterval: () => pollMs(MEMBERS_EVERY_MS) });
  const mayManage = useMay('manage_members');
  const [inviting, setInviting] = useState(false);
  useRequestedForm(() => {
    if (mayManage) setInviting(true);
  });
  return (
    <Page
      title={text.title}
      about={text.about}
      actions={
        mayManage && (
          <Button leftSection={<IconUserPlus size={16} />} onClick={() => setInviting(true)}>
            {text.invite}
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
      <Modal opened={inviting} onClose={() => setInviting(false)} title={text.invite}>
        <InviteForm onClose={() => setInviting(false)} />
      </Modal>
    </Page>
  );
}

function Pending({ members }: { members: Member[] }) {
  if (members.length === 0) return null;
  return (
    <Section title={text.pending.title}>
      <Dimmed>{text.pending.about}</Dimmed>
      <RowTable
        label={text.pending.table}
        minWidth={480}
        columns={[words.name, words.email, text.pending.requested, words.actions]}
      >
        {members.map((member) => (
          <Row key={member.id}>
            <MemberName member={member} />
            <UserText>{member.email}</UserText>
            <When at={member.created_at} ago />
            <PendingActions member={member} />
          </Row>
        ))}
      </RowTable>
    </Section>
  );
}

function PendingActions({ member }: { member: Member }) {
  const approve = useAction((id: string) => api().approveMember(id), {
    changes: [membersKey, workspaceQuery.queryKey],
    done: text.approved(member.name, roleNamesInText[member.role]),
  });
  if (!useMay('manage_members')) return null;
  return (
    <Group gap={4} wrap="nowrap">
      <ActionButton
        size="compact-xs"
        action={approve}
        input={member.id}
        aria-label={text.approveMember(member.name)}
        variant="filled"
      >
        {text.approve}
      </ActionButton>
      <Remove member={member} />
    </Group>
  );
}

function MemberTable({ members }: { members: Member[] }) {
  return (
    <Section title={text.all}>
      <RowTable
        label={text.table}
        columns={[words.name, words.email, people.role, words.status, text.added, words.actions]}
      >
        {members.map((member) => (
          <Row key={member.id}>
            <MemberName member={member} />
            <UserText>{member.email}</UserText>
            <Table.Td>{roleNames[member.role]}</Table.Td>
            <Stack gap={4} align="flex-start">
              <Tag color={statusColours[member.status]}>{memberStatusNames[member.status]}</Tag>
              {member.invite_code !== null && <InviteLink code={member.invite_code} />}
              {member.invite_expires_at !== null && (
                <Text size="xs" c="dimmed" component="div">
                  <Message
                    text={text.codeExpires}
                    values={{ when: <When at={member.invite_expires_at} ago /> }}
                  />
                </Text>
              )}
            </Stack>
            <When at={member.created_at} ago />
            <Group gap={4} wrap="nowrap">
              {member.status === 'invited' && <Renew member={member} />}
              <Remove member={member} />
            </Group>
          </Row>
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
          {text.owner}
        </Tag>
      )}
      {member.id === id && <Dimmed size="xs">{text.you}</Dimmed>}
    </Group>
  );
}

function Renew({ member }: { member: Member }) {
  const renew = useAction((id: string) => api().renewInvite(id), {
    changes: [membersKey],
    done: ({ invite_code: code }) => (code === null ? text.newCodeCreated : text.newCodeIs(code)),
  });
  if (!useMay('manage_members')) return null;
  return (
    <ActionButton
      size="compact-xs"
      action={renew}
      input={member.id}
      aria-label={text.newCodeFor(member.name)}
    >
      {text.newCode}
    </ActionButton>
  );
}

function Remove({ member }: { member: Member }) {
  const removal = removalTexts[member.status];
  const remove = useAction(({ id, etag }: Member) => api().removeMember(id, { ifMatch: etag }), {
    changes: [membersKey, workspaceQuery.queryKey],
    done: removal.done,
  });
  if (!useMay('manage_members')) return null;
  return (
    <ActionButton
      size="compact-xs"
      action={remove}
      input={member}
      ask={{ ...removal, values: { name: member.name } }}
      aria-label={removal.removeNamed(member.name)}
    >
      {removal.remove}
    </ActionButton>
  );
}
