import { Checkbox, Switch, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { AlertSettings } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import { alertsForm as text } from '#console/src/messages/en/workspace/alerts.ts';
import { FormModal } from '#console/src/pages/data/form-modal.tsx';
import { editForm, useEdit } from '#console/src/parts/forms/edited.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { alertsKey } from '#console/src/queries/workspace.ts';
import { AddressesInput, EventsInput } from './alert-inputs.tsx';
import { SlackInputs } from './slack-inputs.tsx';
import { WorkflowAlerts } from './workflow-alerts.tsx';

/** Edits what the workspace sends alerts for, and where they go. */
export const AlertsForm = editForm<AlertSettings, { onClose: () => void }>(function AlertsFields({
  editing,
  onClose,
}) {
  const { chat_webhook_url, email, slack, on, workflows, decide_by_link } = editing.record;
  const [fields, setFields] = useState({
    ...{ chat_webhook_url, email, slack, on },
    ...{ workflows, decide_by_link },
  });
  const [known, setKnown] = useState(false);
  const turnsOn = fields.decide_by_link && !editing.base.decide_by_link;
  const change = (part: Partial<typeof fields>): void => setFields({ ...fields, ...part });
  const save = useEdit(
    editing,
    fields,
    (state) =>
      api().setAlerts({ ...fields, ...(turnsOn && known && { accept_link_risk: true }) }, state),
    { changes: [alertsKey], done: text.saved, onDone: onClose },
  );
  return (
    <FormModal
      title={text.title}
      submit={words.saveChanges}
      action={save}
      ready={!turnsOn || known}
      onClose={onClose}
    >
      <TextInput
        label={text.chat}
        description={text.chatAbout}
        placeholder="https://hooks.example.com/services/..."
        type="url"
        data-autofocus
        maxLength={2_000}
        value={fields.chat_webhook_url ?? ''}
        onChange={({ currentTarget: { value } }) =>
          change({ chat_webhook_url: value === '' ? null : value })
        }
      />
      <AddressesInput
        label={text.email}
        description={text.emailAbout}
        value={fields.email}
        onChange={(value) => change({ email: value })}
      />
      <EventsInput label={text.on} value={fields.on} onChange={(value) => change({ on: value })} />
      <SlackInputs value={fields.slack} onChange={(value) => change({ slack: value })} />
      <WorkflowAlerts
        hasSlack={fields.slack !== null}
        workflows={fields.workflows}
        events={fields.on}
        onChange={(value) => change({ workflows: value })}
      />
      <Switch
        label={text.links}
        description={text.linksAbout}
        checked={fields.decide_by_link}
        onChange={({ currentTarget: { checked } }) => change({ decide_by_link: checked })}
      />
      {turnsOn && (
        <Checkbox
          label={text.linksKnown}
          checked={known}
          onChange={({ currentTarget: { checked } }) => setKnown(checked)}
        />
      )}
      {!fields.decide_by_link && editing.base.decide_by_link && <Dimmed>{text.linksEnd}</Dimmed>}
    </FormModal>
  );
});
