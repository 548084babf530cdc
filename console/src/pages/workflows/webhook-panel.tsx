import { Badge, Button, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Webhook, Workflow } from '../../../../client/index.ts';
import { api } from '../../api.ts';
import { useAction } from '../../parts/action.ts';
import { confirm } from '../../parts/confirm.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Section } from '../../parts/page.tsx';
import { Snippet } from '../../parts/snippet.tsx';
import { useMay } from '../../queries/identity.ts';
import { webhookQuery, webhooksKey } from '../../queries/webhooks.ts';
import { useChecker } from './use-mistakes.ts';
import { WebhookConfig } from './webhook-config.tsx';
import { curlOf, exampleEvent, signedCurlOf } from './webhook-curl.ts';

/** The address that starts a run for whatever is sent to it. */
export function WebhookPanel({ workflow }: { workflow: Workflow }) {
  const query = useQuery(webhookQuery(workflow.id));
  const mayEdit = useMay('create_edit_workflows');
  return (
    <Section
      title="Webhook"
      actions={
        query.data !== undefined && (
          <Badge variant="light" c="bright" tt="none" color={query.data.enabled ? 'teal' : 'gray'}>
            {query.data.enabled ? 'enabled' : 'disabled'}
          </Badge>
        )
      }
    >
      <Loaded query={query}>
        {(webhook) => (
          <Stack gap="md">
            <Address workflow={workflow} webhook={webhook} />
            {mayEdit && <WebhookActs workflowId={workflow.id} webhook={webhook} />}
            {mayEdit && <WebhookConfig workflowId={workflow.id} webhook={webhook} />}
          </Stack>
        )}
      </Loaded>
    </Section>
  );
}

function Address({ workflow, webhook }: { workflow: Workflow; webhook: Webhook }) {
  const checker = useChecker();
  const body = useMemo(
    () => exampleEvent(webhook.event_id_field, checker?.inputKeys(workflow.graph) ?? []),
    [checker, webhook.event_id_field, workflow.graph],
  );
  if (webhook.url === null) {
    return (
      <Text size="sm">
        Once it is enabled, programs without an API key can start runs by sending JSON to an address
        of its own.
      </Text>
    );
  }
  if (webhook.url.endsWith('*')) {
    return (
      <Text size="sm">
        Its address starts runs, so it is shown only to those who hold create_edit_workflows and
        run_workflows.
      </Text>
    );
  }
  const signed = webhook.require_signature;
  return (
    <>
      <Snippet text={webhook.url} what="the address" />
      <Text size="sm" c="dimmed">
        Whoever knows the address can start runs
        {signed
          ? ', if they sign what they send with its last part.'
          : '. Keep it like a password.'}
      </Text>
      <Text size="sm">{signed ? 'Signed and sent from a shell:' : 'Sent from a shell:'}</Text>
      <Snippet
        text={signed ? signedCurlOf(webhook.url, body) : curlOf(webhook.url, body)}
        what="the command"
      />
    </>
  );
}

function WebhookActs({ workflowId, webhook }: { workflowId: string; webhook: Webhook }) {
  const mayRun = useMay('run_workflows');
  const enable = useAction(() => api().enableWebhook(workflowId), {
    changes: [webhooksKey],
    done: webhook.enabled ? 'The webhook has a new address' : 'The webhook is enabled',
  });
  const disable = useAction(() => api().disableWebhook(workflowId), {
    changes: [webhooksKey],
    done: 'The webhook is disabled',
  });
  if (!webhook.enabled) {
    return (
      <Group>
        <Button
          disabled={!mayRun}
          loading={enable.isPending}
          onClick={() => enable.mutate(undefined)}
        >
          Enable the webhook
        </Button>
      </Group>
    );
  }
  return (
    <Group gap="xs">
      <Button
        variant="default"
        disabled={!mayRun}
        loading={enable.isPending}
        onClick={() =>
          confirm({
            title: 'Change the address?',
            consequence:
              'The webhook gets another secret. Whoever still sends to the old address gets 404 at once.',
            confirmLabel: 'Change it',
            onConfirm: () => enable.mutate(undefined),
          })
        }
      >
        Change the address
      </Button>
      <Button
        variant="light"
        color="red"
        loading={disable.isPending}
        onClick={() =>
          confirm({
            title: 'Disable the webhook?',
            consequence:
              'The address answers 404 from then on, and its secret is forgotten. Enabling it again makes another address.',
            confirmLabel: 'Disable',
            onConfirm: () => disable.mutate(undefined),
          })
        }
      >
        Disable
      </Button>
    </Group>
  );
}
