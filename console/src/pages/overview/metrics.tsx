import { Paper, SimpleGrid, Text } from '@mantine/core';
import type { MetricsOverview } from '../../../../client/index.ts';
import { countText, dollarsText, percentText } from '../../parts/text/numbers.ts';

/** All-time metrics of the workspace. */
export function Metrics({ metrics }: { metrics: MetricsOverview }) {
  const finished = metrics.total_runs > 0;
  const figures = [
    { name: 'Runs', value: countText(metrics.total_runs) },
    { name: 'Success rate', value: finished ? percentText(metrics.success_rate) : '–' },
    { name: 'Cost', value: dollarsText(metrics.total_cost_usd) },
    { name: 'Published workflows', value: countText(metrics.active_workflows) },
    {
      name: 'Checks passed',
      value: metrics.eval_pass_rate === null ? '–' : percentText(metrics.eval_pass_rate),
      more:
        metrics.evaluated_runs === 1
          ? 'of 1 run with checks'
          : `of ${countText(metrics.evaluated_runs)} runs with checks`,
    },
  ];
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, lg: 5 }} spacing="sm" component="dl" m={0}>
      {figures.map(({ name, value, more }) => (
        <Paper key={name} withBorder p="md">
          <Text component="dt" size="xs" c="dimmed">
            {name}
          </Text>
          <Text component="dd" m={0} size="xl" fw={650}>
            {value}
            {more !== undefined && (
              <Text span size="xs" c="dimmed" fw={400} display="block">
                {more}
              </Text>
            )}
          </Text>
        </Paper>
      ))}
    </SimpleGrid>
  );
}
