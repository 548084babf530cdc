import { Alert, Group, NativeSelect } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import type { MemberDetail, Role } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import {
  member as text,
  memberStatusNames,
  removalTexts,
} from '#console/src/messages/en/people/members.ts';
import { roleNames } from '#console/src/messages/en/parts/roles.ts';
import { people } from '#console/src/messages/en/people/shared.ts';
import { useAction } from '#console/src/parts/forms/action.ts';
import { ActionButton } from '#console/src/parts/forms/action-button.tsx';
import { Facts } from '#console/src/parts/data/facts.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { countText } from '#console/src/parts/text/numbers.ts';
import { Page, Section } from '#console/src/parts/page.tsx';
import { Tag } from '#console/src/parts/tag.tsx';
import { When } from '#console/src/parts/text/time.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { identityQuery, useIdentity, useMay } from '#console/src/queries/identity.ts';
import { memberQuery, membersKey, memberStatsQuery } from '#console/src/queries/members.ts';
import { workspaceQuery } from '#console/src/queries/workspace.ts';
import { CapabilityMatrix } from './capability-matrix.tsx';
import { MemberActivity } from './member-activity.tsx';
import { roleOptions, statusColours } from './roles.ts';

const route = getRouteApi('/inside/members/$memberId');

/** One member: profile, permissions with their origin, and activity. */
export function MemberPage() {
  const { memberId } = route.useParams();
  const member = useQuery(memberQuery(memberId));
  const name = member.data?.name ?? words.member;
  return (
    <Page
      title={name}
      actions={member.data !== undefined && <MemberActions member={member.data} />}
    >
      <Loaded query={member}>
        {(loaded) => (
          <>
            <Profile member={loaded} />
            <Section title={people.permissions}>
              <CapabilityMatrix member={loaded} />
            </Section>
            <Section title={text.activity}>
              <MemberActivity memberId={loaded.id} />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Profile({ member }: { member: MemberDetail }) {
  const mayManage = useMay('manage_members');
  return (
    <Section title={people.profile}>
      <Facts
        of={[
          [words.email, <UserText key="email">{member.email}</UserText>],
          [
            words.status,
            <Tag key="status" color={statusColours[member.status]}>
              {memberStatusNames[member.status]}
            </Tag>,
          ],
          [people.role, mayManage ? undefined : roleNames[member.role]],
          [people.apiKeys, countText(member.api_key_count)],
          [
            member.status === 'invited' ? text.invitedAt : text.joined,
            <When key="since" at={member.created_at} />,
          ],
        ]}
      />
      {member.is_owner && <Alert>{text.owner}</Alert>}
      {mayManage && <RoleChange key={member.role} member={member} />}
    </Section>
  );
}

function RoleChange({ member }: { member: MemberDetail }) {
  const [role, setRole] = useState(member.role);
  const change = useAction(
    (next: Role) => api().changeRole(member.id, next, { ifMatch: member.etag }),
    {
      changes: [membersKey, identityQuery.queryKey],
      done: text.roleChanged,
    },
  );
  return (
    <Group align="flex-end" gap="xs">
      <NativeSelect
        label={people.role}
        value={role}
        onChange={(event) => setRole(event.currentTarget.value as Role)}
        data={roleOptions}
      />
      {role !== member.role && (
        <ActionButton action={change} input={role} variant="filled">
          {text.changeRole}
        </ActionButton>
      )}
    </Group>
  );
}

function MemberActions({ member }: { member: MemberDetail }) {
  const navigate = route.useNavigate();
  const { id } = useIdentity();
  const changes = [membersKey, workspaceQuery.queryKey];
  const approve = useAction((memberId: string) => api().approveMember(memberId), {
    changes,
    done: text.approved,
  });
  const remove = useAction(
    ({ id, etag }: MemberDetail) => api().removeMember(id, { ifMatch: etag }),
    {
      changes,
      done: removalTexts[member.status].done,
      removes: [memberQuery(member.id).queryKey, memberStatsQuery(member.id).queryKey],
      onDone: () => navigate({ to: '/members' }),
    },
  );
  if (!useMay('manage_members')) return null;
  return (
    <>
      {member.id === id && <Dimmed size="xs">{text.you}</Dimmed>}
      {member.status === 'pending' && (
        <ActionButton action={approve} input={member.id} variant="filled">
          {text.approve}
        </ActionButton>
      )}
      <ActionButton
        action={remove}
        input={member}
        ask={{ ...removalTexts[member.status], values: { name: member.name } }}
      >
        {removalTexts[member.status].remove}
      </ActionButton>
    </>
  );
}
