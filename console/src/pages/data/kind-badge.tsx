import { Badge } from '@mantine/core';

/** Whether records are real or made up, which decides which keys read them. */
export function KindBadge({ isDemo }: { isDemo: boolean }) {
  return (
    <Badge variant="light" color={isDemo ? 'grape' : 'teal'} tt="none">
      {isDemo ? 'made up' : 'real'}
    </Badge>
  );
}
