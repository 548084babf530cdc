import { Checkbox, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { DataEndpoint } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import { endpointForm as text } from '#console/src/messages/en/webhooks.ts';
import { Edited, type Editing, useEdit } from '#console/src/parts/forms/edited.tsx';
import { showSecretOnce } from '#console/src/parts/forms/secret-once.tsx';
import { endpointsKey } from '#console/src/queries/data.ts';
import { endpointEvents } from '#console/src/messages/en/webhooks.ts';
import { FormModal } from '#console/src/pages/data/form-modal.tsx';

type Events = DataEndpoint['events'];

function useEndpointForm({ editing, onClose }: FormProps) {
  const endpoint = editing?.record;
  const [url, setUrl] = useState(endpoint?.url ?? '');
  const [events, setEvents] = useState<Events>(
    endpoint?.events ?? ['run.failed', 'approval.requested'],
  );
  const [isDemo, setIsDemo] = useState(false);
  const fields = { url, events };
  const save = useEdit<DataEndpoint, DataEndpoint>(
    editing,
    fields,
    (known) =>
      endpoint === undefined
        ? api().createEndpoint({ ...fields, is_demo: isDemo })
        : api().updateEndpoint(endpoint.id, fields, known),
    {
      changes: [endpointsKey],
      ...(endpoint !== undefined && { done: text.saved }),
      onDone: (saved) => {
        onClose();
        if ('secret' in saved && typeof saved.secret === 'string') showEndpointSecret(saved.secret);
      },
    },
  );
  return { save, url, setUrl, events, setEvents, isDemo, setIsDemo };
}

type EndpointFormState = ReturnType<typeof useEndpointForm>;

/** Registers an endpoint and shows its secret once, or edits the given endpoint. */
export function EndpointForm({
  endpoint,
  onClose,
}: {
  endpoint?: DataEndpoint;
  onClose: () => void;
}) {
  return (
    <Edited<DataEndpoint> record={endpoint}>
      {(editing) => <EndpointFields editing={editing} onClose={onClose} />}
    </Edited>
  );
}

interface FormProps {
  editing: Editing<DataEndpoint> | undefined;
  onClose: () => void;
}

function EndpointFields({ editing, onClose }: FormProps) {
  const endpoint = editing?.record;
  const state = useEndpointForm({ editing, onClose });
  const { save, url, setUrl, isDemo, setIsDemo } = state;
  return (
    <FormModal
      title={endpoint === undefined ? text.new : text.edit}
      submit={endpoint === undefined ? text.add : words.saveChanges}
      action={save}
      onSubmit={() => save.mutate(undefined)}
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
        value={url}
        onChange={(event) => setUrl(event.currentTarget.value)}
      />
      <SubscribedEvents {...state} />
      {endpoint === undefined && (
        <Checkbox
          label={text.demo}
          description={text.demoAbout}
          checked={isDemo}
          onChange={(event) => setIsDemo(event.currentTarget.checked)}
        />
      )}
    </FormModal>
  );
}

function SubscribedEvents({ events, setEvents }: EndpointFormState) {
  return (
    <Checkbox.Group
      label={text.events}
      description={text.eventsAbout}
      value={events}
      onChange={(value) => setEvents(value as Events)}
    >
      <Stack gap="xs" mt="xs">
        {Object.entries(endpointEvents).map(([event, about]) => (
          <Checkbox key={event} value={event} label={event} description={about} />
        ))}
      </Stack>
    </Checkbox.Group>
  );
}

/** Shows the secret that receivers use to verify deliveries. */
export function showEndpointSecret(secret: string): void {
  showSecretOnce({ title: text.secret, secret });
}
