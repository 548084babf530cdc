import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Authorization } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { clients as text } from '#console/src/messages/en/authorizations.ts';
import { words } from '#console/src/messages/en/words.ts';
import { Row, RowTable } from '#console/src/parts/data/row-table.tsx';
import { ActionButton } from '#console/src/parts/forms/action-button.tsx';
import { useAction } from '#console/src/parts/forms/action.ts';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { Section } from '#console/src/parts/page.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { When } from '#console/src/parts/text/time.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { authorizationsKey, authorizationsQuery } from '#console/src/queries/authorizations.ts';

/** The clients that can use the service for the member or, for those who manage keys, for all members. */
export function ClientsSection({ of }: { of: 'me' | 'workspace' }) {
  const authorizations = useQuery(authorizationsQuery(of));
  const all = of === 'workspace';
  return (
    <Section title={all ? text.workspaceTitle : text.title}>
      <Dimmed>{all ? text.workspaceAbout : text.about}</Dimmed>
      <Loaded query={authorizations}>
        {(found) =>
          found.length === 0 ? (
            <Text size="sm">{text.none}</Text>
          ) : (
            <ClientTable of={found} all={all} />
          )
        }
      </Loaded>
    </Section>
  );
}

function ClientTable({ of, all }: { of: readonly Authorization[]; all: boolean }) {
  return (
    <RowTable
      label={all ? text.workspaceTitle : text.title}
      columns={[
        text.client,
        text.host,
        ...(all ? [text.member] : []),
        text.can,
        words.created,
        text.lastUsed,
        words.actions,
      ]}
    >
      {of.map((one) => (
        <Row key={one.id}>
          <UserText>{one.client_name}</UserText>
          <ClientHost of={one} />
          {all ? <UserText>{one.member_name}</UserText> : null}
          {one.scopes.join(', ')}
          <When at={one.created_at} ago />
          {one.last_used_at === null ? text.never : <When at={one.last_used_at} ago />}
          <Revoke of={one} />
        </Row>
      ))}
    </RowTable>
  );
}

const ClientHost = ({ of }: { of: Authorization }) => (
  <>
    <UserText>{of.client_host}</UserText>
    {!of.client_verified && <Dimmed size="xs">{text.unverified}</Dimmed>}
  </>
);

function Revoke({ of }: { of: Authorization }) {
  const revoke = useAction(({ id }: Authorization) => api().revokeAuthorization(id), {
    changes: [authorizationsKey],
    done: text.revoked,
  });
  return (
    <ActionButton
      size="compact-xs"
      action={revoke}
      input={of}
      ask={{ ...text.confirmRevoke, values: { name: of.client_name } }}
      aria-label={text.revokeClient(of)}
    >
      {text.revoke}
    </ActionButton>
  );
}
