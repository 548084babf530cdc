import { Fieldset, NumberInput, Switch, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { Webhook } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { webhookConfig as text } from '#console/src/messages/en/workflows/triggers.ts';
import { editForm, useEdit } from '#console/src/parts/forms/edited.tsx';
import { Form } from '#console/src/parts/forms/form.tsx';
import { useMay } from '#console/src/queries/identity.ts';
import { webhooksKey } from '#console/src/queries/workspace.ts';

const MOST_TOLERANCE_SECONDS = 86_400;
const MOST_WINDOW_SECONDS = 2_592_000;

/** What a webhook requires of its senders. Disabling the webhook keeps these settings. */
export const WebhookConfig = editForm<Webhook, { workflowId: string }>(function WebhookSettings({
  editing,
  workflowId,
}) {
  const webhook = editing.record;
  const form = useForm({
    initialValues: {
      require_signature: webhook.require_signature,
      timestamp_tolerance_seconds: webhook.timestamp_tolerance_seconds as number | string,
      dedup_window_seconds: webhook.dedup_window_seconds as number | string,
      event_id_field: webhook.event_id_field,
      event_id_header: webhook.event_id_header ?? '',
      accept_forms: webhook.accept_forms,
      answer_challenges: webhook.answer_challenges,
      event: webhook.event ?? '',
    },
  });
  const mayRun = useMay('run_workflows');
  const { values } = form;
  const tolerance = values.timestamp_tolerance_seconds;
  const window = values.dedup_window_seconds;
  const fields = {
    ...values,
    timestamp_tolerance_seconds: Number(tolerance),
    dedup_window_seconds: Number(window),
    event_id_header: values.event_id_header.trim() || null,
    event: values.event.trim() || null,
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
    editing.latest,
  );
  return (
    <Fieldset legend={text.legend} maw={560}>
      <Form
        action={save}
        submit={text.save}
        ready={tolerance !== '' && window !== '' && values.event_id_field !== ''}
      >
        <TextInput
          label={text.event}
          description={text.eventAbout}
          placeholder="lead.received"
          maxLength={100}
          disabled={!mayRun}
          {...form.getInputProps('event')}
        />
        <Switch
          label={text.requireSignatures}
          description={text.requireSignaturesAbout}
          {...form.getInputProps('require_signature', { type: 'checkbox' })}
        />
        <NumberInput
          label={text.tolerance}
          description={text.toleranceAbout}
          min={1}
          max={MOST_TOLERANCE_SECONDS}
          allowDecimal={false}
          disabled={!values.require_signature}
          {...form.getInputProps('timestamp_tolerance_seconds')}
        />
        <NumberInput
          label={text.window}
          description={text.windowAbout}
          min={0}
          max={MOST_WINDOW_SECONDS}
          allowDecimal={false}
          disabled={values.event.trim() !== ''}
          {...form.getInputProps('dedup_window_seconds')}
        />
        <TextInput
          label={text.eventIdField}
          description={text.eventIdFieldAbout}
          maxLength={200}
          {...form.getInputProps('event_id_field')}
        />
        {/* For senders that cannot be set up to send what the service expects. */}
        <TextInput
          label={text.eventIdHeader}
          description={text.eventIdHeaderAbout}
          maxLength={100}
          {...form.getInputProps('event_id_header')}
        />
        <Switch
          label={text.acceptForms}
          description={text.acceptFormsAbout}
          {...form.getInputProps('accept_forms', { type: 'checkbox' })}
        />
        <Switch
          label={text.answerChallenges}
          description={text.answerChallengesAbout}
          {...form.getInputProps('answer_challenges', { type: 'checkbox' })}
        />
      </Form>
    </Fieldset>
  );
});
