import { Alert, Stack, Text } from '@mantine/core';
import { useMemo } from 'react';
import type { Gate, Run, Step } from '#client/index.ts';
import { undecidable as text } from '#console/src/messages/en/approvals.ts';
import { Message } from '#console/src/messages/message.tsx';
import { JsonView } from '#console/src/parts/code/json-view.tsx';
import { ChangedPaths, changesOf } from '#console/src/parts/data/changed-paths.tsx';
import { ByText } from '#console/src/parts/forms/gate-rules.tsx';
import { type Draft, useUnsent } from '#console/src/parts/gates/drafts.ts';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { RunLink } from '#console/src/parts/links.tsx';
import { useNow } from '#console/src/parts/text/now.ts';
import { When } from '#console/src/parts/text/time.tsx';
import { useIdentity } from '#console/src/queries/identity.ts';

/** How long a decision was made just now. */
const RECENT_MS = 60_000;

/** Why a gate cannot be decided now: it was decided, or its run is not waiting at it. */
export function Undecidable({
  run,
  step,
  gate,
}: {
  run: Run;
  step: Step | undefined;
  /** Undefined until it has loaded, or if the step is no gate. */
  gate: Gate | undefined;
}) {
  const { id: own } = useIdentity();
  const unsent = useUnsent(run.id, step?.step_key ?? '');
  const isOwn = gate?.decider != null && gate.decider.id === own;
  const { arguments: given, decided_arguments: sent } = gate ?? {};
  const changes = useMemo(() => (given && sent ? changesOf(given, sent) : []), [given, sent]);
  const isRecent = useNow() - Date.parse(step?.decision?.at ?? '') < RECENT_MS;
  const title = isOwn
    ? ownTitleOf(step?.decision?.approved === true, { isRecent, changes: changes.length })
    : titleOf(run, step, changes.length);
  return (
    <>
      <Alert variant="default" title={title}>
        {step?.decision !== undefined && <Decided decision={step.decision} isOwn={isOwn} />}
        {changes.length > 0 && (
          <div role="group" aria-label={text.changes}>
            <ChangedPaths changes={changes} />
          </div>
        )}
        <Text size="sm">
          {stateOf(run)}{' '}
          <RunLink run={run.id} underline="always">
            {text.openRun}
          </RunLink>
        </Text>
      </Alert>
      {unsent !== undefined && <Unsent draft={unsent} />}
    </>
  );
}

/** What the user had entered when the gate was decided elsewhere. */
function Unsent({ draft: { reason, ...others } }: { draft: Draft }) {
  const values = Object.values(others);
  return (
    <Stack gap="xs" role="group" aria-label={text.notSent}>
      <Text size="sm">{text.notSentAbout}</Text>
      {reason !== undefined && reason !== '' && <JsonView value={reason} what={text.reason} />}
      {values.map((value, at) => (
        <JsonView key={at} value={value} what={text.input} />
      ))}
    </Stack>
  );
}

function ownTitleOf(
  approved: boolean,
  { isRecent, changes }: { isRecent: boolean; changes: number },
): string {
  if (!approved) return isRecent ? text.youRejectedNow : text.youRejected;
  if (changes > 0) return text.youApprovedChanged(changes);
  return isRecent ? text.youApprovedNow : text.youApproved;
}

function titleOf(run: Run, step: Step | undefined, changes: number): string {
  if (step?.decision !== undefined) {
    if (!step.decision.approved) return text.rejected;
    return changes > 0 ? text.approvedChanged(changes) : text.approved;
  }
  if (step === undefined) return text.notReached;
  return run.status === 'running' ? text.notRightNow : text.noLonger;
}

function Decided({ decision, isOwn }: { decision: NonNullable<Step['decision']>; isOwn: boolean }) {
  return (
    <>
      <Text size="sm">
        {isOwn ? (
          <Message text={text.decidedAt} values={{ at: <When at={decision.at} /> }} />
        ) : decision.timed_out === undefined ? (
          <Message
            text={text.decidedBy}
            values={{
              by: <ByText by={decision.by} byLink={decision.by_link} bySlack={decision.by_slack} />,
              at: <When at={decision.at} />,
            }}
          />
        ) : (
          <Message text={text.decidedAtDeadline} values={{ at: <When at={decision.at} /> }} />
        )}
      </Text>
      {decision.reason !== null && (
        <Text size="sm" className="pre" component="div">
          <UserText>{decision.reason}</UserText>
        </Text>
      )}
    </>
  );
}

const stateOf = ({ status, failure }: Run): string =>
  status === 'failed' && failure?.kind === 'cancelled' ? text.runCancelled : text.run[status];
