import { setTimeout as sleep } from 'node:timers/promises';
import type { Actor } from '../shared/actor.ts';
import type { Run } from '../shared/contract/run.ts';
import type { RunRequest } from '../shared/db/runs/run-request.ts';
import { newRunRecord, readRun } from '../shared/db/runs/runs.ts';
import type { Override } from '../shared/db/runs/resumes.ts';
import { notFound } from '../shared/errors.ts';
import { cancelRun, decideGate, resumeRun, triggerRun } from '../shared/operations/runs/runs.ts';
import type { RequestedDecision } from '../shared/operations/runs/tool-calls.ts';
import { databaseProblem } from './http/database-errors.ts';
import { shownRun } from './identity/shown-gates.ts';
import type { RouteContext } from './deps.ts';

/**
 * The actions on runs, for all APIs. Each returns the run, read while Temporal is notified: in the state after the
 * action or in a later one. Each throws the AppErrors of `shared/operations/runs/runs.ts`.
 */
export interface RunActions {
  read(actor: Actor, runId: string): Promise<Run>;
  /** `replayed`: an earlier request with the same idempotency key started it. */
  start(request: RunRequest): Promise<{ run: Run; replayed: boolean }>;
  decide(actor: Actor, runId: string, answer: Answer): Promise<Run>;
  resume(actor: Actor, runId: string, override?: Override): Promise<Run>;
  cancel(actor: Actor, runId: string): Promise<Run>;
}

/** The answer at a gate or a tool call, as a request has it. */
type Answer = Omit<RequestedDecision, 'actor' | 'runId'>;

/** Below a handler's timeout. */
const READ_FOR_MS = 20_000;

/** The action is committed, so reading its result retries while the database is unavailable. */
async function untilRead(read: () => Promise<Run>): Promise<Run> {
  const end = Date.now() + READ_FOR_MS;
  for (let pauseMs = 100; ; pauseMs = Math.min(2 * pauseMs, 2_000)) {
    try {
      return await read();
    } catch (error) {
      if (databaseProblem(error)?.code !== 'unavailable' || Date.now() > end) throw error;
    }
    await sleep(pauseMs);
  }
}

export function createRunActions(context: RouteContext): RunActions {
  const { db, inFlight } = context;
  const pages = {
    temporalUiUrl: context.config.temporal.uiUrl,
    temporalNamespace: context.temporal.namespace,
  };
  const read = async (
    actor: Pick<Actor, 'workspaceId'> & Partial<Actor>,
    runId: string,
  ): Promise<Run> => {
    const run = await readRun(db, { workspaceId: actor.workspaceId, runId, ...pages });
    if (run === undefined) throw notFound('Run');
    return shownRun(actor, run);
  };
  // Reading before Temporal is notified would delay the step after a gate for no reason.
  const readWhile = async (
    dispatched: Promise<boolean>,
    actor: Actor,
    runId: string,
  ): Promise<Run> => {
    const [run] = await Promise.all([
      untilRead(() => read(actor, runId)),
      inFlight.add(dispatched),
    ]);
    return run;
  };
  return {
    read,
    start: async (request) => {
      const { runId, admitted, dispatched } = await triggerRun(context, request);
      await inFlight.add(dispatched);
      return admitted === undefined
        ? { run: await read(request.actor, runId), replayed: true }
        : { run: newRunRecord(admitted, request.input, pages), replayed: false };
    },
    decide: async (actor, runId, answer) => {
      const { dispatched } = await decideGate(context, { actor, runId, ...answer });
      return readWhile(dispatched, actor, runId);
    },
    resume: async (actor, runId, override) => {
      const { dispatched } = await resumeRun(context, { actor, runId, override });
      return readWhile(dispatched, actor, runId);
    },
    cancel: async (actor, runId) => {
      const { dispatched } = await cancelRun(context, { actor, runId });
      return readWhile(dispatched, actor, runId);
    },
  };
}
