import { Badge, type BadgeProps } from '@mantine/core';
import { failedCount, states } from '#console/src/messages/en/parts/states.ts';
import { stateColours } from '#console/src/theme.ts';

/** The state of a run or step as a word on a color: never color alone, and readable on every color. */
export function StateBadge({
  state,
  failed = 0,
  ...props
}: {
  state: keyof typeof stateColours;
  /** How many items or iterations failed, which matters more than the state of the rest. */
  failed?: number;
} & Omit<BadgeProps, 'color' | 'children'>) {
  return (
    <Badge
      variant="light"
      color={stateColours[failed > 0 ? 'failed' : state]}
      c="bright"
      tt="none"
      fw={600}
      miw="max-content"
      leftSection={
        state === 'running' && failed === 0 ? <span className="breathing" aria-hidden /> : undefined
      }
      {...props}
    >
      {failed > 0 ? failedCount(failed) : states[state]}
    </Badge>
  );
}
