import '#console/src/pages/runs/runs.css';
import { Alert, Table } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { ApiError, type Run } from '#client/index.ts';
import { runTimes } from '#console/src/messages/en/parts/values.ts';
import { words } from '#console/src/messages/en/words.ts';
import { compare as text } from '#console/src/messages/en/runs/compare.ts';
import { ChangedPaths, changesOf } from '#console/src/parts/data/changed-paths.tsx';
import { RowTable } from '#console/src/parts/data/row-table.tsx';
import { RunLink, ButtonLink } from '#console/src/parts/links.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { LoadingPage } from '#console/src/parts/loading.tsx';
import { Page } from '#console/src/parts/page.tsx';
import { RunBadge } from '#console/src/parts/run-badges.tsx';
import { durationText } from '#console/src/parts/text/duration.ts';
import { Cost } from '#console/src/parts/text/cost.tsx';
import { countText, dollarsText } from '#console/src/parts/text/numbers.ts';
import { When } from '#console/src/parts/text/time.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { runQuery } from '#console/src/queries/runs.ts';
import { useForkChanges } from '#console/src/pages/runs/fork-changes.ts';
import { MissingRun } from '#console/src/pages/runs/missing-run.tsx';
import { hasEnded } from '#console/src/pages/runs/run-facts.ts';
import { isCut } from './compared.ts';
import { Delta } from './delta.tsx';
import { CompareSteps, type TwoRuns } from './compare-steps.tsx';

const route = getRouteApi('/inside/runs/$runId/compare/$otherId');
const LOOK_EVERY_MS = 5_000;

/** Two runs side by side, step by step. */
export function ComparePage() {
  const { runId, otherId } = route.useParams();
  const left = useRun(runId);
  const right = useRun(otherId);
  if (isMissing(left.error)) return <MissingRun runId={runId} />;
  if (isMissing(right.error)) return <MissingRun runId={otherId} />;
  const loading = (
    <Page title={text.title}>
      <LoadingPage />
    </Page>
  );
  return (
    <Loaded query={left} loading={loading}>
      {(one) => (
        <Loaded query={right} loading={loading}>
          {(other) => <Compared left={one} right={other} />}
        </Loaded>
      )}
    </Loaded>
  );
}

const isMissing = (error: unknown): boolean => error instanceof ApiError && error.status === 404;

const useRun = (runId: string) =>
  useQuery({
    ...runQuery(runId),
    refetchInterval: ({ state: { data } }) =>
      data !== undefined && hasEnded(data) ? false : LOOK_EVERY_MS,
  });

function Compared({ left, right }: TwoRuns) {
  return (
    <Page
      title={text.title}
      about={<UserText>{namesOf(left, right)}</UserText>}
      actions={
        <ButtonLink
          variant="default"
          to="/runs/$runId/compare/$otherId"
          params={{ runId: right.id, otherId: left.id }}
          search={{ step: undefined }}
        >
          {text.swap}
        </ButtonLink>
      }
      wide
    >
      {left.workflow_id !== right.workflow_id && (
        <Alert color="warning">{text.otherWorkflow}</Alert>
      )}
      <Figures left={left} right={right} />
      {(isCut(left) || isCut(right)) && (
        <Dimmed>{text.cut(countText(Math.max(left.steps.length, right.steps.length)))}</Dimmed>
      )}
      <CompareSteps left={left} right={right} />
    </Page>
  );
}

const namesOf = (left: Run, right: Run): string =>
  left.workflow_name === right.workflow_name
    ? left.workflow_name
    : `${left.workflow_name}, ${right.workflow_name}`;

type FigureRow = [name: string, of: (run: Run) => ReactNode, difference?: ReactNode];

const times: readonly [name: string, msOf: (run: Run) => number][] = [
  [runTimes.total, (run) => run.duration_ms + run.waiting_ms],
  [runTimes.working, (run) => run.duration_ms],
  [runTimes.waiting, (run) => run.waiting_ms],
];

const nothing = (): null => null;

/** What the runs were given, if it differs: their input, and what a fork of one from the other has changed in the state. */
function useGivenRows({ left, right }: TwoRuns): FigureRow[] {
  const inputs = useMemo(() => changesOf(left.input, right.input), [left.input, right.input]);
  const swapped = left.forked_from === right.id;
  const fork = swapped ? left : right;
  const found = useForkChanges(fork);
  const related = fork.forked_from === (swapped ? right : left).id;
  const states = (related ? (found?.state ?? []) : []).map(({ path, from, to }) =>
    swapped ? { path, from: to, to: from } : { path, from, to },
  );
  return [
    [words.input, inputs] as const,
    [text.inState(fork.forked_from_step ?? ''), states] as const,
  ].flatMap(([name, changes]): FigureRow[] =>
    changes.length === 0 ? [] : [[name, nothing, <ChangedPaths changes={changes} />]],
  );
}

function Figures({ left, right }: TwoRuns) {
  const rows: FigureRow[] = [
    [words.status, (run) => <RunBadge run={run} />],
    [words.created, ({ created_at: at }) => <When at={at} />],
    [words.version, (run) => (run.of_draft ? text.draft : run.workflow_version)],
    ...times.map(([name, msOf]): FigureRow => [
      name,
      (run) => durationText(msOf(run)),
      <Delta left={msOf(left)} right={msOf(right)} text={durationText} />,
    ]),
    [
      words.cost,
      (run) => <Cost usd={run.cost_usd} unpriced={run.unpriced_steps} />,
      <Delta left={left.cost_usd} right={right.cost_usd} text={dollarsText} />,
    ],
    [words.steps, ({ steps }) => countText(steps.length)],
    [words.error, ({ error }) => error !== null && <UserText>{error}</UserText>],
    ...useGivenRows({ left, right }),
  ];
  return (
    <RowTable
      label={text.figures}
      minWidth={560}
      columns={[{ label: text.figure, hidden: true }, text.left, text.right, text.difference]}
    >
      <Table.Tr>
        <Table.Th scope="row">{words.run}</Table.Th>
        {[left, right].map(({ id }, side) => (
          <Table.Td key={side}>
            <RunLink run={id} size="sm">
              {id}
            </RunLink>
          </Table.Td>
        ))}
        <Table.Td />
      </Table.Tr>
      {rows.map(([name, of, difference]) => (
        <Table.Tr key={name}>
          <Table.Th scope="row">{name}</Table.Th>
          <Table.Td>{of(left)}</Table.Td>
          <Table.Td>{of(right)}</Table.Td>
          <Table.Td>{difference}</Table.Td>
        </Table.Tr>
      ))}
    </RowTable>
  );
}
