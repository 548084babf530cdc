import { Text } from '@mantine/core';
import type { Step } from '#client/index.ts';
import { decided as text } from '#console/src/messages/en/runs/inspector.ts';
import { Message } from '#console/src/messages/message.tsx';
import { Decisions, DecisionText } from '#console/src/parts/forms/gate-rules.tsx';

/** Who decided a gate, when, and why. */
export function Decided({
  decision,
  decisions = [],
}: {
  decision: NonNullable<Step['decision']>;
  /** For a gate that counts its approvers. */
  decisions?: Step['decisions'];
}) {
  const { reason } = decision;
  return (
    <div>
      <Text size="sm">
        <DecisionText decision={{ ...decision, reason: null }} />
      </Text>
      {reason !== null && (
        <Text size="sm">
          <Message text={text.reason} values={{ reason }} />
        </Text>
      )}
      {decisions.length > 1 && <Decisions decisions={decisions} />}
    </div>
  );
}
