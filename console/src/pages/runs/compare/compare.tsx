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
import { Row, RowTable } from '#console/src/parts/data/row-table.tsx';
import { RunLink } from '#console/src/parts/links.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { LoadingPage } from '#console/src/parts/loading.tsx';
import { Page } from '#console/src/parts/page.tsx';
import { RunBadge } from '#console/src/parts/run-badges.tsx';
import { durationText } from '#console/src/parts/text/duration.ts';
import { Cost } from '#console/src/parts/text/cost.tsx';
import { countText, dollarsText } from '#console/src/parts/text/numbers.ts';
import { shortId } from '#console/src/parts/text/short-id.ts';
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

/** Two runs side by side, step by step, the older one on the left. */
export function ComparePage() {
  const { runId, otherId } = route.useParams();
  // Ids of runs are in the order of their creation.
  const [olderId = runId, newerId = otherId] = [runId, otherId].toSorted();
  const older = useRun(olderId);
  const newer = useRun(newerId);
  if (isMissing(older.error)) return <MissingRun runId={olderId} />;
  if (isMissing(newer.error)) return <MissingRun runId={newerId} />;
  const loading = (
    <Page title={text.title}>
      <LoadingPage />
    </Page>
  );
  return (
    <Loaded query={older} loading={loading}>
      {(one) => (
        <Loaded query={newer} loading={loading}>
          {(other) => <Compared older={one} newer={other} />}
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

function Compared({ older, newer }: TwoRuns) {
  return (
    <Page title={text.title} about={<UserText>{namesOf(older, newer)}</UserText>} wide>
      {older.workflow_id !== newer.workflow_id && (
        <Alert color="warning">{text.otherWorkflow}</Alert>
      )}
      <Figures older={older} newer={newer} />
      {(isCut(older) || isCut(newer)) && (
        <Dimmed>{text.cut(countText(Math.max(older.steps.length, newer.steps.length)))}</Dimmed>
      )}
      <CompareSteps older={older} newer={newer} />
    </Page>
  );
}

const namesOf = (older: Run, newer: Run): string =>
  older.workflow_name === newer.workflow_name
    ? older.workflow_name
    : `${older.workflow_name}, ${newer.workflow_name}`;

type FigureRow = [name: string, of: (run: Run) => ReactNode, difference?: ReactNode];

const times: readonly [name: string, msOf: (run: Run) => number][] = [
  [runTimes.total, (run) => run.duration_ms + run.waiting_ms],
  [runTimes.working, (run) => run.duration_ms],
  [runTimes.waiting, (run) => run.waiting_ms],
];

const nothing = (): null => null;

/** What the runs were given, if it differs: their input, and what a fork of one from the other has changed in the state. */
function useGivenRows({ older, newer }: TwoRuns): FigureRow[] {
  const inputs = useMemo(() => changesOf(older.input, newer.input), [older.input, newer.input]);
  const changes = useForkChanges(newer);
  const states = newer.forked_from === older.id ? (changes?.state ?? []) : [];
  return [
    [words.input, inputs] as const,
    [text.inState(newer.forked_from_step ?? ''), states] as const,
  ].flatMap(([name, changes]): FigureRow[] =>
    changes.length === 0 ? [] : [[name, nothing, <ChangedPaths changes={changes} />]],
  );
}

function Figures({ older, newer }: TwoRuns) {
  const rows: FigureRow[] = [
    [words.status, (run) => <RunBadge run={run} />],
    [words.created, ({ created_at: at }) => <When at={at} />],
    [words.version, (run) => (run.of_draft ? text.draft : run.workflow_version)],
    ...times.map(([name, msOf]): FigureRow => [
      name,
      (run) => durationText(msOf(run)),
      <Delta older={msOf(older)} newer={msOf(newer)} text={durationText} />,
    ]),
    [
      words.cost,
      (run) => <Cost usd={run.cost_usd} unpriced={run.unpriced_steps} />,
      <Delta older={older.cost_usd} newer={newer.cost_usd} text={dollarsText} />,
    ],
    [words.steps, ({ steps }) => countText(steps.length)],
    [words.error, ({ error }) => error !== null && <UserText>{error}</UserText>],
    ...useGivenRows({ older, newer }),
  ];
  return (
    <RowTable
      label={text.figures}
      minWidth={560}
      columns={[{ label: text.figure, hidden: true }, text.older, text.newer, text.difference]}
    >
      <Row>
        <Table.Th scope="row">{words.run}</Table.Th>
        {[older, newer].map(({ id }, side) => (
          <Table.Td key={side}>
            <RunLink run={id} size="sm" title={id}>
              {shortId(id)}
            </RunLink>
          </Table.Td>
        ))}
        <Table.Td />
      </Row>
      {rows.map(([name, of, difference]) => (
        <Row key={name}>
          <Table.Th scope="row">{name}</Table.Th>
          <Table.Td>{of(older)}</Table.Td>
          <Table.Td>{of(newer)}</Table.Td>
          <Table.Td>{difference}</Table.Td>
        </Row>
      ))}
    </RowTable>
  );
}
