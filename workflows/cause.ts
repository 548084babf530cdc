import { ActivityFailure } from '@temporalio/workflow';

/** The error inside an activity failure. Other errors are returned unchanged. */
export const causeOf = (error: unknown): unknown =>
  error instanceof ActivityFailure ? error.cause : error;
