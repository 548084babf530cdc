import { Text } from '@mantine/core';
import { modals } from '@mantine/modals';
import type { ReactElement } from 'react';
import type { Placeholder } from '#console/src/messages/format.ts';
import { words } from '#console/src/messages/en/words.ts';
import { Message } from '#console/src/messages/message.tsx';

/** What a confirmation asks. `values` are names that users chose, for the placeholders of the consequence. */
export type Question<Consequence extends string = string> = {
  title: string;
  consequence: Consequence | ReactElement;
  /** The verb on the button. */
  confirm: string;
  /** For actions that are themselves a cancellation, so that the two buttons differ. */
  cancelLabel?: string;
  dangerous?: boolean;
} & ([Placeholder<Consequence>] extends [never]
  ? { values?: undefined }
  : { values: Record<Placeholder<Consequence>, string> });

/** Asks for a confirmation of an irreversible action. Says what will happen, and names the action on its button. */
export function confirm<const Consequence extends string>({
  title,
  consequence,
  values,
  confirm: confirmLabel,
  cancelLabel = words.cancel,
  dangerous = true,
  onConfirm,
}: Question<Consequence> & { onConfirm: () => void }): void {
  modals.openConfirmModal({
    title,
    children: (
      <Text size="sm" component="div">
        {typeof consequence === 'string' && values ? (
          <Message text={consequence} values={values} />
        ) : (
          consequence
        )}
      </Text>
    ),
    labels: { confirm: confirmLabel, cancel: cancelLabel },
    // Enter only confirms harmless actions.
    confirmProps: dangerous ? { color: 'danger' } : { 'data-autofocus': true },
    onConfirm,
  });
}
