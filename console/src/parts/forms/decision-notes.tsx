import { Alert, Skeleton } from '@mantine/core';
import type { Gate } from '#client/index.ts';
import { consequences as listsText } from '#console/src/messages/en/consequences.ts';
import { decisionForm as text } from '#console/src/messages/en/gates.ts';
import { roleNamesInText } from '#console/src/messages/en/parts/roles.ts';
import { ConsequenceLists } from '#console/src/parts/consequences/consequences.tsx';
import { Failure } from '#console/src/parts/failure.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { useMoment } from '#console/src/parts/text/now.ts';
import { useIdentity } from '#console/src/queries/identity.ts';

/** What each answer sets in motion, for someone who cannot decide. */
export function Lists({ of: gate }: { of: Gate | undefined }) {
  if (gate?.consequences != null) {
    return <ConsequenceLists decides={false} kind={gate.kind} shown={gate.consequences} />;
  }
  if (gate === undefined) return <Skeleton h={120} />;
  return gate.kind === 'human_gate' && <Dimmed>{listsText.unknown}</Dimmed>;
}

/** Why a decision was refused. It stays when the gate is read again, although the form does not. */
export function Conflict({
  error,
  digest,
  now,
}: {
  error: Error;
  /** The digest of the call that the user decided, and of the call that is open now. */
  digest: string | undefined;
  now: string | undefined;
}) {
  if (digest === now) return <Failure error={error} />;
  return (
    <Alert color="danger" role="alert">
      {text.callChanged}
    </Alert>
  );
}

/** Which role cannot decide, and what to do. */
export function MayNotDecide() {
  const { role } = useIdentity();
  return <Dimmed>{text.mayNotDecide(roleNamesInText[role])}</Dimmed>;
}

/** Whether the deadline of the gate has passed, by this computer's clock. */
export function useLate(expiresAt: string | undefined): boolean {
  const now = useMoment(expiresAt !== undefined);
  return expiresAt !== undefined && Date.parse(expiresAt) <= now;
}

export const TooLate = () => (
  <Alert color="warning" role="alert">
    {text.late}
  </Alert>
);

export const Unsatisfiable = ({ problem }: { problem: string }) => (
  <Alert color="danger" role="alert" title={text.unsatisfiable}>
    {text.unsatisfiableAbout(problem)}
  </Alert>
);
