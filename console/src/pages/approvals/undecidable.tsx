import { Alert, Text } from '@mantine/core';
import type { Run, Step } from '../../../../client/index.ts';
import { DeciderText } from '../../parts/forms/gate-rules.tsx';
import { UserText } from '../../parts/text/user-text.tsx';
import { TextLink } from '../../parts/links.tsx';
import { When } from '../../parts/text/time.tsx';

/** Why a gate cannot be decided now: it was decided, or its run is not waiting at it. */
export function Undecidable({ run, step }: { run: Run; step: Step | undefined }) {
  return (
    <Alert color="gray" title={titleOf(run, step)}>
      {step?.decision !== undefined && <Decided decision={step.decision} />}
      <Text size="sm">
        {stateOf(run)}{' '}
        <TextLink to="/runs/$runId" params={{ runId: run.id }}>
          Open run
        </TextLink>
      </Text>
    </Alert>
  );
}

function titleOf(run: Run, step: Step | undefined): string {
  if (step?.decision !== undefined) {
    return step.decision.approved ? 'Already approved' : 'Already rejected';
  }
  if (step === undefined) return 'Not reached yet';
  return run.status === 'running' ? 'Not waiting right now' : 'No longer waiting';
}

function Decided({ decision }: { decision: NonNullable<Step['decision']> }) {
  return (
    <>
      <Text size="sm">
        Decided <DeciderText decision={decision} />, <When at={decision.at} />.
      </Text>
      {decision.reason !== null && (
        <Text size="sm" className="pre" component="div">
          <UserText>{decision.reason}</UserText>
        </Text>
      )}
    </>
  );
}

function stateOf({ status, failure }: Run): string {
  switch (status) {
    case 'pending':
      return 'The run has not started.';
    case 'running':
      return 'The run is in progress.';
    case 'paused':
      return 'The run is waiting at another gate.';
    case 'success':
      return 'The run completed.';
    case 'failed':
      return failure?.kind === 'cancelled' ? 'The run was cancelled.' : 'The run failed.';
  }
}
