import { SimpleGrid, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { MetricsOverview, Workspace } from '#client/index.ts';
import { words } from '#console/src/messages/en/words.ts';
import { overview as text } from '#console/src/messages/en/overview.ts';
import { DayBars } from '#console/src/parts/data/day-bars.tsx';
import { ButtonLink } from '#console/src/parts/links.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { LoadingCards } from '#console/src/parts/loading.tsx';
import { countText, dollarsText } from '#console/src/parts/text/numbers.ts';
import { Page, Section } from '#console/src/parts/page.tsx';
import { useMay } from '#console/src/queries/identity.ts';
import { latestRunsQuery } from '#console/src/queries/runs.ts';
import { metricsQuery, workspaceQuery } from '#console/src/queries/workspace.ts';
import { pollMs } from '#console/src/queries/stream-state.ts';
import { FirstSteps } from './first-steps.tsx';
import { figureColumns, Metrics } from './metrics.tsx';
import { Quota } from './quota.tsx';
import { Done, StartHere, useStartHere } from './start-here.tsx';
import { RecentFailures } from './recent-failures.tsx';
import { WaitingGates } from './waiting-gates.tsx';

const POLL_MS = 10_000;

/** The state of the workspace, and what needs attention. */
export function OverviewPage() {
  const metrics = useQuery({ ...metricsQuery, refetchInterval: () => pollMs(POLL_MS) });
  const workspace = useQuery(workspaceQuery);
  const mayMake = useMay('create_edit_workflows');
  return (
    <Page
      title={text.title}
      actions={
        mayMake && (
          <ButtonLink to="/templates" variant="default">
            {text.useTemplate}
          </ButtonLink>
        )
      }
    >
      <Loaded
        query={{ ...metrics, data: workspace.data === undefined ? undefined : metrics.data }}
        loading={<Coming />}
      >
        {(data) => (
          <>
            {data.total_runs === 0 && <FirstSteps />}
            {data.total_runs > 0 && workspace.data !== undefined && (
              <Beginning workspace={workspace.data} />
            )}
            <Metrics metrics={data} />
            <Attention />
            {data.total_runs > 0 && <Days days={data.runs_by_day} />}
          </>
        )}
      </Loaded>
      <Quota />
    </Page>
  );
}

/** The first steps in a workspace with the examples, until they are hidden; in others, the first success. */
function Beginning({ workspace }: { workspace: Workspace }) {
  const [shown, setShown] = useStartHere(workspace.id);
  const { data: latest } = useQuery(latestRunsQuery);
  if (workspace.has_examples) return shown && <StartHere onDismiss={() => setShown(false)} />;
  const [run, ...others] = latest?.runs ?? [];
  return run?.status === 'success' && others.length === 0 && <Done run={run} />;
}

/** As high as the loaded content, so that the quota below does not move. */
function Coming() {
  return (
    <Stack gap="lg">
      <LoadingCards cards={5} height={100} cols={figureColumns} />
      <LoadingCards cards={2} height={130} cols={{ base: 1, lg: 2 }} />
      <LoadingCards cards={2} height={245} cols={{ base: 1, lg: 2 }} />
    </Stack>
  );
}

function Attention() {
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg">
      <WaitingGates />
      <RecentFailures />
    </SimpleGrid>
  );
}

function Days({ days }: { days: MetricsOverview['runs_by_day'] }) {
  const runs = { name: 'count', label: words.runs, colour: 'accent.6', text: countText };
  const cost = { name: 'cost_usd', label: words.cost, colour: 'accent.6', text: dollarsText };
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg">
      <Section title={text.runs}>
        <DayBars label={text.runsPerDay} rows={days} series={runs} />
      </Section>
      <Section title={text.cost}>
        <DayBars label={text.costPerDay} rows={days} series={cost} />
      </Section>
    </SimpleGrid>
  );
}
