import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';
import { moduleUrl } from '#shared/platform/module-url.ts';

/**
 * Bundles the workflow code for the sandbox, in 1 to 3 s. In production, this happens once, when the image is built,
 * and `WORKFLOW_BUNDLE` is the path of the file.
 */
export async function bundleWorkflows(): Promise<{ code: string }> {
  const source = (path: string): string =>
    fileURLToPath(moduleUrl(`../${path}.ts`, import.meta.url));
  return bundleWorkflowCode({
    workflowsPath: source('workflows/index'),
    payloadConverterPath: source('workflows/payload-converter'),
    preloadModules: PURE_MODULES.map(source),
    logger: quiet,
  });
}

/**
 * Evaluated once per worker instead of once per run, which saves almost a millisecond per run. Only for modules without
 * a run's state: the graph engine consists of functions over data, and its caches contain parsed texts.
 */
const PURE_MODULES = [
  'shared/graph/schedule/scheduler',
  'shared/graph/compile',
  'shared/graph/expression/expression',
  'shared/graph/expression/template',
  'shared/tools',
];

const silent = (): void => undefined;
const quiet = {
  log: silent,
  trace: silent,
  debug: silent,
  info: silent,
  warn: console.warn,
  error: console.error,
};
