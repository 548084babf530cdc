import { NativeSelect, Stack, Table } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Backtest, BacktestFinding } from '#client/index.ts';
import { words } from '#console/src/messages/en/words.ts';
import {
  backtestSteps as text,
  effectNames,
} from '#console/src/messages/en/governance/backtests.ts';
import { LoadMore } from '#console/src/parts/data/load-more.tsx';
import { Row, RowTable } from '#console/src/parts/data/row-table.tsx';
import { RunLink } from '#console/src/parts/links.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { backtestStepsQuery, type Effect } from '#console/src/queries/backtests.ts';
import { changeText } from './backtest-texts.ts';

const effects = Object.keys(effectNames) as Effect[];

/** The steps that would be judged differently, each linked to its run. */
export function BacktestSteps({ backtest }: { backtest: Backtest }) {
  const [effect, setEffect] = useState<Effect>();
  const query = useInfiniteQuery(backtestStepsQuery(backtest, effect));
  const counted = effects.filter((each) => backtest.summary[each] > 0);
  if (counted.length === 0) return null;
  return (
    <Stack gap="sm">
      {counted.length > 1 && (
        <NativeSelect
          label={words.steps}
          w="fit-content"
          value={effect ?? ''}
          onChange={({ currentTarget: { value } }) =>
            setEffect(effects.find((each) => each === value))
          }
          data={[
            { value: '', label: text.allDifferences },
            ...counted.map((value) => ({ value, label: effectNames[value] })),
          ]}
        />
      )}
      <Loaded query={query}>
        {(rows) => (
          <RowTable
            label={text.table}
            columns={[words.step, words.decision, words.reason]}
            minWidth={560}
          >
            {rows.map((row) => (
              <FindingRow key={`${row.run_id} ${row.step_key}`} finding={row} />
            ))}
          </RowTable>
        )}
      </Loaded>
      <LoadMore query={query} />
      {backtest.truncated && <Dimmed>{text.truncated}</Dimmed>}
    </Stack>
  );
}

function FindingRow({ finding }: { finding: BacktestFinding }) {
  const { run_id: runId, step_key: step, reason } = finding;
  return (
    <Row>
      <RunLink run={runId} step={step}>
        <UserText>{step}</UserText>
      </RunLink>
      <Table.Td>{changeText(finding)}</Table.Td>
      <UserText>{reason}</UserText>
    </Row>
  );
}
