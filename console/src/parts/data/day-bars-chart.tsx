import '@mantine/charts/styles.css';
import { BarChart } from '@mantine/charts';
import { Box } from '@mantine/core';
import { locale } from '#console/src/messages/en/locale.ts';
import { dayBars as text } from '#console/src/messages/en/parts/data.ts';

export type DayRow = { date: string } & Record<string, number | string>;

export interface DaySeries {
  /** The field of a row. */
  name: string;
  label: string;
  colour: string;
  text: (value: number) => string;
}

/** The chart, loaded on demand. */
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
    <Box role="img" aria-label={text.bars(label)}>
      <BarChart
        h={180}
        data={rows}
        dataKey="date"
        series={[{ name: series.name, label: series.label, color: series.colour }]}
        valueFormatter={series.text}
        accessibilityLayer={false}
        xAxisProps={{ minTickGap: 24, tickFormatter: dayOfMonth }}
        // Space for the upper half of the top axis label; without it, the label is omitted or moved.
        barChartProps={{ margin: { top: 10 } }}
        yAxisProps={{ width: 64, interval: 0 }}
      />
    </Box>
  );
}

const days = new Intl.DateTimeFormat(locale, { month: 'short', day: 'numeric', timeZone: 'UTC' });
/** `2026-11-21` → `Nov 21`: the year is obvious, and space is limited. */
const dayOfMonth = (date: string): string => days.format(new Date(date));
