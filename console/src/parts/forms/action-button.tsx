import { Button, type ButtonProps } from '@mantine/core';
import type { UseMutationResult } from '@tanstack/react-query';
import { confirm, type Question } from './confirm.tsx';

/**
 * A button that performs an action of `useAction` with `input`, and is busy until it ends. With `ask`, it asks for a
 * confirmation first, and looks dangerous if the action is, unless a `variant` is given.
 */
export function ActionButton<Input = undefined, const Consequence extends string = string>({
  action,
  input,
  ask,
  ...look
}: ButtonProps & {
  action: Pick<UseMutationResult<unknown, Error, Input>, 'isPending' | 'mutate'>;
  ask?: Question<Consequence>;
  'aria-label'?: string;
} & (undefined extends Input ? { input?: Input } : { input: Input })) {
  const send = (): void => action.mutate(input as Input);
  const dangerous = ask !== undefined && ask.dangerous !== false && look.variant === undefined;
  return (
    <Button
      {...(dangerous ? { variant: 'light', color: 'danger' } : { variant: 'default' })}
      loading={action.isPending}
      onClick={ask === undefined ? send : () => confirm({ ...ask, onConfirm: send })}
      {...look}
    />
  );
}
