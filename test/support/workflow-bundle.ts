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
  // The bundler's messages are irrelevant to tests.
}

/**
 * Bundles the workflow code of a file in test/fixtures, such as `other-workflow.ts`, for a worker with different code.
 */
export const bundleFixture = (file: string) =>
  bundleWorkflowCode({
    workflowsPath: join(import.meta.dirname, '../fixtures', file),
    logger: silent,
  });
