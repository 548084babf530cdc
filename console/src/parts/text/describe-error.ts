import { ApiError, ConnectionError } from '#client/index.ts';
import { failure as text } from '#console/src/messages/en/parts/page.ts';
import { sentenceCase } from './sentence-case.ts';

/** The message of an error for users: the detail of the API's response if there is one. */
export function describeError(error: unknown): string {
  if (error instanceof ApiError) return sentenceOf(error.detail);
  if (error instanceof ConnectionError) {
    return error.timedOut ? text.timedOut : text.unreachable;
  }
  return error instanceof Error ? error.message : String(error);
}

/** Drops the prefix `Invalid body: `, because the form is the body. */
const sentenceOf = (detail: string): string => sentenceCase(detail.replace(/^Invalid body: /, ''));

/** The id of the failed request in the service's log, if there is one. */
export const requestIdOf = (error: unknown): string | undefined =>
  error instanceof ApiError ? error.requestId : undefined;

/** Whether the service did not respond, or not in time. */
export const gotNoResponse = (error: unknown): boolean => error instanceof ConnectionError;
