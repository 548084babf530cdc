import { Anchor, Badge, Box, Group, Progress, Text, Tooltip } from '@mantine/core';
import { IconExternalLink } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import type { Run } from '#client/index.ts';
import { words } from '#console/src/messages/en/words.ts';
import { runSummary as text } from '#console/src/messages/en/runs/run.ts';
import { triggers } from '#console/src/messages/en/parts/values.ts';
import { Message } from '#console/src/messages/message.tsx';
import { Copy } from '#console/src/parts/code/copy.tsx';
import { WorkflowLink, RunLink } from '#console/src/parts/links.tsx';
import { countText, dollarsText, percentText } from '#console/src/parts/text/numbers.ts';
import { useMoment } from '#console/src/parts/text/now.ts';
import { RunBadge, RunTags } from '#console/src/parts/run-badges.tsx';
import { stateColours } from '#console/src/theme.ts';
import { durationText } from '#console/src/parts/text/duration.ts';
import { When } from '#console/src/parts/text/time.tsx';
import type { Liveness } from '#console/src/queries/follow.ts';
import { hasEnded, webAddress } from './run-facts.ts';
import { rejectedGates } from './steps/step-state.ts';

/** The run in one line: its state, whether it is updated live, and its origin. */
export function RunLine({ run, liveness }: { run: Run; liveness: Liveness }) {
  return (
    <Group gap="xs">
      <RunBadge run={run} />
      <RunTags run={run} />
      <RejectedBadge run={run} />
      <LiveBadge liveness={hasEnded(run) ? 'ended' : liveness} />
      <Text span size="sm" className="pre">
        {run.id}
      </Text>
      <Copy text={run.id} what={text.runId} />
      <WorkflowLink workflow={run.workflow_id} size="sm">
        {run.of_draft ? text.draft : text.version(run.workflow_version)}
      </WorkflowLink>
    </Group>
  );
}

const livenessColours: Record<Liveness, string> = {
  live: 'success',
  reconnecting: 'warning',
  ended: 'gray',
};

/** A run with a rejected gate can still succeed, if its graph has a branch for that. */
function RejectedBadge({ run }: { run: Run }) {
  const gates = rejectedGates(run);
  if (gates.length === 0) return null;
  return (
    <Badge variant="light" color={stateColours.rejected} c="bright" tt="none" fw={600}>
      <Message text={text.rejectedAt} values={{ gates: gates.join(', ') }} />
    </Badge>
  );
}

function LiveBadge({ liveness }: { liveness: Liveness }) {
  const { name, about } = text.liveness[liveness];
  return (
    <Tooltip label={about} events={{ hover: true, focus: true, touch: true }}>
      <Badge variant="dot" color={livenessColours[liveness]} tt="none" tabIndex={0} role="status">
        {name}
      </Badge>
    </Tooltip>
  );
}

/**
 * The figures of the run. The waiting time of a paused run keeps counting from `readAt`, the time it was read, in ms
 * since 1970.
 */
export function RunFigures({ run, readAt }: { run: Run; readAt: number }) {
  const paused = run.status === 'paused';
  const now = useMoment(paused);
  const waited = run.waiting_ms + (paused ? Math.max(0, now - readAt) : 0);
  const history = webAddress(run.temporal.url);
  const facts: [string, ReactNode][] = [
    [words.startedBy, <StartedBy run={run} />],
    ...(run.forked_from === null
      ? []
      : [
          [
            run.mode === null ? text.startedFrom : text.rehearses,
            <StartedFrom run={run} />,
          ] satisfies [string, ReactNode],
        ]),
    [words.created, <When at={run.created_at} ago />],
    [text.workingTime, durationText(run.duration_ms)],
    // Shown even without a wait or a cost, so that the content below does not move when the run continues.
    [text.waitingTime, durationText(waited)],
    [words.cost, <Cost run={run} />],
  ];
  if (run.resumed_count > 0) facts.push([text.resumed, text.times(run.resumed_count)]);
  if (run.children_cost_usd > 0) {
    facts.push([text.childCost, dollarsText(run.children_cost_usd)]);
  }
  if (run.evals !== null) {
    const { passed, total } = run.evals;
    facts.push([text.checksPassed, text.passed(countText(passed), countText(total))]);
  }
  if (history !== undefined) {
    facts.push([
      text.execution,
      <Anchor href={history} target="_blank" rel="noreferrer" size="sm">
        {text.temporal} <IconExternalLink size={12} aria-hidden />
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

function StartedBy({ run: { trigger, parent_run_id, parent_step_key } }: { run: Run }) {
  if (parent_run_id === null) return triggers[trigger];
  return (
    <RunLink run={parent_run_id} step={parent_step_key} size="sm">
      {text.parentRun}
    </RunLink>
  );
}

/** The run that this one was started from, and the step. */
function StartedFrom({ run: { forked_from: runId, forked_from_step: step } }: { run: Run }) {
  return (
    <RunLink run={runId ?? ''} step={step} size="sm">
      {step === null ? text.anotherRun : text.stepOfAnotherRun}
    </RunLink>
  );
}

/** The cap also counts the child runs. */
function Cost({ run }: { run: Run }) {
  const { cost_cap_usd: cap } = run;
  const cost = cap === null ? run.cost_usd : run.cost_usd + run.children_cost_usd;
  if (cap === null) return dollarsText(cost);
  const percent = cap === 0 ? 100 : (cost / cap) * 100;
  return (
    <Box>
      {text.costOfCap(dollarsText(cost), dollarsText(cap))}
      <Progress
        mt={4}
        maw={160}
        value={Math.min(percent, 100)}
        color={percent >= 100 ? 'danger' : percent >= 80 ? 'warning' : 'success'}
        aria-label={text.shareOfCap(percentText(percent))}
      />
    </Box>
  );
}
