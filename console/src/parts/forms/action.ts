import { notifications } from '@mantine/notifications';
import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query';
import { describeError } from '../text/describe-error.ts';

/**
 * An action of the user: sends it once, reports the result, and refetches what it changed. Errors show as a
 * notification unless `quiet`, for forms that show them inline.
 */
export function useAction<Input, Answer>(
  send: (input: Input) => Promise<Answer>,
  {
    changes,
    done,
    onDone,
    quiet = false,
  }: {
    /** Keys of the queries to invalidate. */
    changes: readonly QueryKey[];
    /** The success message; none by default. */
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
      notifications.show({ color: 'red', title: 'Request failed', message: describeError(error) });
    },
    onSettled: () =>
      Promise.all(changes.map((queryKey) => queries.invalidateQueries({ queryKey }))),
  });
}
