import { Alert, Progress, SegmentedControl, SimpleGrid, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { Usage, UsageBreakdown } from '../../../../client/index.ts';
import { DayBars } from '../../parts/data/day-bars.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { countText, dollarsText, percentText } from '../../parts/text/numbers.ts';
import { sentenceCase } from '../../parts/text/sentence-case.ts';
import { Page, Section } from '../../parts/page.tsx';
import { When } from '../../parts/text/time.tsx';
import { breakdownQuery } from '../../queries/usage.ts';
import { usageQuery } from '../../queries/workspace.ts';
import { ModelTable, WorkflowTable } from './breakdown-tables.tsx';
import { Prices } from './prices.tsx';

const route = getRouteApi('/inside/usage');
const DEFAULT_DAYS = 30;
/** Usage in percent at which the quota bar changes color. */
const CLOSE_PERCENT = 80;

export function UsagePage() {
  return (
    <Page title="Usage" about="Runs, tokens and cost of this workspace.">
      <Quota />
      <LastDays />
      <Prices />
    </Page>
  );
}

function Quota() {
  const usage = useQuery(usageQuery);
  return (
    <Section title="This month">
      <Loaded query={usage}>{(month) => <Month usage={month} />}</Loaded>
    </Section>
  );
}

function Month({ usage }: { usage: Usage }) {
  const { runs_used, runs_limit, plan } = usage;
  const percent = runs_limit === null ? 0 : (100 * runs_used) / runs_limit;
  return (
    <Stack gap="xs">
      <Text>
        {countText(runs_used)} {runs_limit === null ? 'runs' : `of ${countText(runs_limit)} runs`}{' '}
        on the {sentenceCase(plan)} plan · {dollarsText(usage.cost_usd)}
      </Text>
      {runs_limit !== null && (
        <Progress
          value={Math.min(percent, 100)}
          color={percent >= 100 ? 'red' : percent >= CLOSE_PERCENT ? 'orange' : 'indigo'}
          aria-label={`Quota: ${percentText(percent)} used`}
        />
      )}
      {runs_limit !== null && runs_used >= runs_limit && (
        <Alert color="red">
          Quota used up. New runs are refused until the month ends or you change the plan.
        </Alert>
      )}
      <Text size="xs" c="dimmed">
        <When at={usage.period_start} /> to <When at={usage.period_end} />
      </Text>
    </Stack>
  );
}

function LastDays() {
  const { days = DEFAULT_DAYS } = route.useSearch();
  const navigate = route.useNavigate();
  const breakdown = useQuery(breakdownQuery(days));
  const choose = (chosen: string): void =>
    void navigate({ search: { days: Number(chosen) }, replace: true });
  return (
    <>
      <Section
        title="By day"
        actions={
          <SegmentedControl
            size="xs"
            aria-label="Period"
            value={String(days)}
            onChange={choose}
            data={[7, 30, 90].map((each) => ({ value: String(each), label: `${each} days` }))}
          />
        }
      >
        <Loaded query={breakdown}>{(data) => <Days data={data} />}</Loaded>
      </Section>
      {breakdown.data !== undefined && (
        <>
          <Section title="By workflow">
            <WorkflowTable rows={breakdown.data.by_workflow} />
          </Section>
          <Section title="By model">
            <ModelTable rows={breakdown.data.by_model} />
          </Section>
        </>
      )}
    </>
  );
}

function Days({ data }: { data: UsageBreakdown }) {
  const runs = data.by_day.reduce((sum, day) => sum + day.runs, 0);
  const cost = data.by_day.reduce((sum, day) => sum + day.cost_usd, 0);
  if (runs === 0) {
    return (
      <Empty title="No runs in this period">
        <Text size="sm" c="dimmed">
          Run a workflow, or select a longer period.
        </Text>
      </Empty>
    );
  }
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      <Stack gap="xs">
        <Text size="sm">Cost: {dollarsText(cost)}</Text>
        <DayBars
          label="Cost by day"
          rows={data.by_day}
          series={{ name: 'cost_usd', label: 'Cost', colour: 'indigo.6', text: dollarsText }}
        />
      </Stack>
      <Stack gap="xs">
        <Text size="sm">Runs: {countText(runs)}</Text>
        <DayBars
          label="Runs by day"
          rows={data.by_day}
          series={{ name: 'runs', label: 'Runs', colour: 'teal.6', text: countText }}
        />
      </Stack>
    </SimpleGrid>
  );
}
