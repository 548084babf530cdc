import { Alert, Button, Group, NativeSelect, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import type { MemberDetail, Role } from '../../../../client/index.ts';
import { api } from '../../api.ts';
import { useAction } from '../../parts/forms/action.ts';
import { Facts } from '../../parts/data/facts.tsx';
import { UserText } from '../../parts/text/user-text.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { countText } from '../../parts/text/numbers.ts';
import { Page, Section } from '../../parts/page.tsx';
import { TextLink } from '../../parts/links.tsx';
import { Tag } from '../../parts/tag.tsx';
import { When } from '../../parts/text/time.tsx';
import { identityQuery, useIdentity, useMay } from '../../queries/identity.ts';
import { memberQuery, membersKey } from '../../queries/members.ts';
import { workspaceQuery } from '../../queries/workspace.ts';
import { CapabilityMatrix } from './capability-matrix.tsx';
import { confirmRemoval, removalTexts } from './confirm-removal.tsx';
import { MemberActivity } from './member-activity.tsx';
import { roleOptions, statusColours } from './roles.ts';
import { sentenceCase } from '../../parts/text/sentence-case.ts';

const route = getRouteApi('/inside/members/$memberId');

/** One member: profile, permissions with their origin, and activity. */
export function MemberPage() {
  const { memberId } = route.useParams();
  const member = useQuery(memberQuery(memberId));
  const name = member.data?.name ?? 'Member';
  return (
    <Page
      title={name}
      about={<TextLink to="/members">Back to members</TextLink>}
      actions={member.data !== undefined && <MemberActions member={member.data} />}
    >
      <Loaded query={member}>
        {(loaded) => (
          <>
            <Profile member={loaded} />
            <Section title="Permissions">
              <CapabilityMatrix member={loaded} />
            </Section>
            <Section title="Activity">
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
    <Section title="Profile">
      <Facts
        of={[
          ['Email', <UserText key="email">{member.email}</UserText>],
          [
            'Status',
            <Tag key="status" color={statusColours[member.status]}>
              {sentenceCase(member.status)}
            </Tag>,
          ],
          ['Role', mayManage ? undefined : sentenceCase(member.role)],
          ['API keys', countText(member.api_key_count)],
          ['Joined', <When key="since" at={member.created_at} />],
        ]}
      />
      {member.is_owner && (
        <Alert>
          Workspace owner. In open mode, requests without credentials act as this member.
        </Alert>
      )}
      {mayManage && <RoleChange key={member.role} member={member} />}
    </Section>
  );
}

function RoleChange({ member }: { member: MemberDetail }) {
  const [role, setRole] = useState(member.role);
  const change = useAction((next: Role) => api().changeRole(member.id, next), {
    changes: [membersKey, identityQuery.queryKey],
    done: 'Role changed. It applies from the next request',
  });
  return (
    <Group align="flex-end" gap="xs">
      <NativeSelect
        label="Role"
        value={role}
        onChange={(event) => setRole(event.currentTarget.value as Role)}
        data={roleOptions}
      />
      {role !== member.role && (
        <Button loading={change.isPending} onClick={() => change.mutate(role)}>
          Change role
        </Button>
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
    done: 'Member approved',
  });
  const remove = useAction((memberId: string) => api().removeMember(memberId), {
    changes: [],
    done: removalTexts[member.status].done,
    // Refetch only the list: reading the removed member would fail.
    onDone: () => void navigate({ to: '/members' }),
  });
  if (!useMay('manage_members')) return null;
  const { verb } = removalTexts[member.status];
  return (
    <>
      {member.status === 'pending' && (
        <Button loading={approve.isPending} onClick={() => approve.mutate(member.id)}>
          Approve
        </Button>
      )}
      <Button
        variant="light"
        color="red"
        loading={remove.isPending}
        onClick={() => confirmRemoval(member, () => remove.mutate(member.id))}
      >
        {verb}
      </Button>
      {member.id === id && (
        <Text size="xs" c="dimmed">
          This is you.
        </Text>
      )}
    </>
  );
}
