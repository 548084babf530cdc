import { Paper, SimpleGrid, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { MetricsOverview } from '#client/index.ts';
import { words } from '#console/src/messages/en/words.ts';
import { metrics as text } from '#console/src/messages/en/overview.ts';
import { cancelledQuery } from '#console/src/queries/failures.ts';
import { countText, dollarsText, percentText } from '#console/src/parts/text/numbers.ts';

export const figureColumns = { base: 2, sm: 3, lg: 5 };

const cancelledText = ({ count, more }: { count: number; more: boolean }): string =>
  more ? text.manyCancelled(countText(count)) : text.cancelled(count);

/** All-time metrics of the workspace. */
export function Metrics({ metrics }: { metrics: MetricsOverview }) {
  const { data: cancelled } = useQuery(cancelledQuery);
  const finished = metrics.total_runs > 0;
  const figures = [
    { name: words.runs, value: countText(metrics.total_runs) },
    {
      name: text.successRate,
      value: finished ? percentText(metrics.success_rate) : '–',
      more: cancelled !== undefined && cancelled.count > 0 ? cancelledText(cancelled) : undefined,
    },
    { name: words.cost, value: dollarsText(metrics.total_cost_usd) },
    { name: text.published, value: countText(metrics.active_workflows) },
    {
      name: text.checksPassed,
      value: metrics.eval_pass_rate === null ? '–' : percentText(metrics.eval_pass_rate),
      more: text.ofRunsWithChecks(metrics.evaluated_runs),
    },
  ];
  return (
    <SimpleGrid cols={figureColumns} spacing="sm" component="dl" m={0}>
      {figures.map(({ name, value, more }) => (
        <Paper key={name} withBorder p="md">
          <Text component="dt" size="xs" c="dimmed">
            {name}
          </Text>
          <Text component="dd" m={0} size="xl" fw={600}>
            {value}
            {more !== undefined && (
              <Text span size="xs" c="dimmed" fw={450} display="block">
                {more}
              </Text>
            )}
          </Text>
        </Paper>
      ))}
    </SimpleGrid>
  );
}
