import { ScrollArea, Skeleton, Stack, Table } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Suspense } from 'react';
import { lazyPart } from '#console/src/chunks.ts';
import type { Budget, BudgetHistory } from '#client/index.ts';
import { burnDown as text } from '#console/src/messages/en/budgets.ts';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { dollarsText } from '#console/src/parts/text/numbers.ts';
import { useNow } from '#console/src/parts/text/now.ts';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { budgetHistoryQuery } from '#console/src/queries/budgets.ts';
import { burnDown, type BurnDownDay } from './burn-down-days.ts';

const BurnDownChart = lazyPart(() => import('./burn-down-chart.tsx'), 'BurnDownChart');

/** The current window of a budget, day by day, as a chart and a table. */
export function BurnDown({ budget }: { budget: Budget }) {
  const history = useQuery(budgetHistoryQuery(budget.id));
  return <Loaded query={history}>{(loaded) => <Days budget={budget} history={loaded} />}</Loaded>;
}

function Days({ budget, history }: { budget: Budget; history: BudgetHistory }) {
  const days = burnDown(history, budget.status.spent_usd, useNow());
  const past = days.filter((day) => day.left !== null);
  return (
    <Stack gap="sm">
      {days.length > 1 && (
        <Suspense fallback={<Skeleton h={220} />}>
          <BurnDownChart days={days} />
        </Suspense>
      )}
      {budget.window === 'total' && <Dimmed size="xs">{text.lastDays}</Dimmed>}
      <DaysTable days={past} name={budget.name} />
    </Stack>
  );
}

function DaysTable({ days, name }: { days: BurnDownDay[]; name: string }) {
  return (
    <ScrollArea.Autosize
      mah={240}
      viewportProps={{ tabIndex: 0, role: 'region', 'aria-label': text.days }}
    >
      <Table aria-label={text.daysOf(name)} verticalSpacing={4}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{text.day}</Table.Th>
            <Table.Th className="numbers">{text.spent}</Table.Th>
            <Table.Th className="numbers">{text.remaining}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {days.toReversed().map(({ date, spent, left }) => (
            <Table.Tr key={date}>
              <Table.Td>{date}</Table.Td>
              <Table.Td className="numbers">{dollarsText(spent)}</Table.Td>
              <Table.Td className="numbers">{dollarsText(left ?? 0)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollArea.Autosize>
  );
}
