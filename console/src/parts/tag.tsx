import { Badge, type BadgeProps } from '@mantine/core';
import type { ReactNode } from 'react';

/** A word on a color, readable on every color. */
export function Tag(props: BadgeProps & { children: ReactNode }) {
  return <Badge variant="light" c="bright" tt="none" miw="max-content" {...props} />;
}
