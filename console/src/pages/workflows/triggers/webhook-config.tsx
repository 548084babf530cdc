import { Fieldset, NumberInput, Stack, Switch, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Webhook } from '../../../../../client/index.ts';
import { api } from '../../../api.ts';
import { useAction } from '../../../parts/forms/action.ts';
import { Form } from '../../../parts/forms/form.tsx';
import { webhooksKey } from '../../../queries/webhooks.ts';

const MOST_TOLERANCE_SECONDS = 86_400;
const MOST_WINDOW_SECONDS = 2_592_000;

function useWebhookSettings({ webhook, workflowId }: { webhook: Webhook; workflowId: string }) {
  const [requireSignature, setRequireSignature] = useState(webhook.require_signature);
  const [tolerance, setTolerance] = useState<number | string>(webhook.timestamp_tolerance_seconds);
  const [window, setWindow] = useState<number | string>(webhook.dedup_window_seconds);
  const [field, setField] = useState(webhook.event_id_field);
  const save = useAction(
    () =>
      api().configureWebhook(workflowId, {
        require_signature: requireSignature,
        timestamp_tolerance_seconds: Number(tolerance),
        dedup_window_seconds: Number(window),
        event_id_field: field,
      }),
    { changes: [webhooksKey], done: 'Webhook settings saved', quiet: true },
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
  };
}

/** What a webhook requires of its senders. Disabling the webhook keeps these settings. */
export function WebhookConfig({ workflowId, webhook }: { workflowId: string; webhook: Webhook }) {
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
  } = useWebhookSettings({ webhook, workflowId });
  return (
    <Fieldset legend="Settings" maw={560}>
      <Form
        action={save}
        submit="Save settings"
        ready={tolerance !== '' && window !== '' && field !== ''}
        onSubmit={() => save.mutate(undefined)}
      >
        <Stack gap="sm">
          <Switch
            label="Require signatures"
            description="Reject requests that are not signed with the secret"
            checked={requireSignature}
            onChange={(event) => setRequireSignature(event.currentTarget.checked)}
          />
          <NumberInput
            label="Signature tolerance (seconds)"
            description="Maximum clock difference, past or future"
            min={1}
            max={MOST_TOLERANCE_SECONDS}
            allowDecimal={false}
            disabled={!requireSignature}
            value={tolerance}
            onChange={setTolerance}
          />
          <NumberInput
            label="Deduplication window (seconds)"
            description="0: every request starts a run"
            min={0}
            max={MOST_WINDOW_SECONDS}
            allowDecimal={false}
            value={window}
            onChange={setWindow}
          />
          <TextInput
            label="Event ID field"
            description="Used when the request has no X-Service-Event-Id header"
            maxLength={200}
            value={field}
            onChange={(event) => setField(event.currentTarget.value)}
          />
        </Stack>
      </Form>
    </Fieldset>
  );
}
