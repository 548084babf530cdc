import { Button, Group, Stack } from '@mantine/core';
import type { ReactNode, SubmitEvent } from 'react';
import { Failure } from '../failure.tsx';

/**
 * A form that sends one thing: its fields, why the service refused it, and its buttons. Enter sends it; while it is
 * being sent it cannot be sent again. Make the action `quiet`, since its error is shown here.
 */
export function Form({
  action,
  submit,
  onSubmit,
  onCancel,
  ready = true,
  children,
}: {
  action: { isPending: boolean; error: Error | null };
  /** The verb on the button. */
  submit: string;
  onSubmit: () => void;
  onCancel?: () => void;
  /** Whether what is in the fields can be sent. */
  ready?: boolean;
  children: ReactNode;
}) {
  const send = (event: SubmitEvent): void => {
    event.preventDefault();
    // A form inside a dialog must not send one that the dialog was opened from.
    event.stopPropagation();
    if (ready && !action.isPending) onSubmit();
  };
  return (
    <form onSubmit={send}>
      <Stack gap="sm">
        {children}
        {action.error !== null && <Failure error={action.error} />}
        <Group justify="flex-end" gap="xs">
          {onCancel !== undefined && (
            <Button variant="default" onClick={onCancel}>
              Cancel
            </Button>
          )}
          <Button type="submit" loading={action.isPending} disabled={!ready}>
            {submit}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
