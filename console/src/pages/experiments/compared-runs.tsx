import './experiments.css';
import { Badge, Box, Button, Group, SegmentedControl, Stack, Table, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMemo, useState } from 'react';
import type { ComparedRun, Experiment } from '#client/index.ts';
import { words } from '#console/src/messages/en/words.ts';
import {
  comparedRuns as text,
  experimentResults,
} from '#console/src/messages/en/workflows/experiments.ts';
import { Message } from '#console/src/messages/message.tsx';
import { Row, RowTable } from '#console/src/parts/data/row-table.tsx';
import { Empty } from '#console/src/parts/empty.tsx';
import { RunLink } from '#console/src/parts/links.tsx';
import { durationText } from '#console/src/parts/text/duration.ts';
import { countText, dollarsText } from '#console/src/parts/text/numbers.ts';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { OutputChange } from './output-change.tsx';
import {
  groupsOf,
  meanDifference,
  type Result,
  resultOf,
  results,
  type RunGroup,
} from './run-groups.ts';
import { ResultBadge } from './outcome.tsx';

/** The runs of an experiment that are done: one row for all runs with the same change. */
export function ComparedRuns({
  runs,
  status,
}: {
  runs: readonly ComparedRun[];
  status: Experiment['status'];
}) {
  const [result, setResult] = useState<Result>();
  const groups = useMemo(
    () => groupsOf(runs.filter((run) => result === undefined || resultOf(run) === result)),
    [runs, result],
  );
  if (runs.length === 0) {
    return <Empty title={status === 'running' ? text.noneYet : text.none} />;
  }
  return (
    <Stack gap="sm">
      <ResultFilter runs={runs} result={result} choose={setResult} />
      {groups.length === 0 ? <Empty title={text.noneOf} /> : <GroupTable groups={groups} />}
    </Stack>
  );
}

const ALL = 'all';

function ResultFilter({
  runs,
  result,
  choose,
}: {
  runs: readonly ComparedRun[];
  result: Result | undefined;
  choose: (result: Result | undefined) => void;
}) {
  const countOf = (each: Result): number => runs.filter((run) => resultOf(run) === each).length;
  const found = results.filter((each) => each === result || countOf(each) > 0);
  return (
    <Box style={{ overflowX: 'auto' }}>
      <SegmentedControl
        size="xs"
        aria-label={text.filter}
        value={result ?? ALL}
        onChange={(value) => choose(value === ALL ? undefined : (value as Result))}
        data={[
          { value: ALL, label: text.all(countText(runs.length)) },
          ...found.map((each) => ({
            value: each,
            label: text.of(experimentResults[each], countText(countOf(each))),
          })),
        ]}
      />
    </Box>
  );
}

const GroupTable = ({ groups }: { groups: readonly RunGroup[] }) => (
  <RowTable
    label={text.table}
    minWidth={960}
    columns={[
      words.result,
      text.input,
      text.beforeColumn,
      text.after,
      words.checks,
      { label: text.cost, numbers: true },
      { label: text.time, numbers: true },
    ]}
  >
    {groups.map((group) => (
      <GroupRow key={group.runs[0].run_id} {...group} />
    ))}
  </RowTable>
);

const GroupRow = ({ result, runs }: RunGroup) => (
  <Row className="compared-run">
    <Group gap={4} wrap="nowrap">
      {runs.length > 1 && <b className="numbers">{text.times(countText(runs.length))}</b>}
      <ResultBadge result={result} />
    </Group>
    <Inputs runs={runs} />
    <OutputChange run={runs[0]} side="before" />
    <OutputChange run={runs[0]} side="after" />
    <Checks checks={runs[0].checks} />
    <Table.Td className="numbers">
      <Difference of={meanDifference(runs, 'cost_usd')} text={dollarsText} />
    </Table.Td>
    <Table.Td className="numbers">
      <Difference of={meanDifference(runs, 'duration_ms')} text={durationText} />
    </Table.Td>
  </Row>
);

/** The input of the first run of a group, with links to all of them. */
function Inputs({ runs }: Pick<RunGroup, 'runs'>) {
  const [opened, { toggle }] = useDisclosure(false);
  const [first, ...others] = runs;
  return (
    <Stack gap={8} align="flex-start">
      <RunLinks run={first} />
      {others.length > 0 && (
        <Button size="compact-sm" variant="default" aria-expanded={opened} onClick={toggle}>
          {opened ? text.hideRuns : text.runsOf(others.length)}
        </Button>
      )}
      {opened && others.map((run) => <RunLinks key={run.run_id} run={run} />)}
    </Stack>
  );
}

const RunLinks = ({
  run: { run_id: runId, rehearsal_run_id: rehearsalId, input },
}: {
  run: ComparedRun;
}) => (
  <Stack gap={8} align="flex-start" fz="sm">
    {input === null ? (
      <Dimmed>{text.deleted}</Dimmed>
    ) : (
      <RunLink run={runId} className="compared-input">
        {input}
      </RunLink>
    )}
    {rehearsalId !== null && <RunLink run={rehearsalId}>{text.rehearsal}</RunLink>}
  </Stack>
);

function Checks({ checks }: Pick<ComparedRun, 'checks'>) {
  if (checks.lost.length + checks.won.length === 0) return null;
  return (
    <Group gap={4}>
      {(['lost', 'won'] as const).map((word) =>
        checks[word].map((name) => (
          <Badge
            key={`${word} ${name}`}
            variant="light"
            color={word === 'lost' ? 'danger' : 'success'}
            c="bright"
            tt="none"
          >
            <Message text={text.checks[word]} values={{ name: <UserText>{name}</UserText> }} />
          </Badge>
        )),
      )}
    </Group>
  );
}

/** How much more, in red, or less, in green, the candidate needs per run. */
function Difference({
  of,
  text: format,
}: {
  of: number | undefined;
  text: (amount: number) => string;
}) {
  if (of === undefined || format(Math.abs(of)) === format(0)) {
    return <Dimmed>{text.noDifference}</Dimmed>;
  }
  const colour = of > 0 ? 'danger' : 'success';
  return (
    <Text size="sm" c={`var(--mantine-color-${colour}-light-color)`}>
      {of > 0 ? '+' : '−'}
      {format(Math.abs(of))}
    </Text>
  );
}
