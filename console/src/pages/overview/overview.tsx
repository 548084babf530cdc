import { SimpleGrid } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { MetricsOverview } from '../../../../client/index.ts';
import { DayBars } from '../../parts/data/day-bars.tsx';
import { ButtonLink } from '../../parts/links.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { countText, dollarsText } from '../../parts/text/numbers.ts';
import { Page, Section } from '../../parts/page.tsx';
import { useMay } from '../../queries/identity.ts';
import { metricsQuery } from '../../queries/workspace.ts';
import { FirstSteps } from './first-steps.tsx';
import { Metrics } from './metrics.tsx';
import { Quota } from './quota.tsx';
import { RecentFailures } from './recent-failures.tsx';
import { WaitingGates } from './waiting-gates.tsx';

const POLL_MS = 10_000;

/** The state of the workspace, and what needs attention. */
export function OverviewPage() {
  const metrics = useQuery({ ...metricsQuery, refetchInterval: POLL_MS });
  const mayMake = useMay('create_edit_workflows');
  return (
    <Page
      title="Overview"
      actions={
        mayMake && (
          <ButtonLink to="/templates" variant="default">
            Use a template
          </ButtonLink>
        )
      }
    >
      <Loaded query={metrics}>
        {(data) => (
          <>
            {data.total_runs === 0 && <FirstSteps />}
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

function Attention() {
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg">
      <WaitingGates />
      <RecentFailures />
    </SimpleGrid>
  );
}

function Days({ days }: { days: MetricsOverview['runs_by_day'] }) {
  const runs = { name: 'count', label: 'Runs', colour: 'indigo.6', text: countText };
  const cost = { name: 'cost_usd', label: 'Cost', colour: 'teal.6', text: dollarsText };
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg">
      <Section title="Runs, last 14 days">
        <DayBars label="Runs per day" rows={days} series={runs} />
      </Section>
      <Section title="Cost, last 14 days">
        <DayBars label="Cost per day" rows={days} series={cost} />
      </Section>
    </SimpleGrid>
  );
}
