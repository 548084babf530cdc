import { Alert, Stack, Text } from '@mantine/core';
import type { Run, Step } from '#client/index.ts';
import { undecidable as text } from '#console/src/messages/en/approvals.ts';
import { Message } from '#console/src/messages/message.tsx';
import { JsonView } from '#console/src/parts/code/json-view.tsx';
import { ByText } from '#console/src/parts/forms/gate-rules.tsx';
import { type Draft, useUnsent } from '#console/src/parts/gates/drafts.ts';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { RunLink } from '#console/src/parts/links.tsx';
import { When } from '#console/src/parts/text/time.tsx';

/** Why a gate cannot be decided now: it was decided, or its run is not waiting at it. */
export function Undecidable({ run, step }: { run: Run; step: Step | undefined }) {
  const unsent = useUnsent(run.id, step?.step_key ?? '');
  return (
    <>
      <Alert variant="default" title={titleOf(run, step)}>
        {step?.decision !== undefined && <Decided decision={step.decision} />}
        <Text size="sm">
          {stateOf(run)} <RunLink run={run.id}>{text.openRun}</RunLink>
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

function titleOf(run: Run, step: Step | undefined): string {
  if (step?.decision !== undefined) {
    return step.decision.approved ? text.approved : text.rejected;
  }
  if (step === undefined) return text.notReached;
  return run.status === 'running' ? text.notRightNow : text.noLonger;
}

function Decided({ decision }: { decision: NonNullable<Step['decision']> }) {
  return (
    <>
      <Text size="sm">
        {decision.timed_out === undefined ? (
          <Message
            text={text.decidedBy}
            values={{ by: <ByText by={decision.by} />, at: <When at={decision.at} /> }}
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
