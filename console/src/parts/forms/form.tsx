import { Button, Stack } from '@mantine/core';
import type { ReactNode, SubmitEvent } from 'react';
import { words } from '#console/src/messages/en/words.ts';
import { Failure } from '#console/src/parts/failure.tsx';
import { Changed } from './changed.tsx';
import type { ChangedMeanwhile } from './edited.tsx';
import { Footer } from './footer.tsx';

interface FormAction {
  isPending: boolean;
  error: Error | null;
  /** What someone else did to the record in the meantime; from `useEdit`. */
  changed?: ChangedMeanwhile | undefined;
}

/** Without `onSubmit`, the action needs no input. */
type Sending =
  | { action: FormAction & { mutate: (input: undefined) => void }; onSubmit?: undefined }
  | { action: FormAction; onSubmit: () => void };

/**
 * A form that sends one request: its fields, the service's error, and its buttons. Enter submits it, unless a request
 * is in flight, or someone else has changed the record. Make the action `quiet`, since the form shows its error.
 */
export function Form({
  action,
  submit,
  onSubmit,
  onCancel,
  ready = true,
  children,
}: Sending & {
  /** The verb on the button. */
  submit: string;
  onCancel?: () => void;
  /** Whether the fields can be submitted. */
  ready?: boolean;
  children: ReactNode;
}) {
  const sendable = ready && action.changed === undefined;
  const send = (event: SubmitEvent): void => {
    event.preventDefault();
    // A form in a dialog must not submit the form that opened the dialog.
    event.stopPropagation();
    if (!sendable || action.isPending) return;
    if (onSubmit === undefined) action.mutate(undefined);
    else onSubmit();
  };
  return (
    <form onSubmit={send}>
      <Stack gap="sm">
        {children}
        <Refusal action={action} />
        <Footer>
          {onCancel !== undefined && (
            <Button variant="default" onClick={onCancel}>
              {words.cancel}
            </Button>
          )}
          <Button type="submit" loading={action.isPending} disabled={!sendable}>
            {submit}
          </Button>
        </Footer>
      </Stack>
    </form>
  );
}

/** Why the last request was refused, or the next one would be. */
export function Refusal({ action }: { action: FormAction }) {
  const { changed, error, isPending } = action;
  if (changed !== undefined) return !isPending && <Changed {...changed} />;
  return error !== null && <Failure error={error} />;
}
