import { Anchor, Badge, Button, Group, Popover, Progress, Text, Tooltip } from '@mantine/core';
import { IconExternalLink } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Run } from '#client/index.ts';
import { words } from '#console/src/messages/en/words.ts';
import { runHeader as text } from '#console/src/messages/en/runs/run.ts';
import { runTimes } from '#console/src/messages/en/parts/values.ts';
import { Message } from '#console/src/messages/message.tsx';
import { Copy } from '#console/src/parts/code/copy.tsx';
import { RunLink, TextLink, WorkflowLink } from '#console/src/parts/links.tsx';
import { costText, wholeCostText } from '#console/src/parts/text/cost.tsx';
import { countText, dollarsText, percentText } from '#console/src/parts/text/numbers.ts';
import { useMoment } from '#console/src/parts/text/now.ts';
import { RunBadge, RunTags } from '#console/src/parts/run-badges.tsx';
import { stateColours } from '#console/src/theme.ts';
import { durationText } from '#console/src/parts/text/duration.ts';
import { shortId } from '#console/src/parts/text/short-id.ts';
import { When } from '#console/src/parts/text/time.tsx';
import type { Liveness } from '#console/src/queries/follow.ts';
import { membersQuery } from '#console/src/queries/members.ts';
import { useForkChanges } from './fork-changes.ts';
import { stepName } from './node-states.ts';
import { hasEnded, onlyWaits, webAddress } from './run-facts.ts';
import { useRunGraph } from './use-run-graph.ts';
import { rejectedGates } from './steps/step-state.ts';

/**
 * What a run is, in one line: its state, its times and cost, what it executes and who started it. The waiting time of a
 * run that waits keeps counting from `readAt`, the time it was read, in ms since 1970.
 */
