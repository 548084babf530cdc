import { Stack, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Workspace } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import { settings as text } from '#console/src/messages/en/workspace/settings.ts';
import { editForm, useEdit } from '#console/src/parts/forms/edited.tsx';
import { Copy } from '#console/src/parts/code/copy.tsx';
import { Facts } from '#console/src/parts/data/facts.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { Form } from '#console/src/parts/forms/form.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { LoadingRows } from '#console/src/parts/loading.tsx';
import { countText } from '#console/src/parts/text/numbers.ts';
import { Page, Section } from '#console/src/parts/page.tsx';
import { TextLink } from '#console/src/parts/links.tsx';
import { When } from '#console/src/parts/text/time.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { useMay } from '#console/src/queries/identity.ts';
import { workspaceQuery } from '#console/src/queries/workspace.ts';
import { Alerts } from '#console/src/pages/alerts/alerts.tsx';
import { Plans } from './plans.tsx';

/** The settings of the workspace: its name, its plan, and its alerts. */
export function SettingsPage() {
  const workspace = useQuery(workspaceQuery);
  return (
    <Page title={text.title} about={text.about}>
      <Loaded query={workspace} loading={<LoadingRows rows={11} />}>
        {(loaded) => (
          <>
            <General workspace={loaded} />
            <Plans workspace={loaded} />
            <Alerts />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function General({ workspace }: { workspace: Workspace }) {
  const mayManage = useMay('manage_workspace');
  return (
    <Section title={text.general}>
      <Facts
        of={[
          [words.name, mayManage ? undefined : <UserText key="name">{workspace.name}</UserText>],
          [
            text.id,
            <span key="id">
              {workspace.id} <Copy text={workspace.id} what={text.whatId} />
            </span>,
          ],
          [
            text.members,
            <TextLink key="members" size="sm" to="/members">
              {countText(workspace.member_count)}
            </TextLink>,
          ],
          [words.created, <When key="since" at={workspace.created_at} />],
        ]}
      />
      {mayManage ? (
        <NameForm record={workspace} />
      ) : (
        <Dimmed size="xs">{text.permissionNeeded}</Dimmed>
      )}
    </Section>
  );
}

const NameForm = editForm<Workspace, object>(function NameFields({ editing }) {
  const current = editing.base.name;
  const [name, setName] = useState(editing.record.name);
  const rename = useEdit(
    editing,
    { name },
    (known) => api().updateWorkspace({ name }, known),
    {
      changes: [workspaceQuery.queryKey],
      done: text.renamed,
      onDone: (saved) => editing.reload(saved, {}),
    },
    editing.latest,
  );
  return (
    <Stack maw={420}>
      <Form
        action={rename}
        submit={text.rename}
        ready={name.trim() !== '' && name.trim() !== current}
      >
        <TextInput
          label={words.name}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          maxLength={200}
          required
        />
      </Form>
    </Stack>
  );
});
