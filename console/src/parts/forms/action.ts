import { notifications } from '@mantine/notifications';
import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query';
import { createElement } from 'react';
import { ApiError } from '#client/index.ts';
import { actionUnanswered } from '#console/src/connection.ts';
import { action as text } from '#console/src/messages/en/forms.ts';
import { ErrorMessage } from '#console/src/parts/text/budget-link.tsx';
import { gotNoResponse } from '#console/src/parts/text/describe-error.ts';

export interface ActionOptions<Input, Answer> {
  /** Keys of the queries to invalidate. */
  changes: readonly QueryKey[];
  /** The success message; none by default. */
  done?: string | ((answer: Answer) => string);
  /** The action is in progress until it resolves. */
  onDone?: (answer: Answer, input: Input) => void | Promise<void>;
  /** Keys of queries that only show what the action removes. They are not read while it is in progress. */
  removes?: readonly QueryKey[];
  quiet?: boolean;
}

/**
 * An action of the user: sends it once, reports the result, and refetches what it changed. Errors show as a
 * notification unless `quiet`, for forms that show them inline; without a response, the bar above all pages says so.
 */
export function useAction<Input, Answer>(
  send: (input: Input) => Promise<Answer>,
  { changes, done, onDone, removes = [], quiet = false }: ActionOptions<Input, Answer>,
) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: send,
    meta: { removes },
    onMutate: () => Promise.all(removes.map((queryKey) => queries.cancelQueries({ queryKey }))),
    onSuccess: (answer, input) => {
      const message = typeof done === 'function' ? done(answer) : done;
      if (message !== undefined) notifications.show({ color: 'success', message });
      return onDone?.(answer, input);
    },
    onError: (error) => {
      if (quiet) return;
      if (gotNoResponse(error)) return actionUnanswered();
      if (isStale(error)) return notifyStale();
      notifications.show({
        color: 'danger',
        title: text.failed,
        message: createElement(ErrorMessage, { error }),
      });
    },
    onSettled: () =>
      Promise.all(changes.map((queryKey) => queries.invalidateQueries({ queryKey }))),
  });
}

/** The record is not in the state that the request required. */
export const isStale = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.status === 412;

/**
 * For actions without a form: by the time this shows, the page has the current state, and the user can decide again.
 */
function notifyStale(): void {
  notifications.show({
    color: 'warning',
    title: text.stale,
    message: text.staleAbout,
  });
}
