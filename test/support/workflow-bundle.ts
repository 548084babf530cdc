import { join } from 'node:path';
import { bundleWorkflowCode } from '@temporalio/worker';

const silent = {
  trace: ignore,
  debug: ignore,
  info: ignore,
  warn: ignore,
  error: ignore,
  log: ignore,
};
function ignore(): void {
  // What the bundler has to say is not the test's affair.
}

/** The workflow code of a file in test/fixtures, such as `other-workflow.ts`, for a worker that has other code than ours. */
export const bundleFixture = (file: string) =>
  bundleWorkflowCode({
    workflowsPath: join(import.meta.dirname, '../fixtures', file),
    logger: silent,
  });
