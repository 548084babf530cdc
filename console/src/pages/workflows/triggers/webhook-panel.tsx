import { Badge, Button, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Webhook, Workflow } from '../../../../../client/index.ts';
import { api } from '../../../api.ts';
import { useAction } from '../../../parts/forms/action.ts';
import { confirm } from '../../../parts/forms/confirm.tsx';
import { Loaded } from '../../../parts/loaded.tsx';
import { Section } from '../../../parts/page.tsx';
import { Snippet } from '../../../parts/code/snippet.tsx';
import { useMay } from '../../../queries/identity.ts';
import { webhookQuery, webhooksKey } from '../../../queries/webhooks.ts';
import { useChecker } from '../mistakes/use-mistakes.ts';
import { WebhookConfig } from './webhook-config.tsx';
import { curlOf, exampleEvent, signedCurlOf } from './webhook-curl.ts';

/** The URL that starts a run for each event sent to it. */
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
            {mayEdit && <WebhookActions workflowId={workflow.id} webhook={webhook} />}
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
        Enable webhook to get a URL. Programs without an API key can start runs by sending JSON to
        it.
      </Text>
    );
  }
  if (webhook.url.endsWith('*')) {
    return (
      <Text size="sm">
        You need the create_edit_workflows and run_workflows permissions to see the URL, because it
        starts runs.
      </Text>
    );
  }
  const signed = webhook.require_signature;
  return (
    <>
      <Snippet text={webhook.url} what="the URL" />
      <Text size="sm" c="dimmed">
        Anyone with this URL can start runs
        {signed
          ? ' with requests signed with the last part of the URL.'
          : '. Keep it secret, like a password.'}
      </Text>
      <Text size="sm">{signed ? 'Example signed request:' : 'Example request:'}</Text>
      <Snippet
        text={signed ? signedCurlOf(webhook.url, body) : curlOf(webhook.url, body)}
        what="the command"
      />
    </>
  );
}

function WebhookActions({ workflowId, webhook }: { workflowId: string; webhook: Webhook }) {
  const mayRun = useMay('run_workflows');
  const enable = useAction(() => api().enableWebhook(workflowId), {
    changes: [webhooksKey],
    done: webhook.enabled ? 'Webhook URL changed' : 'Webhook enabled',
  });
  const disable = useAction(() => api().disableWebhook(workflowId), {
    changes: [webhooksKey],
    done: 'Webhook disabled',
  });
  if (!webhook.enabled) {
    return (
      <Group>
        <Button
          disabled={!mayRun}
          loading={enable.isPending}
          onClick={() => enable.mutate(undefined)}
        >
          Enable webhook
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
            title: 'Change the webhook URL?',
            consequence:
              'The webhook gets a new secret. Requests to the old URL return 404 immediately.',
            confirmLabel: 'Change webhook URL',
            onConfirm: () => enable.mutate(undefined),
          })
        }
      >
        Change URL{' '}
      </Button>
      <Button
        variant="light"
        color="red"
        loading={disable.isPending}
        onClick={() =>
          confirm({
            title: 'Disable this webhook?',
            consequence:
              'Requests to the URL return 404, and the secret is deleted. If you enable the webhook again, it gets a new URL.',
            confirmLabel: 'Disable webhook',
            onConfirm: () => disable.mutate(undefined),
          })
        }
      >
        Disable
      </Button>
    </Group>
  );
}
