import { Button, Group, Stack } from '@mantine/core';
import type { ReactNode, SubmitEvent } from 'react';
import { Failure } from '../failure.tsx';

/**
 * A form that sends one request: its fields, the error of the service, and its buttons. Enter submits it, unless a
 * request is in flight. Make the action `quiet`, since the form shows its error.
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
  /** Whether the fields can be submitted. */
  ready?: boolean;
  children: ReactNode;
}) {
  const send = (event: SubmitEvent): void => {
    event.preventDefault();
    // A form in a dialog must not submit the form that opened the dialog.
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
