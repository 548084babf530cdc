import { settleRun } from '#shared/db/runs/settlements.ts';
import type { StepBeginning } from '#shared/db/steps/beginning.ts';
import { beginStep } from '#shared/db/steps/steps.ts';
import type { Engine } from '#test/support/engine.ts';

/** What a worker sends to begin a step: by default, the first attempt of the tool step `a`. */
export const beginningOf = (
  { actor }: Engine,
  runId: string,
  fields: Partial<StepBeginning> = {},
): StepBeginning => ({
  pendingWrites: { run_id: runId, control: [], observed: [] },
  execution: 'e',
  claim: 'c',
  claimMs: 5_000,
  stepKey: 'a',
  nodeId: 'a',
  label: 'a',
  kind: 'tool',
  iteration: [],
  outputKey: 'a',
  input: {},
  queuedAt: new Date(),
  judged: { workspaceId: actor.workspaceId, revision: 0, verdicts: [] },
  ...fields,
});

/** Begins that step as a worker would. */
export const beginAs = (engine: Engine, runId: string, fields: Partial<StepBeginning>) =>
  beginStep(engine.db, beginningOf(engine, runId, fields));

/** Ends a run without further steps, by default with an empty output. */
export const settleAs = ({ db }: Engine, runId: string, execution = 'e', output = '{}') =>
  settleRun(db, { run_id: runId, control: [], observed: [], output, state: output, execution });
