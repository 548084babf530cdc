import { expect, test } from '@jest/globals';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chain, echo, useEngine } from '#test/support/engine.ts';
import { startWorkerProcess } from '#test/support/processes.ts';
import { setting } from '#test/support/settings.ts';
import { soakTest } from '#test/support/soak.ts';
import { bundleFixture } from '#test/support/workflow-bundle.ts';

const engine = useEngine({ worker: false });

test('workflow code collects no stack traces, and the query for them says so', async () => {
  const worker = await startWorkerProcess(engine.env);
  try {
    const runId = await engine.start(chain(echo('a')));
    await engine.until(runId, ['success'], 60_000);
    const execution = engine.deps.temporal.client.workflow.getHandle(runId);
    await expect(execution.query('__stack_trace')).rejects.toThrow('stack traces are not enabled');
    expect(worker.tail(40).join('\n')).not.toContain('promiseHooks');
  } finally {
    await worker.stop();
  }
}, 120_000);

soakTest('a worker stuck in workflow code says why it ends', 120_000, async () => {
  const path = join(mkdtempSync(join(tmpdir(), 'endless-')), 'bundle.js');
  writeFileSync(path, (await bundleFixture('endless-workflow.ts')).code);
  const stuck = await startWorkerProcess({
    ...engine.env,
    WORKFLOW_BUNDLE: path,
    LOG_LEVEL: 'fatal',
  });
  const runId = await engine.start(chain(echo('a'), echo('b')));
  // The SDK's own timer would fail the task after five seconds, and the process would continue.
  expect(await stuck.exited).toMatchObject({ code: 1 });
  expect(stuck.tail(40).join('\n')).toContain('workflow code has not returned for 10 s');
  const worker = await startWorkerProcess(engine.env);
  try {
    await engine.until(runId, ['success'], 60_000);
  } finally {
    await worker.stop();
  }
});

// The import law says what each file imports; this is what the sandbox loads.
test("the workflow bundle contains the SDK's packages and re2js, but not zod", () => {
  const bundle = readFileSync(setting('WORKFLOW_BUNDLE'), 'utf8');
  const packages = bundle.matchAll(/node_modules\/((?:@[\w.-]+\/)?[\w.-]+)/g);
  expect([...new Set([...packages].map(([, name]) => name))].sort()).toEqual([
    '@temporalio/common',
    '@temporalio/workflow',
    'long',
    'ms',
    'nexus-rpc',
    're2js',
  ]);
});
