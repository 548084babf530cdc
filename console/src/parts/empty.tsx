import { Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Capability } from '#client/index.ts';
import { page as text } from '#console/src/messages/en/parts/page.ts';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';

/** An empty list: what is missing, what it is for, and the button or link that creates the first entry. */
export function Empty({
  title,
  about,
  missing = false,
  children,
}: {
  title: string;
  /** What the entries are, and what they are for. */
  about?: ReactNode;
  /** The permission that this member needs to create the first entry and does not have. */
  missing?: false | Capability;
  children?: ReactNode;
}) {
  return (
    <Stack className="empty" align="center" gap="xs" ta="center">
      <Text fw={600}>{title}</Text>
      {about !== undefined && (
        <Text size="sm" c="dimmed" component="div" maw={520}>
          {about}
        </Text>
      )}
      {missing !== false && <Dimmed>{text.mayNotCreate(missing)}</Dimmed>}
      {children}
    </Stack>
  );
}
