import { Button, Code, Modal, Switch } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ApiKey } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import { keys as text } from '#console/src/messages/en/people/keys.ts';
import { roleNamesInText } from '#console/src/messages/en/parts/roles.ts';
import { people } from '#console/src/messages/en/people/shared.ts';
import { NewButton } from '#console/src/parts/forms/new-button.tsx';
import { useAction } from '#console/src/parts/forms/action.ts';
import { ActionButton } from '#console/src/parts/forms/action-button.tsx';
import { Empty } from '#console/src/parts/empty.tsx';
import { ClientsSection } from '#console/src/pages/authorizations/clients.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { Page } from '#console/src/parts/page.tsx';
import { TextLink } from '#console/src/parts/links.tsx';
import { Row, RowTable } from '#console/src/parts/data/row-table.tsx';
import { Tag } from '#console/src/parts/tag.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { When } from '#console/src/parts/text/time.tsx';
import { useMay } from '#console/src/queries/identity.ts';
import { keysKey, keysQuery } from '#console/src/queries/workspace.ts';
import { membersKey, membersQuery } from '#console/src/queries/members.ts';
import { pollMs } from '#console/src/queries/stream-state.ts';
import { KeyForm } from './key-form.tsx';

const KEYS_EVERY_MS = 10_000;

/** API keys, the credentials of programs. */
export function KeysPage() {
  const keys = useQuery({ ...keysQuery, refetchInterval: () => pollMs(KEYS_EVERY_MS) });
  const mayManage = useMay('manage_api_keys');
  const [creating, setCreating] = useState(false);
  const [withRevoked, setWithRevoked] = useState(false);
  const create = mayManage && <NewButton onClick={() => setCreating(true)}>{text.new}</NewButton>;
  return (
    <Page title={people.apiKeys} about={text.about} actions={create}>
      <Loaded query={keys}>
        {(all) => {
          const shown = all.filter((key) => withRevoked || !key.revoked);
          return (
            <>
              {all.some((key) => key.revoked) && (
                <Switch
                  label={text.showRevoked}
                  checked={withRevoked}
                  onChange={(event) => setWithRevoked(event.currentTarget.checked)}
                />
              )}
              {shown.length === 0 ? (
                <Empty {...text.empty} missing={!mayManage && 'manage_api_keys'}>
                  {mayManage && (
                    <Button onClick={() => setCreating(true)}>{text.empty.create}</Button>
                  )}
                </Empty>
              ) : (
                <KeyTable keys={shown} />
              )}
            </>
          );
        }}
      </Loaded>
      {mayManage && <ClientsSection of="workspace" />}
      <Modal opened={creating} onClose={() => setCreating(false)} title={text.new}>
        <KeyForm onClose={() => setCreating(false)} />
      </Modal>
    </Page>
  );
}

function KeyTable({ keys }: { keys: ApiKey[] }) {
  return (
    <RowTable
      label={people.apiKeys}
      columns={[words.name, text.prefix, text.actor, words.created, text.lastUsed, words.actions]}
    >
      {keys.map((key) => (
        <Row key={key.id}>
          <UserText>{key.name}</UserText>
          <Code>{key.prefix}</Code>
          <div>
            <KeyActor apiKey={key} />
            {!key.decide && <Dimmed size="xs">{text.noDecisions}</Dimmed>}
          </div>
          <When at={key.created_at} ago />
          {key.last_used_at === null ? text.never : <When at={key.last_used_at} ago />}
          {key.revoked ? <Tag color="gray">{text.isRevoked}</Tag> : <Revoke apiKey={key} />}
        </Row>
      ))}
    </RowTable>
  );
}

function KeyActor({ apiKey: { member_id, role } }: { apiKey: ApiKey }) {
  const { data: members = [] } = useQuery(membersQuery);
  const roleName = roleNamesInText[role];
  if (member_id === null) return roleName;
  const name = members.find(({ id }) => id === member_id)?.name ?? member_id;
  return (
    <>
      <TextLink size="sm" to="/members/$memberId" params={{ memberId: member_id }}>
        <UserText>{name}</UserText>
      </TextLink>
      , {roleName}
    </>
  );
}

function Revoke({ apiKey }: { apiKey: ApiKey }) {
  const revoke = useAction(({ id, etag }: ApiKey) => api().revokeApiKey(id, { ifMatch: etag }), {
    changes: [keysKey, membersKey],
    done: text.revoked,
  });
  if (!useMay('manage_api_keys')) return null;
  return (
    <ActionButton
      size="compact-xs"
      action={revoke}
      input={apiKey}
      ask={{ ...text.confirmRevoke, values: { name: apiKey.name } }}
      aria-label={text.revokeKey(apiKey.name)}
    >
      {text.revoke}
    </ActionButton>
  );
}
