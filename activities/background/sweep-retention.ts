import { Context } from '@temporalio/activity';
import type { BackgroundActivities } from '#shared/execution.ts';
import type { DispatchDeps } from '#shared/operations/runs/executions.ts';
import { sweepPart } from '#shared/operations/sweep.ts';
import { inParts } from './parts.ts';

/** One part of a sweep. */
export const createSweepRetention =
  (deps: DispatchDeps): BackgroundActivities['sweepRetention'] =>
  (call) =>
    inParts(Context.current(), (onBatch) => sweepPart(deps, { after: call.after, onBatch }));
