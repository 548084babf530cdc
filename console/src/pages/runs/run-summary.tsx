import { Anchor, Badge, Box, Group, Progress, Text, Tooltip } from '@mantine/core';
import { IconExternalLink } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import type { Run } from '../../../../client/index.ts';
import { Copy } from '../../parts/code/copy.tsx';
import { TextLink } from '../../parts/links.tsx';
import { countText, dollarsText, percentText } from '../../parts/text/numbers.ts';
import { UserText } from '../../parts/text/user-text.tsx';
import { useMoment } from '../../parts/text/now.ts';
import { StateBadge } from '../../parts/state-badge.tsx';
import { stateColours } from '../../theme.ts';
import { durationText } from '../../parts/text/duration.ts';
import { When } from '../../parts/text/time.tsx';
import type { Liveness } from '../../queries/run-stream.ts';
import { hasEnded, webAddress } from './run-facts.ts';
import { rejectedGates } from './steps/step-state.ts';
import { sentenceCase } from '../../parts/text/sentence-case.ts';

/** The run in one line: its state, whether it is updated live, and its origin. */
export function RunLine({ run, liveness }: { run: Run; liveness: Liveness }) {
  return (
    <Group gap="xs">
      <StateBadge state={run.status} />
      <RejectedBadge run={run} />
      <LiveBadge liveness={hasEnded(run) ? 'ended' : liveness} />
      <Text span size="sm" className="pre">
        {run.id}
      </Text>
      <Copy text={run.id} what="the run ID" />
      <TextLink
        to="/workflows/$workflowId"
        params={{ workflowId: run.workflow_id }}
        search={{ tab: undefined }}
        size="sm"
      >
        Workflow version {run.workflow_version}
      </TextLink>
    </Group>
  );
}

const livenessTexts: Record<Liveness, { colour: string; text: string }> = {
  live: { colour: 'teal', text: 'Updates appear as they happen' },
  reconnecting: {
    colour: 'yellow',
    text: 'Connecting to live updates. Refreshes every 5 s until then.',
  },
  ended: { colour: 'gray', text: 'The run has ended. If you resume it, updates appear here.' },
};

/** A run with a rejected gate can still succeed, if its graph has a branch for that. */
function RejectedBadge({ run }: { run: Run }) {
  const gates = rejectedGates(run);
  if (gates.length === 0) return null;
  return (
    <Badge variant="light" color={stateColours.rejected} c="bright" tt="none" fw={600}>
      rejected at <UserText>{gates.join(', ')}</UserText>
    </Badge>
  );
}

function LiveBadge({ liveness }: { liveness: Liveness }) {
  const { colour, text } = livenessTexts[liveness];
  return (
    <Tooltip label={text} events={{ hover: true, focus: true, touch: true }}>
      <Badge variant="dot" color={colour} tt="none" tabIndex={0} role="status">
        {sentenceCase(liveness)}
      </Badge>
    </Tooltip>
  );
}

/** The figures of the run. The waiting time of a paused run counts on from `readAt`, its read time in ms since 1970. */
export function RunFigures({ run, readAt }: { run: Run; readAt: number }) {
  const paused = run.status === 'paused';
  const now = useMoment(paused);
  const waited = run.waiting_ms + (paused ? Math.max(0, now - readAt) : 0);
  const history = webAddress(run.temporal.url);
  const facts: [string, ReactNode][] = [
    ['Started by', <StartedBy run={run} />],
    ['Created', <When at={run.created_at} />],
    ['Working time', durationText(run.duration_ms)],
  ];
  if (waited > 0) facts.push(['Waiting time', durationText(waited)]);
  if (run.resumed_count > 0) facts.push(['Resumed', timesText(run.resumed_count)]);
  facts.push(['Cost', <Cost run={run} />]);
  if (run.children_cost_usd > 0) {
    facts.push(['Cost of child runs', dollarsText(run.children_cost_usd)]);
  }
  if (run.evals !== null) {
    facts.push(['Checks passed', `${run.evals.passed} of ${run.evals.total}`]);
  }
  if (history !== undefined) {
    facts.push([
      'Execution',
      <Anchor href={history} target="_blank" rel="noreferrer" size="sm">
        Temporal UI <IconExternalLink size={12} aria-hidden />
      </Anchor>,
    ]);
  }
  return (
    <dl className="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

const timesText = (times: number): string => (times === 1 ? 'once' : `${countText(times)} times`);

function StartedBy({ run: { trigger, parent_run_id, parent_step_key } }: { run: Run }) {
  if (parent_run_id === null) return trigger;
  return (
    <TextLink
      to="/runs/$runId"
      params={{ runId: parent_run_id }}
      search={{ step: parent_step_key ?? undefined, tab: undefined }}
      size="sm"
    >
      Parent run
    </TextLink>
  );
}

/** The cap counts the child runs, too. */
function Cost({ run }: { run: Run }) {
  const { cost_cap_usd: cap } = run;
  const cost = cap === null ? run.cost_usd : run.cost_usd + run.children_cost_usd;
  if (cap === null) return dollarsText(cost);
  const percent = cap === 0 ? 100 : (cost / cap) * 100;
  return (
    <Box>
      {dollarsText(cost)} of {dollarsText(cap)}
      <Progress
        mt={4}
        maw={160}
        value={Math.min(percent, 100)}
        color={percent >= 100 ? 'red' : percent >= 80 ? 'yellow' : 'teal'}
        aria-label={`Cost: ${percentText(percent)} of the cap`}
      />
    </Box>
  );
}
