import '@mantine/charts/styles.css';
import { LineChart } from '@mantine/charts';
import { Box } from '@mantine/core';
import { burnDown as text } from '#console/src/messages/en/budgets.ts';
import { dollarsText } from '#console/src/parts/text/numbers.ts';
import type { BurnDownDay } from './burn-down-days.ts';

/** The remaining budget at the end of each day, compared to an even pace. Loaded on demand. */
export function BurnDownChart({ days }: { days: BurnDownDay[] }) {
  return (
    <Box role="img" aria-label={text.chart}>
      <LineChart
        h={220}
        data={days}
        dataKey="date"
        curveType="linear"
        series={[
          { name: 'left', label: text.remaining, color: 'accent.6' },
          { name: 'pace', label: text.evenPace, color: 'gray.6', strokeDasharray: '4 4' },
        ]}
        referenceLines={[{ y: 0, color: 'danger.6' }]}
        valueFormatter={dollarsText}
        connectNulls={false}
        withLegend
        withDots={days.length < 40}
        accessibilityLayer={false}
        xAxisProps={{ minTickGap: 24, tickFormatter: (date: string) => date.slice(5) }}
        yAxisProps={{ width: 72 }}
      />
    </Box>
  );
}
