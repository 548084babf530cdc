import { Box, Group, Progress, SimpleGrid, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { WorkspaceDataUsage } from '../../../../../client/index.ts';
import { Loaded } from '../../../parts/loaded.tsx';
import { countText, percentText } from '../../../parts/text/numbers.ts';
import { sentenceCase } from '../../../parts/text/sentence-case.ts';
import { Section } from '../../../parts/page.tsx';
import { When } from '../../../parts/text/time.tsx';
import { dataUsageQuery } from '../../../queries/data.ts';
import { Facts } from '../../../parts/data/facts.tsx';

type Metered = WorkspaceDataUsage['requests'];

/** Data API usage of the workspace this month, compared to its plan. */
export function DataUsage() {
  const usage = useQuery(dataUsageQuery);
  return (
    <Section title="This month">
      <Loaded query={usage}>
        {(month) => (
          <>
            <SimpleGrid cols={{ base: 1, sm: 2 }}>
              <Meter name="Requests" of={month.requests} />
              <Meter name="Credits" of={month.credits} />
            </SimpleGrid>
            <Facts
              of={[
                ['Plan', sentenceCase(month.plan)],
                ['Billed rows', countText(month.records)],
                ['Webhook deliveries', countText(month.webhook_deliveries)],
                ['Source checks', countText(month.source_checks)],
                ['Resets', <When key="end" at={month.period_end} />],
              ]}
            />
          </>
        )}
      </Loaded>
    </Section>
  );
}

function Meter({ name, of: { used, limit } }: { name: string; of: Metered }) {
  const share = limit === null ? undefined : limit === 0 ? 100 : (used / limit) * 100;
  return (
    <Box>
      <Group justify="space-between" gap="xs">
        <Text size="sm" fw={600}>
          {name}
        </Text>
        <Text size="sm">
          {countText(used)} {limit === null ? '(unlimited)' : `of ${countText(limit)}`}
          {share !== undefined && ` (${percentText(share)})`}
        </Text>
      </Group>
      {share !== undefined && (
        <Progress
          mt={4}
          value={Math.min(100, share)}
          color={share >= 100 ? 'red' : share >= 80 ? 'orange' : 'teal'}
          aria-label={`${name} used`}
        />
      )}
    </Box>
  );
}
