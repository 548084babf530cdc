import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import type { DataEndpoint } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import { endpointActions as text } from '#console/src/messages/en/webhooks.ts';
import { Message } from '#console/src/messages/message.tsx';
import { useAction } from '#console/src/parts/forms/action.ts';
import { confirm } from '#console/src/parts/forms/confirm.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { endpointQuery, endpointsKey } from '#console/src/queries/data.ts';
import { useMay } from '#console/src/queries/identity.ts';
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
      <Button variant="default" loading={ping.isPending} onClick={() => ping.mutate(undefined)}>
        {text.sendTest}
      </Button>
      <Button variant="default" onClick={open}>
        {words.edit}
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
          title: text.rollTitle,
          consequence: text.rollConsequence,
          confirmLabel: text.roll,
          dangerous: false,
          onConfirm: () => rotate.mutate(undefined),
        })
      }
    >
      {text.roll}
    </Button>
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
    <Button
      variant="light"
      color="danger"
      loading={remove.isPending}
      onClick={() =>
        confirm({
          title: text.deleteTitle,
          consequence: (
            <Message
              text={text.deleteConsequence}
              values={{ url: <UserText>{endpoint.url}</UserText> }}
            />
          ),
          confirmLabel: text.deleteConfirm,
          onConfirm: () => remove.mutate(endpoint),
        })
      }
    >
      {words.delete}
    </Button>
  );
}
