import { Card, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { AlertChannel } from '#client/index.ts';
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
import { alertsQuery } from '#console/src/queries/workspace.ts';
import { useMay } from '#console/src/queries/identity.ts';

/** Alerts about runs that need a person. The operator of the service configures the channels. */
export function Alerts() {
  const alerts = useQuery(alertsQuery);
  const configured = alerts.data?.channels.filter((channel) => channel.configured) ?? [];
  return (
    <Section title={text.title} actions={configured.length > 0 && <SendTest />}>
      <Dimmed>{text.about}</Dimmed>
      <Loaded query={alerts}>
        {({ channels }) => (
          <SimpleGrid cols={{ base: 1, sm: 2 }}>
            {channels.map((channel) => (
              <ChannelCard key={channel.channel} channel={channel} />
            ))}
          </SimpleGrid>
        )}
      </Loaded>
    </Section>
  );
}

function ChannelCard({
  channel: { channel, configured, events, hint },
}: {
  channel: AlertChannel;
}) {
  const names = events.map((event) => eventTexts[event]);
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
        <Text size="sm">{configured ? text.sendsFor(names) : text.canSendFor(names)}</Text>
        <Dimmed size="xs">{hint}</Dimmed>
      </Stack>
    </Card>
  );
}

function SendTest() {
  const test = useAction(() => api().testAlerts(), {
    changes: [],
    done: ({ channels }) => text.testSent(channels.map((channel) => channelNames[channel])),
  });
  if (!useMay('manage_workspace')) return null;
  return (
    <ActionButton size="compact-sm" action={test}>
      {text.test}
    </ActionButton>
  );
}
