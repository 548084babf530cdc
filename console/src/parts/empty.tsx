import { Center, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** What a list says while there is nothing in it, and the next step to change that. */
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
