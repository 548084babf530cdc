import { Stack, Title } from '@mantine/core';
import type { ReactNode } from 'react';

/** A titled part of a run's or a step's details. */
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
