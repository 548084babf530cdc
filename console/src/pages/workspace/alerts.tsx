import { Button, Card, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { AlertChannel } from '../../../../client/index.ts';
import { api } from '../../api.ts';
import { useAction } from '../../parts/forms/action.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Section } from '../../parts/page.tsx';
import { Tag } from '../../parts/tag.tsx';
import { alertsQuery } from '../../queries/alerts.ts';
import { useMay } from '../../queries/identity.ts';

const channelNames = {
  chat: 'Chat message',
  email: 'Email',
} as const satisfies Record<AlertChannel['channel'], string>;

const eventTexts = {
  failed: 'failed runs',
  paused: 'runs waiting at a gate',
} as const satisfies Record<AlertChannel['events'][number], string>;

/** Alerts about runs that need a person. The operator of the service configures the channels. */
export function Alerts() {
  const alerts = useQuery(alertsQuery);
  const configured = alerts.data?.channels.filter((channel) => channel.configured) ?? [];
  return (
    <Section title="Alerts" actions={configured.length > 0 && <SendTest />}>
      <Text size="sm" c="dimmed">
        Sent when a run fails or waits for approval, with a link to the run. Addresses and
        credentials are part of the service configuration.
      </Text>
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
  return (
    <Card withBorder>
      <Stack gap="xs">
        <Group justify="space-between">
          <Title order={3} size="h6">
            {channelNames[channel]}
          </Title>
          <Tag color={configured ? 'teal' : 'gray'}>
            {configured ? 'Configured' : 'Not configured'}
          </Tag>
        </Group>
        <Text size="sm">
          {configured ? 'Sends alerts for' : 'Can send alerts for'}{' '}
          {events.map((event) => eventTexts[event]).join(' and ')}.
        </Text>
        <Text size="xs" c="dimmed">
          {hint}
        </Text>
      </Stack>
    </Card>
  );
}

function SendTest() {
  const test = useAction(() => api().testAlerts(), {
    changes: [],
    done: ({ channels }) =>
      `Test alert sent: ${channels.map((channel) => channelNames[channel]).join(', ')}`,
  });
  if (!useMay('manage_workspace')) return null;
  return (
    <Button
      size="compact-sm"
      variant="default"
      loading={test.isPending}
      onClick={() => test.mutate(undefined)}
    >
      Send test alert
    </Button>
  );
}
