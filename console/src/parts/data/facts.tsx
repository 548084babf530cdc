import { Box, SimpleGrid, Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** Names with their values. Pairs with an undefined value are omitted. */
export function Facts({ of }: { of: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <SimpleGrid component="dl" cols={{ base: 2, md: 4 }} spacing={{ base: 'xs', xs: 'md' }} m={0}>
      {of
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => (
          <Box key={name} miw={0}>
            <Text component="dt" size="xs" c="dimmed">
              {name}
            </Text>
            <Text component="dd" size="sm" m={0}>
              {value}
            </Text>
          </Box>
        ))}
    </SimpleGrid>
  );
}
