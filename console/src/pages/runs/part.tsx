import { Stack, Title } from '@mantine/core';
import type { ReactNode } from 'react';

/** A part of what is told of a run or of a step, under its name. */
export function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Stack gap={4}>
      <Title order={3} size="h6">
        {title}
      </Title>
      {children}
    </Stack>
  );
}
