import { Button, Skeleton, Stack, Table } from '@mantine/core';
import { Suspense, useState } from 'react';
import { lazyPart } from '#console/src/chunks.ts';
import { dayBars as text } from '#console/src/messages/en/parts/data.ts';
import { pageAtRest } from '#console/src/parts/at-rest.ts';
import type { DayRow, DaySeries } from '#console/src/parts/data/day-bars-chart.tsx';

// The chart library is half as large as all other scripts together, so the page is rendered first.
const DayBarsChart = lazyPart(async () => {
  await pageAtRest();
  return import('./day-bars-chart.tsx');
}, 'DayBarsChart');

/** A value per UTC day as bars, or as a table for people who cannot see them. */
export function DayBars({
  label,
  rows,
  series,
}: {
  label: string;
  rows: DayRow[];
  series: DaySeries;
}) {
  const [asTable, setAsTable] = useState(false);
  return (
    <Stack gap="xs" align="stretch">
      {asTable ? (
        <DayTable label={label} rows={rows} series={series} />
      ) : (
        <Suspense fallback={<Skeleton h={180} />}>
          <DayBarsChart label={label} rows={rows} series={series} />
        </Suspense>
      )}
      <Button
        size="compact-xs"
        variant="subtle"
        onClick={() => setAsTable(!asTable)}
        style={{ alignSelf: 'flex-end' }}
      >
        {asTable ? text.asBars : text.asTable}
      </Button>
    </Stack>
  );
}

function DayTable({ label, rows, series }: { label: string; rows: DayRow[]; series: DaySeries }) {
  return (
    <Table aria-label={label} withRowBorders={false} verticalSpacing={2} maw={360}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{text.day}</Table.Th>
          <Table.Th className="numbers">{series.label}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map((row) => (
          <Table.Tr key={row.date}>
            <Table.Td>{row.date}</Table.Td>
            <Table.Td className="numbers">{series.text(Number(row[series.name]))}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
