import { notifications } from '@mantine/notifications';
import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query';
import { describeError } from './describe-error.ts';

/**
 * Something a person does: sends it once, says what came of it, and has what it changed read anew. The error is told
 * as a notification unless `quiet`, for forms that show it themselves.
 */
export function useAction<Input, Answer>(
  send: (input: Input) => Promise<Answer>,
  {
    changes,
    done,
    onDone,
    quiet = false,
  }: {
    /** Keys of the queries that are no longer true. */
    changes: readonly QueryKey[];
    /** What to say when it is done; nothing without it. */
    done?: string | ((answer: Answer) => string);
    onDone?: (answer: Answer, input: Input) => void;
    quiet?: boolean;
  },
) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: send,
    onSuccess: (answer, input) => {
      const message = typeof done === 'function' ? done(answer) : done;
      if (message !== undefined) notifications.show({ color: 'teal', message });
      onDone?.(answer, input);
    },
    onError: (error) => {
      if (quiet) return;
      notifications.show({ color: 'red', title: 'Refused', message: describeError(error) });
    },
    onSettled: () =>
      Promise.all(changes.map((queryKey) => queries.invalidateQueries({ queryKey }))),
  });
}
