import { Button, Card, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { AlertChannel } from '../../../../client/index.ts';
import { api } from '../../api.ts';
import { useAction } from '../../parts/action.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Section } from '../../parts/page.tsx';
import { Tag } from '../../parts/tag.tsx';
import { alertsQuery } from '../../queries/alerts.ts';
import { useMay } from '../../queries/identity.ts';

const channelNames = {
  chat: 'Chat message',
  email: 'E-mail',
} as const satisfies Record<AlertChannel['channel'], string>;

const eventTexts = {
  failed: 'a run that failed',
  paused: 'a run that waits at a gate',
} as const satisfies Record<AlertChannel['events'][number], string>;

/** How people are told of runs that need them. What is set up is a matter of whoever runs the service. */
export function Alerts() {
  const alerts = useQuery(alertsQuery);
  const configured = alerts.data?.channels.filter((channel) => channel.configured) ?? [];
  return (
    <Section title="Alerts" actions={configured.length > 0 && <SendTest />}>
      <Text size="sm" c="dimmed">
        Sent when a run fails or waits for a person, with a link to the page where one acts.
        Addresses and keys are settings of the service, not of the workspace.
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
          <Tag color={configured ? 'teal' : 'gray'}>{configured ? 'set up' : 'not set up'}</Tag>
        </Group>
        <Text size="sm">
          {configured ? 'Tells of' : 'Would tell of'}{' '}
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
      `A test is on its way: ${channels.map((channel) => channelNames[channel]).join(', ')}`,
  });
  if (!useMay('manage_workspace')) return null;
  return (
    <Button
      size="compact-sm"
      variant="default"
      loading={test.isPending}
      onClick={() => test.mutate(undefined)}
    >
      Send a test
    </Button>
  );
}
