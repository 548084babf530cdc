import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import type { DataEndpoint } from '../../../../client/index.ts';
import { api } from '../../api.ts';
import { useAction } from '../../parts/forms/action.ts';
import { confirm } from '../../parts/forms/confirm.tsx';
import { UserText } from '../../parts/text/user-text.tsx';
import { endpointsKey } from '../../queries/data.ts';
import { useMay } from '../../queries/identity.ts';
import { EndpointForm, showEndpointSecret } from './endpoint-form.tsx';

export function EndpointActions({ endpoint }: { endpoint: DataEndpoint }) {
  const mayChange = useMay('manage_workspace');
  const [editing, { open, close }] = useDisclosure(false);
  const ping = useAction(() => api().pingEndpoint(endpoint.id), {
    changes: [endpointsKey],
    done: 'Test event sent',
  });
  if (!mayChange) return null;
  return (
    <>
      <Button variant="default" loading={ping.isPending} onClick={() => ping.mutate(undefined)}>
        Send test event
      </Button>
      <Button variant="default" onClick={open}>
        Edit
      </Button>
      <Rotate endpoint={endpoint} />
      <Delete endpoint={endpoint} />
      {editing && <EndpointForm endpoint={endpoint} onClose={close} />}
    </>
  );
}

function Rotate({ endpoint }: { endpoint: DataEndpoint }) {
  const rotate = useAction(() => api().rotateEndpointSecret(endpoint.id), {
    changes: [endpointsKey],
    onDone: ({ secret }) => showEndpointSecret(secret),
  });
  return (
    <Button
      variant="default"
      loading={rotate.isPending}
      onClick={() =>
        confirm({
          title: 'Roll this secret?',
          consequence:
            'Deliveries are signed with the new secret immediately, and also with the current one for 24 hours. The new secret is shown once.',
          confirmLabel: 'Roll secret',
          dangerous: false,
          onConfirm: () => rotate.mutate(undefined),
        })
      }
    >
      Roll secret
    </Button>
  );
}

function Delete({ endpoint }: { endpoint: DataEndpoint }) {
  const navigate = useNavigate();
  const remove = useAction(() => api().deleteEndpoint(endpoint.id), {
    changes: [[...endpointsKey, 'list']],
    done: 'Endpoint deleted',
    onDone: () => void navigate({ to: '/webhooks' }),
  });
  return (
    <Button
      variant="light"
      color="red"
      loading={remove.isPending}
      onClick={() =>
        confirm({
          title: 'Delete this endpoint?',
          consequence: (
            <>
              <UserText>{endpoint.url}</UserText> will receive no more events. Pending deliveries
              and the delivery log are deleted.
            </>
          ),
          confirmLabel: 'Delete endpoint',
          onConfirm: () => remove.mutate(undefined),
        })
      }
    >
      Delete
    </Button>
  );
}
