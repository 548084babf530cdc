import { Alert, Progress, SegmentedControl, SimpleGrid, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { Usage, UsageBreakdown } from '#client/index.ts';
import { words } from '#console/src/messages/en/words.ts';
import { usage as text } from '#console/src/messages/en/usage.ts';
import { planTexts } from '#console/src/messages/en/parts/plans.ts';
import { Message } from '#console/src/messages/message.tsx';
import { DayBars } from '#console/src/parts/data/day-bars.tsx';
import { Empty } from '#console/src/parts/empty.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { LoadingCards, LoadingRows } from '#console/src/parts/loading.tsx';
import { costText, wholeCostText } from '#console/src/parts/text/cost.tsx';
import { countText, dollarsText, percentText } from '#console/src/parts/text/numbers.ts';
import { Page, Section } from '#console/src/parts/page.tsx';
import { When } from '#console/src/parts/text/time.tsx';
import { breakdownQuery, usageQuery } from '#console/src/queries/workspace.ts';
import { ModelTable, WorkflowTable } from './breakdown-tables.tsx';
import { ModelPrices } from './prices.tsx';

const route = getRouteApi('/inside/usage');
const DEFAULT_DAYS = 30;
/** Usage in percent at which the quota bar changes color. */
const CLOSE_PERCENT = 80;

export function UsagePage() {
  return (
    <Page title={text.title} about={text.about}>
      <Quota />
      <LastDays />
      <ModelPrices />
    </Page>
  );
}

function Quota() {
  const usage = useQuery(usageQuery);
  return (
    <Section title={text.month.title}>
      <Loaded query={usage} loading={<LoadingRows rows={2} />}>
        {(month) => <Month usage={month} />}
      </Loaded>
    </Section>
  );
}

const unpricedIn = ({ by_model: models }: UsageBreakdown): number =>
  models.reduce((sum, model) => sum + model.unpriced_steps, 0);

function Month({ usage }: { usage: Usage }) {
  const { runs_used, runs_limit, plan } = usage;
  // The days of the month so far, UTC.
  const { data } = useQuery(breakdownQuery(new Date().getUTCDate()));
  const percent = runs_limit === null ? 0 : (100 * runs_used) / runs_limit;
  return (
    <Stack gap="xs">
      <Text>
        {runs_limit === null
          ? text.month.runs(countText(runs_used), planTexts[plan])
          : text.month.runsOf({
              used: countText(runs_used),
              limit: countText(runs_limit),
              plan: planTexts[plan],
            })}
        {' · '}
        {costText({ usd: usage.cost_usd, unpriced: data === undefined ? 0 : unpricedIn(data) })}
      </Text>
      {runs_limit !== null && (
        <Progress
          value={Math.min(percent, 100)}
          color={percent >= 100 ? 'danger' : percent >= CLOSE_PERCENT ? 'caution' : 'accent'}
          aria-label={text.month.quota(percentText(percent))}
        />
      )}
      {runs_limit !== null && runs_used >= runs_limit && (
        <Alert color="danger">{text.month.quotaUsedUp}</Alert>
      )}
      <Text size="xs" c="dimmed">
        <Message
          text={text.month.period}
          values={{
            start: <When at={usage.period_start} />,
            end: <When at={usage.period_end} />,
          }}
        />
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
        title={text.byDay}
        actions={
          <SegmentedControl
            size="xs"
            aria-label={text.period}
            value={String(days)}
            onChange={choose}
            data={[7, 30, 90].map((each) => ({ value: String(each), label: text.days(each) }))}
          />
        }
      >
        <Loaded
          query={breakdown}
          loading={
            <>
              <LoadingCards cards={2} height={245} cols={{ base: 1, md: 2 }} />
              {/* The tables by workflow and by model. */}
              <LoadingRows rows={8} />
            </>
          }
        >
          {(data) => <Days data={data} />}
        </Loaded>
      </Section>
      {breakdown.data !== undefined && (
        <>
          <Section title={text.byWorkflow}>
            <WorkflowTable rows={breakdown.data.by_workflow} />
          </Section>
          <Section title={text.byModel}>
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
    return <Empty {...text.empty} />;
  }
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      <Stack gap="xs">
        <Text size="sm">{text.cost(wholeCostText({ usd: cost, unpriced: unpricedIn(data) }))}</Text>
        <DayBars
          label={text.costByDay}
          rows={data.by_day}
          series={{ name: 'cost_usd', label: words.cost, colour: 'accent.6', text: dollarsText }}
        />
      </Stack>
      <Stack gap="xs">
        <Text size="sm">{text.runs(countText(runs))}</Text>
        <DayBars
          label={text.runsByDay}
          rows={data.by_day}
          series={{ name: 'runs', label: words.runs, colour: 'accent.6', text: countText }}
        />
      </Stack>
    </SimpleGrid>
  );
}
