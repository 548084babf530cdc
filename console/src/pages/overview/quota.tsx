import { Progress, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Usage } from '../../../../client/index.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { countText, dollarsText } from '../../parts/text/numbers.ts';
import { sentenceCase } from '../../parts/text/sentence-case.ts';
import { Section } from '../../parts/page.tsx';
import { usageQuery } from '../../queries/workspace.ts';

const POLL_MS = 30_000;
/** Usage in percent at which the bar warns about the plan limit. */
const NEAR = 80;
/** Quotas count by UTC month. */
const day = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'long', timeZone: 'UTC' });

export function Quota() {
  const usage = useQuery({ ...usageQuery, refetchInterval: POLL_MS });
  return (
    <Section title="This month">
      <Loaded query={usage}>{(data) => <Used usage={data} />}</Loaded>
    </Section>
  );
}

function Used({ usage }: { usage: Usage }) {
  const { runs_used: used, runs_limit: limit } = usage;
  const cost = `Cost: ${dollarsText(usage.cost_usd)}.`;
  if (limit === null) {
    return (
      <Text size="sm">
        {countText(used)} runs on the {sentenceCase(usage.plan)} plan (unlimited). {cost}
      </Text>
    );
  }
  const percent = Math.min(100, (used / limit) * 100);
  return (
    <Stack gap={6} maw={560}>
      <Progress.Root size="lg">
        <Progress.Section
          value={percent}
          color={percent >= 100 ? 'red' : percent >= NEAR ? 'yellow' : 'indigo'}
          aria-label="Monthly run quota used"
        />
      </Progress.Root>
      <Text size="sm">
        {countText(used)} of {countText(limit)} runs on the {sentenceCase(usage.plan)} plan. {cost}{' '}
        {used >= limit && 'You cannot start more runs this month. '}
        Resets after {day.format(new Date(usage.period_end))} (UTC).
      </Text>
    </Stack>
  );
}
