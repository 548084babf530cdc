import { Text } from '@mantine/core';
import { modals } from '@mantine/modals';
import type { ReactNode } from 'react';
import { words } from '#console/src/messages/en/words.ts';

/** Asks for a confirmation of an irreversible action. Says what will happen, and names the action on its button. */
export function confirm({
  title,
  consequence,
  confirmLabel,
  cancelLabel = words.cancel,
  dangerous = true,
  onConfirm,
}: {
  title: string;
  consequence: ReactNode;
  /** The verb on the button. */
  confirmLabel: string;
  /** For actions that are themselves a cancellation, so that the two buttons differ. */
  cancelLabel?: string;
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
    labels: { confirm: confirmLabel, cancel: cancelLabel },
    // Enter only confirms harmless actions.
    confirmProps: dangerous ? { color: 'danger' } : { 'data-autofocus': true },
    onConfirm,
  });
}
