import { Center, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** An empty list: what is missing, and the next step. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <Center py="xl">
      <Stack align="center" gap="xs" maw={480} ta="center">
        <Text fw={600}>{title}</Text>
        {children}
      </Stack>
    </Center>
  );
}