export function RunLine({
  run,
  liveness,
  readAt,
}: {
  run: Run;
  liveness: Liveness;
  readAt: number;
}) {
  return (
    <Group gap="4px 12px" className="run-line">
      <RunBadge run={run} />
      <RunTags run={run} />
      <RejectedBadge run={run} />
      <LiveBadge liveness={hasEnded(run) ? 'ended' : liveness} />
      <Times run={run} readAt={readAt} />
      <Cost run={run} />
      <WorkflowLink workflow={run.workflow_id}>
        {run.of_draft ? text.draft : text.version(run.workflow_version)}
      </WorkflowLink>
      <Started run={run} />
      <StartedFrom run={run} />
      <Details run={run} />
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

/** All three, also without a wait, so that nothing moves when the run continues. */
function Times({ run, readAt }: { run: Run; readAt: number }) {
  const waits = onlyWaits(run);
  const now = useMoment(waits);
  const waiting = run.waiting_ms + (waits ? Math.max(0, now - readAt) : 0);
  const times = [
    [runTimes.total, run.duration_ms + waiting],
    [runTimes.working, run.duration_ms],
    [runTimes.waiting, waiting],
  ] as const;
  return times.map(([name, ms]) => (
    <Figure key={name} name={name}>
      {durationText(ms)}
    </Figure>
  ));
}

const Figure = ({ name, children }: { name: string; children: ReactNode }) => (
  <Text span inherit className="run-figure">
    {name}{' '}
    <Text span inherit c="bright">
      {children}
    </Text>
  </Text>
);

/** The cap also counts the child runs. */
function Cost({ run }: { run: Run }) {
  const { cost_cap_usd: cap } = run;
  const cost = cap === null ? run.cost_usd : run.cost_usd + run.children_cost_usd;
  const costs = { usd: cost, unpriced: run.unpriced_steps };
  if (cap === null) return <Figure name={words.cost}>{wholeCostText(costs)}</Figure>;
  const percent = cap === 0 ? 100 : (cost / cap) * 100;
  return (
    <Group gap={6} wrap="nowrap">
      <Figure name={words.cost}>{text.costOfCap(costText(costs), dollarsText(cap))}</Figure>
      <Progress
        w={64}
        value={Math.min(percent, 100)}
        color={percent >= 100 ? 'danger' : percent >= 80 ? 'warning' : 'success'}
        aria-label={text.shareOfCap(percentText(percent))}
      />
    </Group>
  );
}

/** Who started the run, and how. */
export function Started({
  run: { trigger, parent_run_id, parent_step_key, event_id: eventId, created_by: by },
}: {
  run: Run;
}) {
  const { data: members = [] } = useQuery({ ...membersQuery, enabled: by !== null });
  const name = members.find(({ id }) => id === by)?.name;
  if (parent_run_id !== null) {
    return (
      <RunLink run={parent_run_id} step={parent_step_key}>
        {text.parentRun}
      </RunLink>
    );
  }
  if (eventId !== null) {
    return (
      <TextLink to="/events/$eventId" params={{ eventId }}>
        {text.started.event}
      </TextLink>
    );
  }
  return (
    <span>
      {name === undefined ? (
        text.started[trigger]
      ) : (
        <Message text={text.startedByName[trigger]} values={{ name }} />
      )}
    </span>
  );
}

/** The run that this one was started from, the step, and what was changed. */
function StartedFrom({ run }: { run: Run }) {
  const { forked_from: runId, forked_from_step: stepKey, mode } = run;
  const { drawing } = useRunGraph(run);
  const changes = useForkChanges(run);
  if (runId === null) return null;
  const step = run.steps.find(({ step_key }) => step_key === stepKey);
  const node = drawing?.nodes.find(({ id }) => id === stepKey?.split(/[#/]/, 1)[0]);
  const label = step === undefined ? (node?.label ?? stepKey) : stepName(step);
  const count = changes === undefined ? 0 : changes.input.length + changes.state.length;
  const link = (
    <RunLink run={runId} step={stepKey}>
      {text.otherRun(shortId(runId))}
    </RunLink>
  );
  return (
    <span>
      {stepKey === null ? (
        <Message text={mode === null ? text.startedFrom : text.rehearses} values={{ run: link }} />
      ) : (
        <Message text={text.forkedFrom} values={{ run: link, step: label ?? '' }} />
      )}
      {count > 0 && ` ${text.withChanges(count)}`}
    </span>
  );
}

/** What is rarely needed. */
function Details({ run }: { run: Run }) {
  const history = webAddress(run.temporal.url);
  const facts: [string, ReactNode][] = [
    [
      text.id,
      <Group gap={4} wrap="nowrap">
        <span className="pre">{run.id}</span>
        <Copy text={run.id} what={text.runId} />
      </Group>,
    ],
    [words.created, <When at={run.created_at} />],
  ];
  if (run.started_at !== null) facts.push([words.started, <When at={run.started_at} />]);
  if (run.finished_at !== null) facts.push([text.finished, <When at={run.finished_at} />]);
  if (run.resumed_count > 0) facts.push([text.resumed, text.times(run.resumed_count)]);
  if (run.children_cost_usd > 0) facts.push([text.childCost, dollarsText(run.children_cost_usd)]);
  if (run.evals !== null) {
    const { passed, total } = run.evals;
    facts.push([text.checksPassed, text.passed(countText(passed), countText(total))]);
  }
  if (history !== undefined) {
    facts.push([
      text.execution,
      <Anchor href={history} target="_blank" rel="noreferrer" inherit>
        {text.temporal} <IconExternalLink size={12} aria-hidden />
      </Anchor>,
    ]);
  }
  return (
    <Popover position="bottom-end" width={360} withArrow trapFocus returnFocus>
      <Popover.Target>
        <Button size="compact-xs" variant="subtle" color="gray" c="inherit">
          {text.details}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={text.details}>
        <dl className="facts">
          {facts.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      </Popover.Dropdown>
    </Popover>
  );
}
