import { Text } from '@mantine/core';
import type { Step } from '../../../../../client/index.ts';
import { DeciderText, Decisions } from '../../../parts/forms/gate-rules.tsx';
import { UserText } from '../../../parts/text/user-text.tsx';
import { When } from '../../../parts/text/time.tsx';

/** Who decided a gate, when, and why. */
export function Decided({
  decision,
  decisions = [],
}: {
  decision: NonNullable<Step['decision']>;
  /** Of a gate that counts its approvers. */
  decisions?: Step['decisions'];
}) {
  const { approved, at, reason } = decision;
  return (
    <div>
      <Text size="sm">
        {approved ? 'Approved' : 'Rejected'} <DeciderText decision={decision} />, <When at={at} />
      </Text>
      {reason !== null && (
        <Text size="sm">
          Reason: <UserText>{reason}</UserText>
        </Text>
      )}
      {decisions.length > 1 && <Decisions decisions={decisions} />}
    </div>
  );
}
