import { Fieldset, NumberInput, Stack, Switch, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Webhook } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { webhookConfig as text } from '#console/src/messages/en/workflows/triggers.ts';
import { Edited, type Editing, useEdit } from '#console/src/parts/forms/edited.tsx';
import { Form } from '#console/src/parts/forms/form.tsx';
import { webhooksKey } from '#console/src/queries/webhooks.ts';

const MOST_TOLERANCE_SECONDS = 86_400;
const MOST_WINDOW_SECONDS = 2_592_000;

interface FormProps {
  editing: Editing<Webhook>;
  /** As the page knows them by now. */
  latest: Webhook;
  workflowId: string;
}

function useWebhookSettings({ editing, latest, workflowId }: FormProps) {
  const webhook = editing.record;
  const [requireSignature, setRequireSignature] = useState(webhook.require_signature);
  const [tolerance, setTolerance] = useState<number | string>(webhook.timestamp_tolerance_seconds);
  const [window, setWindow] = useState<number | string>(webhook.dedup_window_seconds);
  const [field, setField] = useState(webhook.event_id_field);
  const [header, setHeader] = useState(webhook.event_id_header ?? '');
  const [forms, setForms] = useState(webhook.accept_forms);
  const [challenges, setChallenges] = useState(webhook.answer_challenges);
  const fields = {
    require_signature: requireSignature,
    timestamp_tolerance_seconds: Number(tolerance),
    dedup_window_seconds: Number(window),
    event_id_field: field,
    event_id_header: header.trim() === '' ? null : header.trim(),
    accept_forms: forms,
    answer_challenges: challenges,
  };
  const save = useEdit(
    editing,
    fields,
    (known) => api().configureWebhook(workflowId, fields, known),
    {
      changes: [webhooksKey],
      done: text.saved,
      onDone: (saved) => editing.reload(saved, {}),
    },
    latest,
  );
  return {
    save,
    tolerance,
    window,
    field,
    requireSignature,
    setRequireSignature,
    setTolerance,
    setWindow,
    setField,
    senders: { header, setHeader, forms, setForms, challenges, setChallenges },
  };
}

/** What a webhook requires of its senders. Disabling the webhook keeps these settings. */
export function WebhookConfig({ workflowId, webhook }: { workflowId: string; webhook: Webhook }) {
  return (
    <Edited<Webhook> record={webhook}>
      {(editing) =>
        editing && <WebhookSettings editing={editing} latest={webhook} workflowId={workflowId} />
      }
    </Edited>
  );
}

function WebhookSettings(props: FormProps) {
  const {
    save,
    tolerance,
    window,
    field,
    requireSignature,
    setRequireSignature,
    setTolerance,
    setWindow,
    setField,
    senders,
  } = useWebhookSettings(props);
  return (
    <Fieldset legend={text.legend} maw={560}>
      <Form
        action={save}
        submit={text.save}
        ready={tolerance !== '' && window !== '' && field !== ''}
        onSubmit={() => save.mutate(undefined)}
      >
        <Stack gap="sm">
          <Switch
            label={text.requireSignatures}
            description={text.requireSignaturesAbout}
            checked={requireSignature}
            onChange={(event) => setRequireSignature(event.currentTarget.checked)}
          />
          <NumberInput
            label={text.tolerance}
            description={text.toleranceAbout}
            min={1}
            max={MOST_TOLERANCE_SECONDS}
            allowDecimal={false}
            disabled={!requireSignature}
            value={tolerance}
            onChange={setTolerance}
          />
          <NumberInput
            label={text.window}
            description={text.windowAbout}
            min={0}
            max={MOST_WINDOW_SECONDS}
            allowDecimal={false}
            value={window}
            onChange={setWindow}
          />
          <TextInput
            label={text.eventIdField}
            description={text.eventIdFieldAbout}
            maxLength={200}
            value={field}
            onChange={(event) => setField(event.currentTarget.value)}
          />
          <SenderSettings {...senders} />
        </Stack>
      </Form>
    </Fieldset>
  );
}

/** For senders that cannot be set up to send what the service expects. */
function SenderSettings({
  header,
  setHeader,
  forms,
  setForms,
  challenges,
  setChallenges,
}: ReturnType<typeof useWebhookSettings>['senders']) {
  return (
    <>
      <TextInput
        label={text.eventIdHeader}
        description={text.eventIdHeaderAbout}
        maxLength={100}
        value={header}
        onChange={(event) => setHeader(event.currentTarget.value)}
      />
      <Switch
        label={text.acceptForms}
        description={text.acceptFormsAbout}
        checked={forms}
        onChange={(event) => setForms(event.currentTarget.checked)}
      />
      <Switch
        label={text.answerChallenges}
        description={text.answerChallengesAbout}
        checked={challenges}
        onChange={(event) => setChallenges(event.currentTarget.checked)}
      />
    </>
  );
}
