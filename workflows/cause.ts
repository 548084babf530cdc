import { ActivityFailure } from '@temporalio/workflow';

/** What an activity failed with; any other error stands for itself. */
export const causeOf = (error: unknown): unknown =>
  error instanceof ActivityFailure ? error.cause : error;
