import { ApiError, ConnectionError } from '../../../client/index.ts';

/** What went wrong, for the person who looks at it: the service's own words where it has any. */
export function describeError(error: unknown): string {
  if (error instanceof ApiError) return sentenceOf(error.detail);
  if (error instanceof ConnectionError) {
    return error.timedOut
      ? 'The service takes too long to answer'
      : 'The service cannot be reached';
  }
  return error instanceof Error ? error.message : String(error);
}

/** A form is the body that was refused: to say so again helps nobody. */
const sentenceOf = (detail: string): string => {
  const text = detail.replace(/^Invalid body: /, '');
  return text.charAt(0).toUpperCase() + text.slice(1);
};

/** What names the refused request in the service's log, if there is one. */
export const requestIdOf = (error: unknown): string | undefined =>
  error instanceof ApiError ? error.requestId : undefined;
