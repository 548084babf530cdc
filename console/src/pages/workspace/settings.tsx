import { Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Workspace } from '../../../../client/index.ts';
import { api } from '../../api.ts';
import { useAction } from '../../parts/forms/action.ts';
import { Copy } from '../../parts/code/copy.tsx';
import { Facts } from '../../parts/data/facts.tsx';
import { UserText } from '../../parts/text/user-text.tsx';
import { Form } from '../../parts/forms/form.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { countText } from '../../parts/text/numbers.ts';
import { Page, Section } from '../../parts/page.tsx';
import { TextLink } from '../../parts/links.tsx';
import { When } from '../../parts/text/time.tsx';
import { useMay } from '../../queries/identity.ts';
import { workspaceQuery } from '../../queries/workspace.ts';
import { Alerts } from './alerts.tsx';
import { Plans } from './plans.tsx';

/** The settings of the workspace: its name, its plan, and its alerts. */
export function SettingsPage() {
  const workspace = useQuery(workspaceQuery);
  return (
    <Page title="Settings" about="Name, plan and alerts of this workspace.">
      <Loaded query={workspace}>
        {(loaded) => (
          <>
            <General workspace={loaded} />
            <Plans plan={loaded.plan} />
          </>
        )}
      </Loaded>
      <Alerts />
    </Page>
  );
}

function General({ workspace }: { workspace: Workspace }) {
  const mayManage = useMay('manage_workspace');
  return (
    <Section title="Workspace">
      <Facts
        of={[
          ['Name', mayManage ? undefined : <UserText key="name">{workspace.name}</UserText>],
          [
            'ID',
            <span key="id">
              {workspace.id} <Copy text={workspace.id} what="the workspace ID" />
            </span>,
          ],
          [
            'Members',
            <TextLink key="members" size="sm" to="/members">
              {countText(workspace.member_count)}
            </TextLink>,
          ],
          ['Created', <When key="since" at={workspace.created_at} />],
        ]}
      />
      {mayManage ? (
        <NameForm key={workspace.name} name={workspace.name} />
      ) : (
        <Text size="xs" c="dimmed">
          You need the manage_workspace permission to change settings.
        </Text>
      )}
    </Section>
  );
}

function NameForm({ name: current }: { name: string }) {
  const [name, setName] = useState(current);
  const rename = useAction((next: string) => api().updateWorkspace({ name: next }), {
    changes: [workspaceQuery.queryKey],
    done: 'Workspace renamed',
    quiet: true,
  });
  return (
    <Stack maw={420}>
      <Form
        action={rename}
        submit="Rename"
        onSubmit={() => rename.mutate(name)}
        ready={name.trim() !== '' && name.trim() !== current}
      >
        <TextInput
          label="Name"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          maxLength={200}
          required
        />
      </Form>
    </Stack>
  );
}
