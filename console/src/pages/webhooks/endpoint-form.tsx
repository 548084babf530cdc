import { Checkbox, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { DataEndpoint } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import { endpointForm as text } from '#console/src/messages/en/webhooks.ts';
import { editForm, useEdit } from '#console/src/parts/forms/edited.tsx';
import { showSecretOnce } from '#console/src/parts/forms/secret-once.tsx';
import { endpointsKey } from '#console/src/queries/data.ts';
import { endpointEvents } from '#console/src/messages/en/webhooks.ts';
import { FormModal } from '#console/src/pages/data/form-modal.tsx';

/** Registers an endpoint and shows its secret once, or edits the given endpoint. */
export const EndpointForm = editForm<DataEndpoint, { onClose: () => void }, undefined>(
  function EndpointFields({ editing, onClose }) {
    const endpoint = editing?.record;
    const form = useForm({
      initialValues: {
        url: endpoint?.url ?? '',
        events: endpoint?.events ?? ['run.failed' as const, 'approval.requested' as const],
        is_demo: false,
      },
    });
    const { is_demo, ...fields } = form.values;
    const save = useEdit<DataEndpoint, DataEndpoint>(
      editing,
      fields,
      (known) =>
        endpoint === undefined
          ? api().createEndpoint({ ...fields, is_demo })
          : api().updateEndpoint(endpoint.id, fields, known),
      {
        changes: [endpointsKey],
        done: endpoint && text.saved,
        onDone: (saved) => {
          onClose();
          if (!('secret' in saved)) return;
          showEndpointSecret(String(saved.secret));
        },
      },
    );
    return (
      <FormModal
        title={endpoint === undefined ? text.new : text.edit}
        submit={endpoint === undefined ? text.add : words.saveChanges}
        action={save}
        onClose={onClose}
      >
        <TextInput
          label={text.url}
          description={text.urlAbout}
          placeholder="https://example.com/hooks"
          type="url"
          required
          data-autofocus
          maxLength={2_000}
          {...form.getInputProps('url')}
        />
        <Checkbox.Group
          label={text.events}
          description={text.eventsAbout}
          {...form.getInputProps('events')}
        >
          <Stack gap="xs" mt="xs">
            {Object.entries(endpointEvents).map(([event, about]) => (
              <Checkbox key={event} value={event} label={event} description={about} />
            ))}
          </Stack>
        </Checkbox.Group>
        {endpoint === undefined && (
          <Checkbox
            label={text.demo}
            description={text.demoAbout}
            {...form.getInputProps('is_demo', { type: 'checkbox' })}
          />
        )}
      </FormModal>
    );
  },
);

/** Shows the secret that receivers use to verify deliveries. */
export function showEndpointSecret(secret: string): void {
  showSecretOnce({ title: text.secret, secret });
}
