import { Badge, type BadgeProps } from '@mantine/core';
import { states } from '#console/src/messages/en/parts/states.ts';
import { stateColours } from '#console/src/theme.ts';

/** The state of a run or step as a word on a color: never color alone, and readable on every color. */
export function StateBadge({
  state,
  ...props
}: { state: keyof typeof stateColours } & Omit<BadgeProps, 'color' | 'children'>) {
  return (
    <Badge
      variant="light"
      color={stateColours[state]}
      c="bright"
      tt="none"
      fw={600}
      miw="max-content"
      {...props}
    >
      {states[state]}
    </Badge>
  );
}
