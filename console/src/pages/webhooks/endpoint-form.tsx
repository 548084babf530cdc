import { Checkbox, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { DataEndpoint } from '../../../../client/index.ts';
import { api } from '../../api.ts';
import { useAction } from '../../parts/forms/action.ts';
import { showSecretOnce } from '../../parts/forms/secret-once.tsx';
import { endpointsKey } from '../../queries/data.ts';
import { endpointEvents } from './endpoint-events.ts';
import { FormModal } from '../data/form-modal.tsx';

type Events = DataEndpoint['events'];

function useEndpointForm({ endpoint, onClose }: { endpoint?: DataEndpoint; onClose: () => void }) {
  const [url, setUrl] = useState(endpoint?.url ?? '');
  const [events, setEvents] = useState<Events>(
    endpoint?.events ?? ['run.failed', 'approval.requested'],
  );
  const [isDemo, setIsDemo] = useState(false);
  const save = useAction(
    () =>
      endpoint === undefined
        ? api().createEndpoint({ url, events, is_demo: isDemo })
        : api().updateEndpoint(endpoint.id, { url, events }),
    {
      changes: [endpointsKey],
      ...(endpoint !== undefined && { done: 'Endpoint saved' }),
      quiet: true,
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
  const state = useEndpointForm({ endpoint, onClose });
  const { save, url, setUrl, isDemo, setIsDemo } = state;
  return (
    <FormModal
      title={endpoint === undefined ? 'New endpoint' : 'Edit endpoint'}
      submit={endpoint === undefined ? 'Add endpoint' : 'Save changes'}
      action={save}
      onSubmit={() => save.mutate(undefined)}
      onClose={onClose}
    >
      <TextInput
        label="URL"
        description="Events are sent to this URL. The service must be able to reach it."
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
          label="Demo mode: send events of demo records instead of live records"
          description="You cannot change this later."
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
      label="Subscribed events"
      description="Select the events to send."
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
  showSecretOnce({ title: 'Signing secret', secret });
}
