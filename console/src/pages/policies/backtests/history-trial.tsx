import { Group, NativeSelect } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Policies } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import { historyTrial as text } from '#console/src/messages/en/governance/backtests.ts';
import { useAction } from '#console/src/parts/forms/action.ts';
import { ActionButton } from '#console/src/parts/forms/action-button.tsx';
import { Refusal } from '#console/src/parts/forms/form.tsx';
import { Section } from '#console/src/parts/page.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { backtestsKey, recentBacktestsQuery } from '#console/src/queries/backtests.ts';
import { workflowsQuery } from '#console/src/queries/workflows.ts';
import { NamedFilter } from '#console/src/pages/policies/named-filter.tsx';
import { BacktestResult } from './backtest-result.tsx';

const HOUR_MS = 3_600_000;
const spans = [
  { value: '1', label: text.lastHour },
  { value: '24', label: text.last24Hours },
  { value: '168', label: text.last7Days },
  { value: '720', label: text.last30Days },
  { value: '8760', label: text.lastYear },
];

/** Judges the steps of past runs by the policies in the form, even before they are saved. */
export function HistoryTrial({ policies }: { policies: Policies }) {
  const { data: workflows = [] } = useQuery(workflowsQuery);
  const [hours, setHours] = useState('168');
  const [workflowId, setWorkflowId] = useState<string>();
  const start = useAction(
    () =>
      api().startBacktest({
        policies,
        since: new Date(Date.now() - Number(hours) * HOUR_MS).toISOString(),
        workflow_id: workflowId,
      }),
    { changes: [backtestsKey], quiet: true },
  );
  return (
    <Section title={text.title}>
      <Dimmed>{text.about}</Dimmed>
      <Group gap="sm" align="flex-end">
        <NativeSelect
          label={text.runsOf}
          data={spans}
          value={hours}
          onChange={({ currentTarget }) => setHours(currentTarget.value)}
        />
        <NamedFilter
          label={words.workflow}
          all={text.allWorkflows}
          named={workflows}
          value={workflowId}
          onChange={setWorkflowId}
        />
        <ActionButton action={start}>{text.start}</ActionButton>
      </Group>
      <Refusal action={start} />
      <LastTrial started={start.data?.id} mayManage />
    </Section>
  );
}

/** The newest trial, for members who cannot start one. */
export function PastTrial() {
  const { data: recent = [] } = useQuery(recentBacktestsQuery);
  if (recent.length === 0) return null;
  return (
    <Section title={text.pastTitle}>
      <LastTrial />
    </Section>
  );
}

/** The result of the trial that was started here, or else of the newest one. */
function LastTrial({
  started,
  mayManage = false,
}: {
  started?: string | undefined;
  mayManage?: boolean;
}) {
  const { data: recent = [] } = useQuery(recentBacktestsQuery);
  const id = started ?? recent[0]?.id;
  return id === undefined ? null : <BacktestResult key={id} id={id} mayManage={mayManage} />;
}
