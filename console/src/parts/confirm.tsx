import { Text } from '@mantine/core';
import { modals } from '@mantine/modals';
import type { ReactNode } from 'react';

/** Asks before something that cannot be taken back. Says what will happen, and names the act on its button. */
export function confirm({
  title,
  consequence,
  act,
  dangerous = true,
  onConfirm,
}: {
  title: string;
  consequence: ReactNode;
  /** The verb on the button. */
  act: string;
  dangerous?: boolean;
  onConfirm: () => void;
}): void {
  modals.openConfirmModal({
    title,
    children: (
      <Text size="sm" component="div">
        {consequence}
      </Text>
    ),
    labels: { confirm: act, cancel: 'Leave it' },
    confirmProps: dangerous ? { color: 'red' } : {},
    onConfirm,
  });
}
