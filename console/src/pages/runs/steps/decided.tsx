import { Text } from '@mantine/core';
import type { Step } from '../../../../../client/index.ts';
import { UserText } from '../../../parts/text/user-text.tsx';
import { When } from '../../../parts/text/time.tsx';

/** Who decided a gate, when, and why. */
export function Decided({ decision }: { decision: NonNullable<Step['decision']> }) {
  const { approved, by, at, reason } = decision;
  return (
    <div>
      <Text size="sm">
        {approved ? 'Approved' : 'Rejected'} by{' '}
        {by === null ? 'an API key' : <UserText>{by}</UserText>}, <When at={at} />
      </Text>
      {reason !== null && (
        <Text size="sm">
          Reason: <UserText>{reason}</UserText>
        </Text>
      )}
    </div>
  );
}
