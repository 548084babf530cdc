import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import type { DataEndpoint } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import { endpointActions as text } from '#console/src/messages/en/webhooks.ts';
import { useAction } from '#console/src/parts/forms/action.ts';
import { ActionButton } from '#console/src/parts/forms/action-button.tsx';
import { endpointQuery, endpointsKey } from '#console/src/queries/data.ts';
import { useMay } from '#console/src/queries/identity.ts';
import { isListener } from './endpoint-status.tsx';
import { EndpointForm, showEndpointSecret } from './endpoint-form.tsx';

export function EndpointActions({ endpoint }: { endpoint: DataEndpoint }) {
  const mayChange = useMay('manage_workspace');
  const [editing, { open, close }] = useDisclosure(false);
  const ping = useAction(() => api().pingEndpoint(endpoint.id), {
    changes: [endpointsKey],
    done: text.testSent,
  });
  if (!mayChange) return null;
  return (
    <>
      <ActionButton action={ping}>{text.sendTest}</ActionButton>
      <Button variant="default" onClick={open}>
        {words.edit}
      </Button>
      {!isListener(endpoint) && <Rotate endpoint={endpoint} />}
      <Delete endpoint={endpoint} />
      {editing && <EndpointForm record={endpoint} onClose={close} />}
    </>
  );
}

function Rotate({ endpoint }: { endpoint: DataEndpoint }) {
  const rotate = useAction(() => api().rotateEndpointSecret(endpoint.id), {
    changes: [endpointsKey],
    onDone: ({ secret }) => showEndpointSecret(secret),
  });
  return (
    <ActionButton
      action={rotate}
      ask={{ ...text.confirmRoll, confirm: text.roll, dangerous: false }}
    >
      {text.roll}
    </ActionButton>
  );
}

function Delete({ endpoint }: { endpoint: DataEndpoint }) {
  const navigate = useNavigate();
  const remove = useAction(
    ({ id, etag }: DataEndpoint) => api().deleteEndpoint(id, { ifMatch: etag }),
    {
      changes: [[...endpointsKey, 'list']],
      done: text.deleted,
      removes: [endpointQuery(endpoint.id).queryKey],
      onDone: () => navigate({ to: '/webhooks' }),
    },
  );
  return (
    <ActionButton
      action={remove}
      input={endpoint}
      ask={{ ...text.confirmDelete, values: { url: endpoint.url } }}
    >
      {words.delete}
    </ActionButton>
  );
}
