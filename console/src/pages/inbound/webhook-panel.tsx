import { Badge, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Webhook, Workflow } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { webhookPanel as text } from '#console/src/messages/en/workflows/triggers.ts';
import { useAction } from '#console/src/parts/forms/action.ts';
import { ActionButton } from '#console/src/parts/forms/action-button.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { Section } from '#console/src/parts/page.tsx';
import { Snippet } from '#console/src/parts/code/snippet.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { useMay } from '#console/src/queries/identity.ts';
import { webhookQuery, webhooksKey } from '#console/src/queries/workspace.ts';
import { WebhookConfig } from './webhook-config.tsx';
import { useExampleCommand } from './use-example-command.ts';

/** The URL that starts a run for each event sent to it. */
export function WebhookPanel({ workflow }: { workflow: Workflow }) {
  const query = useQuery(webhookQuery(workflow.id));
  const mayEdit = useMay('create_edit_workflows');
  return (
    <Section
      title={text.title}
      actions={
        query.data !== undefined && (
          <Badge
            variant="light"
            c="bright"
            tt="none"
            color={query.data.enabled ? 'success' : 'gray'}
          >
            {query.data.enabled ? text.enabled : text.disabled}
          </Badge>
        )
      }
    >
      <Loaded query={query}>
        {(webhook) => (
          <Stack gap="md">
            <Address workflow={workflow} webhook={webhook} />
            {mayEdit && <WebhookActions workflowId={workflow.id} webhook={webhook} />}
            {mayEdit && <WebhookConfig workflowId={workflow.id} record={webhook} />}
          </Stack>
        )}
      </Loaded>
    </Section>
  );
}

function Address({ workflow, webhook }: { workflow: Workflow; webhook: Webhook }) {
  const command = useExampleCommand(workflow, webhook);
  if (webhook.url === null) {
    return <Text size="sm">{text.enableToGetUrl}</Text>;
  }
  if (command === undefined) {
    return <Text size="sm">{text.urlHidden}</Text>;
  }
  const signed = webhook.require_signature;
  return (
    <>
      <Snippet text={webhook.url} what={text.theUrl} />
      <Dimmed>{signed ? text.anyoneSigned : text.anyone}</Dimmed>
      <Text size="sm">{signed ? text.exampleSigned : text.example}</Text>
      <Snippet text={command} what={text.theCommand} />
    </>
  );
}

function WebhookActions({ workflowId, webhook }: { workflowId: string; webhook: Webhook }) {
  const mayRun = useMay('run_workflows');
  const enable = useAction(() => api().enableWebhook(workflowId), {
    changes: [webhooksKey],
    done: webhook.enabled ? text.urlChanged : text.nowEnabled,
  });
  if (!webhook.enabled) {
    return (
      <Group>
        <ActionButton action={enable} disabled={!mayRun} variant="filled">
          {text.enable}
        </ActionButton>
      </Group>
    );
  }
  return (
    <Group gap="xs">
      <ActionButton
        action={enable}
        ask={text.confirmChangeUrl}
        variant="default"
        disabled={!mayRun}
      >
        {text.changeUrl}{' '}
      </ActionButton>
      <Disable workflowId={workflowId} webhook={webhook} />
    </Group>
  );
}

function Disable({ workflowId, webhook }: { workflowId: string; webhook: Webhook }) {
  const disable = useAction(
    ({ etag }: Webhook) => api().disableWebhook(workflowId, { ifMatch: etag }),
    {
      changes: [webhooksKey],
      done: text.nowDisabled,
    },
  );
  return (
    <ActionButton action={disable} input={webhook} ask={text.confirmDisable}>
      {text.disable}
    </ActionButton>
  );
}
