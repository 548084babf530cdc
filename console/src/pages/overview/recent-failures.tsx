import { Badge, Box, Group, Paper, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { RunSummary } from '#client/index.ts';
import { recentFailures as text } from '#console/src/messages/en/overview.ts';
import { Empty } from '#console/src/parts/empty.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { RunLink, TextLink } from '#console/src/parts/links.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { LoadingCards } from '#console/src/parts/loading.tsx';
import { Cost } from '#console/src/parts/text/cost.tsx';
import { Section } from '#console/src/parts/page.tsx';
import { When } from '#console/src/parts/text/time.tsx';
import { recentFailuresQuery } from '#console/src/queries/failures.ts';
import { useMay } from '#console/src/queries/identity.ts';
import { pollMs } from '#console/src/queries/stream-state.ts';

const POLL_MS = 10_000;

/** Failed runs except cancelled and rejected ones, and which of them can be resumed. */
export function RecentFailures() {
  const query = useQuery({ ...recentFailuresQuery, refetchInterval: () => pollMs(POLL_MS) });
  return (
    <Section
      title={text.title}
      actions={
        <Text size="sm">
          <TextLink
            to="/runs"
            search={{ status: 'failed', trigger: undefined, workflow_id: undefined }}
          >
            {text.all}
          </TextLink>
        </Text>
      }
    >
      <Loaded query={query} loading={<LoadingCards cards={1} height={90} />}>
        {(runs) =>
          runs.length === 0 ? (
            <Empty title={text.none} about={text.noneAbout} />
          ) : (
            <Paper
              withBorder
              component="ul"
              className="divided"
              p={0}
              m={0}
              style={{ listStyle: 'none' }}
            >
              {runs.map((run) => (
                <li key={run.id}>
                  <Failed run={run} />
                </li>
              ))}
            </Paper>
          )
        }
      </Loaded>
    </Section>
  );
}

function Failed({ run }: { run: RunSummary }) {
  const mayResume = useMay('cancel_resume');
  return (
    <Box px="sm" py="xs">
      <Group justify="space-between" gap="xs">
        <Text size="sm" fw={600}>
          <RunLink run={run.id}>
            <UserText>{run.workflow_name}</UserText>
          </RunLink>
        </Text>
        <Text size="xs" c="dimmed">
          <When at={run.finished_at ?? run.created_at} ago /> ·{' '}
          <Cost usd={run.cost_usd} unpriced={run.unpriced_steps} />
        </Text>
      </Group>
      <Text size="sm" lineClamp={2}>
        <UserText>{run.error ?? text.noMessage}</UserText>
      </Text>
      <Group gap="xs" mt={4}>
        {run.failure?.kind === 'budget' && (
          <Badge variant="light" color="caution" c="bright" tt="none">
            {text.byBudget}
          </Badge>
        )}
        {run.resumable && mayResume && (
          <Text size="xs">
            <RunLink run={run.id}>{text.view}</RunLink>
          </Text>
        )}
      </Group>
    </Box>
  );
}
