import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { beginChildStep } from '../../shared/db/children/steps.ts';
import { pauseAtGates } from '../../shared/db/gates/openings.ts';
import { abandonRun, cancelRun, reportFailure } from '../../shared/db/runs/ends.ts';
import { triggerRun } from '../../shared/operations/runs/runs.ts';
import { type Engine, startEngine } from '../support/engine.ts';

let engine: Engine;
let workflowId: string;
beforeAll(async () => {
  engine = await startEngine({ worker: false });
  workflowId = await engine.define({ nodes: [{ id: 'ok', kind: 'human_gate' }], edges: [] });
});
afterAll(() => engine.close());

const execution = 'e1';
const nothing = { control: [], observed: [], alerts: false };

/** A run without a parent, and one with it. */
async function pair() {
  const parent = await engine.trigger(workflowId);
  const step = { step_key: 'sub', node_id: 'sub', label: 'sub', iteration: [], output_key: 'sub' };
  await beginChildStep(engine.db, {
    ...{ ...step, ...nothing, run_id: parent, workflow_id: workflowId, execution, attempt: 1 },
    ...{ workspace_id: engine.actor.workspaceId, input: {}, judged: { revision: 0, verdicts: [] } },
  });
  const { runId } = await triggerRun(engine.deps, {
    ...{ actor: engine.actor, workflowId, trigger: 'workflow', input: {} },
    parent: { runId: parent, stepKey: 'sub', execution, attempt: 1 },
  });
  return { alone: await engine.trigger(workflowId), child: runId };
}

const pause = (runId: string) =>
  pauseAtGates(engine.db, {
    ...{ ...nothing, run_id: runId, execution, publicUrl: 'https://ops.example.com' },
    gates: [
      {
        ...{ step_key: 'ok', round: 1, node_id: 'ok', label: 'ok', iteration: [] },
        ...{ prompt: '?', fails_on_reject: true },
      },
    ],
  });
const failed = {
  ...{ step_key: 'ok', node_id: 'ok', label: 'ok', kind: 'tool' as const, iteration: [] },
  ...{ error: 'broken', reason: 'node' as const },
};

test('a pause says whether the run that started this one is notified, once', async () => {
  const { alone, child } = await pair();
  expect(await pause(alone)).toEqual({ decisions: [], noticed: false });
  expect(await pause(child)).toEqual({ decisions: [], noticed: true });
  expect(await pause(child)).toEqual({ decisions: [], noticed: false });
});

test.each([
  [
    'failure',
    async (runId: string) => {
      const call = { ...nothing, run_id: runId, n: 1, failed: [failed], execution };
      return (await reportFailure(engine.db, call)).ended;
    },
  ],
  [
    'crash',
    (runId: string) =>
      abandonRun(engine.db, { runId, kind: 'crash', error: 'gone', alerts: false }),
  ],
  [
    'cancel',
    async (runId: string) => {
      const { hasParent } = await cancelRun(engine.db, {
        ...{ actor: engine.actor, runId, alerts: false },
      });
      return { hasParent };
    },
  ],
])('the end of a run by a %s says whether a run has started it', async (_, end) => {
  const { alone, child } = await pair();
  expect(await end(alone)).toEqual({ hasParent: false });
  expect(await end(child)).toEqual({ hasParent: true });
});
