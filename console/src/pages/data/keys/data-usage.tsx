import { Box, Group, Progress, SimpleGrid, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { WorkspaceDataUsage } from '#client/index.ts';
import { dataUsage as text } from '#console/src/messages/en/data/keys.ts';
import { planTexts } from '#console/src/messages/en/parts/plans.ts';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { countText, percentText } from '#console/src/parts/text/numbers.ts';
import { Section } from '#console/src/parts/page.tsx';
import { When } from '#console/src/parts/text/time.tsx';
import { dataUsageQuery } from '#console/src/queries/data.ts';
import { Facts } from '#console/src/parts/data/facts.tsx';

type Metered = WorkspaceDataUsage['requests'];

/** Data API usage of the workspace this month, compared to its plan. */
export function DataUsage() {
  const usage = useQuery(dataUsageQuery);
  return (
    <Section title={text.title}>
      <Loaded query={usage}>
        {(month) => (
          <>
            <SimpleGrid cols={{ base: 1, sm: 2 }}>
              <Meter texts={text.requests} of={month.requests} />
              <Meter texts={text.credits} of={month.credits} />
            </SimpleGrid>
            <Facts
              of={[
                [text.plan, planTexts[month.plan]],
                [text.billedRows, countText(month.records)],
                [text.webhookDeliveries, countText(month.webhook_deliveries)],
                [text.sourceChecks, countText(month.source_checks)],
                [text.resets, <When key="end" at={month.period_end} />],
              ]}
            />
          </>
        )}
      </Loaded>
    </Section>
  );
}

function Meter({
  texts,
  of: { used, limit },
}: {
  texts: { name: string; used: string };
  of: Metered;
}) {
  const share = limit === null ? undefined : limit === 0 ? 100 : (used / limit) * 100;
  return (
    <Box>
      <Group justify="space-between" gap="xs">
        <Text size="sm" fw={600}>
          {texts.name}
        </Text>
        <Text size="sm">
          {limit === null || share === undefined
            ? text.unlimited(countText(used))
            : text.limited(countText(used), countText(limit), percentText(share))}
        </Text>
      </Group>
      {share !== undefined && (
        <Progress
          mt={4}
          value={Math.min(100, share)}
          color={share >= 100 ? 'danger' : share >= 80 ? 'caution' : 'success'}
          aria-label={texts.used}
        />
      )}
    </Box>
  );
}
