import { Text, type TextProps } from '@mantine/core';
import type { ReactNode } from 'react';

/** Text of secondary importance. */
export const Dimmed = (props: TextProps & { children: ReactNode }) => (
  <Text size="sm" c="dimmed" {...props} />
);
