import '@mantine/charts/styles.css';
import { BarChart } from '@mantine/charts';
import { Box } from '@mantine/core';
import type { DayRow, DaySeries } from './day-bars.tsx';

/** The bars themselves: loaded when they are shown. */
export function DayBarsChart({
  label,
  rows,
  series,
}: {
  label: string;
  rows: DayRow[];
  series: DaySeries;
}) {
  return (
    <Box role="img" aria-label={`${label}, as bars`}>
      <BarChart
        h={180}
        data={rows}
        dataKey="date"
        series={[{ name: series.name, label: series.label, color: series.colour }]}
        valueFormatter={series.text}
        accessibilityLayer={false}
        xAxisProps={{ minTickGap: 24, tickFormatter: dayOfMonth }}
        // Half of the topmost figure stands above the bars; without room there it is left out or moved.
        barChartProps={{ margin: { top: 10 } }}
        yAxisProps={{ width: 64, interval: 0 }}
      />
    </Box>
  );
}

/** `2026-11-21` → `11-21`: the year is plain, and there is little room. */
const dayOfMonth = (date: string): string => date.slice(5);
