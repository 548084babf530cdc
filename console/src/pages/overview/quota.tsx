import { Progress, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Usage } from '#client/index.ts';
import { locale } from '#console/src/messages/en/locale.ts';
import { quota as text } from '#console/src/messages/en/overview.ts';
import { planTexts } from '#console/src/messages/en/parts/plans.ts';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { LoadingRows } from '#console/src/parts/loading.tsx';
import { countText, dollarsText } from '#console/src/parts/text/numbers.ts';
import { Section } from '#console/src/parts/page.tsx';
import { usageQuery } from '#console/src/queries/workspace.ts';
import { pollMs } from '#console/src/queries/stream-state.ts';

const POLL_MS = 30_000;
/** Usage in percent at which the bar warns about the plan limit. */
const NEAR = 80;
/** Quotas count by UTC month. */
const day = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'long', timeZone: 'UTC' });

export function Quota() {
  const usage = useQuery({ ...usageQuery, refetchInterval: () => pollMs(POLL_MS) });
  return (
    <Section title={text.title}>
      <Loaded query={usage} loading={<LoadingRows rows={1} />}>
        {(data) => <Used usage={data} />}
      </Loaded>
    </Section>
  );
}

function Used({ usage }: { usage: Usage }) {
  const { runs_used: used, runs_limit: limit } = usage;
  const cost = text.cost(dollarsText(usage.cost_usd));
  const plan = planTexts[usage.plan];
  if (limit === null) {
    return (
      <Text size="sm">
        {text.unlimited(countText(used), plan)} {cost}
      </Text>
    );
  }
  const percent = Math.min(100, (used / limit) * 100);
  return (
    <Stack gap={6} maw={560}>
      <Progress.Root size="lg">
        <Progress.Section
          value={percent}
          color={percent >= 100 ? 'danger' : percent >= NEAR ? 'warning' : 'accent'}
          aria-label={text.label}
        />
      </Progress.Root>
      <Text size="sm">
        {text.used(countText(used), countText(limit), plan)} {cost}{' '}
        {used >= limit && `${text.reached} `}
        {text.resets(day.format(new Date(usage.period_end)))}
      </Text>
    </Stack>
  );
}
