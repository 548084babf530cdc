import { Button, Card, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import type { AlertChannel, AlertSettings } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import {
  alerts as text,
  channelNames,
  eventTexts,
} from '#console/src/messages/en/workspace/alerts.ts';
import { useAction } from '#console/src/parts/forms/action.ts';
import { ActionButton } from '#console/src/parts/forms/action-button.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { Section } from '#console/src/parts/page.tsx';
import { Tag } from '#console/src/parts/tag.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { alertsQuery } from '#console/src/queries/workspace.ts';
import { useMay } from '#console/src/queries/identity.ts';
import { AlertsForm } from './alerts-form.tsx';

/** What the workspace sends alerts for, and where they go. */
export function Alerts() {
  const alerts = useQuery(alertsQuery);
  const mayChange = useMay('manage_workspace');
  const [editing, { open, close }] = useDisclosure(false);
  const configured = alerts.data?.channels.filter((channel) => channel.configured) ?? [];
  return (
    <Section
      title={text.title}
      actions={
        mayChange &&
        alerts.data !== undefined && (
          <>
            {configured.length > 0 && <SendTest />}
            <Button size="compact-sm" variant="default" onClick={open}>
              {text.edit}
            </Button>
          </>
        )
      }
    >
      <Dimmed>{text.about}</Dimmed>
      <Loaded query={alerts}>
        {(settings) => (
          <>
            <SimpleGrid cols={{ base: 1, sm: 2 }}>
              {settings.channels.map((channel) => (
                <ChannelCard key={channel.channel} of={channel} settings={settings} />
              ))}
            </SimpleGrid>
            {settings.decide_by_link && <Text size="sm">{text.links}</Text>}
            {!mayChange && <Dimmed size="xs">{text.permissionNeeded}</Dimmed>}
            {editing && <AlertsForm record={settings} onClose={close} />}
          </>
        )}
      </Loaded>
    </Section>
  );
}

function ChannelCard({
  of: { channel, configured, source, events, hint, problem },
  settings,
}: {
  of: AlertChannel;
  settings: AlertSettings;
}) {
  const names = events.map((event) => eventTexts[event]);
  const addresses = {
    chat: text.to(settings.chat_webhook_url ?? ''),
    email: text.to(settings.email.join(', ')),
    slack: text.asksIn(settings.slack?.channel ?? ''),
  } satisfies Record<AlertChannel['channel'], string>;
  const sends = configured ? text.sendsFor(names) : text.canSendFor(names);
  return (
    <Card withBorder>
      <Stack gap="xs">
        <Group justify="space-between">
          <Title order={3} size="h6">
            {channelNames[channel]}
          </Title>
          <Tag color={configured ? 'success' : 'gray'}>
            {configured ? text.configured : text.notConfigured}
          </Tag>
        </Group>
        <Text size="sm">{names.length === 0 ? text.sendsNothing : sends}</Text>
        {source === 'workspace' && (
          <Text size="sm">
            <UserText>{addresses[channel]}</UserText>
          </Text>
        )}
        {problem !== null && (
          <Text size="sm" c="danger">
            <UserText>{text.slackProblem(problem)}</UserText>
          </Text>
        )}
        <Dimmed size="xs">{source === 'service' ? text.fromService : !configured && hint}</Dimmed>
      </Stack>
    </Card>
  );
}

function SendTest() {
  const test = useAction(() => api().testAlerts(), {
    changes: [],
    done: ({ channels }) => text.testSent(channels.map((channel) => channelNames[channel])),
  });
  return (
    <ActionButton size="compact-sm" action={test}>
      {text.test}
    </ActionButton>
  );
}
