import { setTimeout as sleep } from 'node:timers/promises';
import type { Actor } from '#shared/people/actor.ts';
import type { NotReused } from '#shared/contract/forks/fork.ts';
import type { NodeTest } from '#shared/contract/workflows/node-test.ts';
import type { CheckedRun, Run } from '#shared/contract/runs/run.ts';
import { assignGate, type Assignment } from '#shared/db/gates/assignments.ts';
import { newRunRecord, readRun } from '#shared/db/runs/runs.ts';
import type { Override } from '#shared/db/runs/resumes.ts';
import { notFound } from '#shared/errors.ts';
import {
  type Forked,
  forkRun,
  type ForkRequest,
  rerunRun,
  type RerunRequest,
} from '#shared/operations/forks/forks.ts';
import { type NodeTestRequest, testNode } from '#shared/operations/workflows/node-tests.ts';
import { checkDecision } from '#shared/operations/gates/check-decision.ts';
import {
  cancelRun,
  decideGate,
  resumeRun,
  type StartRequest,
  startRun,
} from '#shared/operations/runs/runs.ts';
import { MAX_STEPS_IN_RUN } from '#shared/limits.ts';
import type { RequestedDecision } from '#shared/operations/runs/tool-calls.ts';
import { databaseProblem } from './http/database-errors.ts';
import { waitUntilIdle } from './http/run-watch.ts';
import { shownRun } from './identity/shown-gates.ts';
import type { RouteContext } from './deps.ts';

/**
 * The actions on runs, for all APIs. Each returns the run, read while Temporal is notified: in the state after the
 * action, or in a later one. Each throws the AppErrors of `shared/operations/runs/runs.ts`.
 */
export interface RunActions {
  read(actor: Actor, runId: string): Promise<Run>;
  /** `replayed`: an earlier request with the same idempotency key started it. */
  start(request: StartRequest & { actor: Actor }): Promise<Started>;
  /** Starts a run again. */
  rerun(request: RerunRequest & { actor: Actor }): Promise<Started & { notReused: NotReused[] }>;
  /** Starts a run from a step of another one. */
  fork(request: ForkRequest & { actor: Actor }): Promise<Started & { notReused: NotReused[] }>;
  /** Tests one node, and waits some seconds for its end, unless the signal is aborted. */
  testNode(
    request: NodeTestRequest,
    signal: AbortSignal,
  ): Promise<{ tested: NodeTest; replayed: boolean }>;
  decide(actor: Actor, runId: string, answer: Answer): Promise<Run>;
  /** Throws what `decide` would throw. Decides nothing. */
  check(actor: Actor, runId: string, answer: Answer): Promise<CheckedRun>;
  /** Assigns a gate to the member who is expected to decide it. */
  assign(
    actor: Actor,
    runId: string,
    given: Omit<Assignment, 'actor' | 'runId' | 'mails'>,
  ): Promise<Run>;
  resume(actor: Actor, runId: string, override?: Override): Promise<Run>;
  cancel(actor: Actor, runId: string): Promise<Run>;
}

interface Started {
  run: Run;
  replayed: boolean;
  /** It joined a run that waited for further triggers. */
  joined?: boolean;
}

/** The decision at a gate or about a tool call, as a request contains it. */
type Answer = Omit<RequestedDecision, 'actor' | 'runId'>;

/** Shorter than a handler's timeout. */
const READ_FOR_MS = 20_000;

/** How long the test of a node is awaited. */
const TEST_WAIT_MS = 10_000;

const testOf = ({ id, status, steps, error }: Run): NodeTest => ({
  run_id: id,
  status,
  step: steps.find((step) => step.parent_step_key === undefined) ?? null,
  error,
});

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
    const scope = { workspaceId: actor.workspaceId, runId, maxSteps: MAX_STEPS_IN_RUN };
    const run = await readRun(db, { ...scope, ...pages });
    if (run === undefined) throw notFound('Run');
    return shownRun(actor, run);
  };
  // Reading before Temporal is notified would delay the step after a gate for no reason.
  const readWhile: ReadWhile = async (dispatched, actor, runId) => {
    const [run] = await Promise.all([
      untilRead(() => read(actor, runId)),
      inFlight.add(dispatched),
    ]);
    return run;
  };
  return {
    read,
    start: async (request) => {
      const { runId, admitted, joined, dispatched } = await startRun(context, request);
      const { actor, input, draft = false } = request;
      // The record of a run of a draft contains its graph.
      if (draft || admitted === undefined) {
        const run = await readWhile(dispatched, actor, runId);
        return { run, replayed: admitted === undefined };
      }
      await inFlight.add(dispatched);
      return {
        run: newRunRecord(admitted, input, pages),
        replayed: false,
        joined: joined === true,
      };
    },
    ...forkActions(context, readWhile),
    testNode: async (request, signal) => {
      const { runId, admitted, dispatched } = await testNode(context, request);
      await inFlight.add(dispatched);
      const { workspaceId } = request.actor;
      await waitUntilIdle(db, { workspaceId, runId }, { waitMs: TEST_WAIT_MS, signal });
      const tested = testOf(await untilRead(() => read(request.actor, runId)));
      return { tested, replayed: admitted === undefined };
    },
    ...gateActions(context, read, readWhile),
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

type ReadRun = (actor: Actor, runId: string) => Promise<Run>;
type ReadWhile = (dispatched: Promise<boolean>, actor: Actor, runId: string) => Promise<Run>;

function gateActions(
  context: RouteContext,
  read: ReadRun,
  readWhile: ReadWhile,
): Pick<RunActions, 'decide' | 'check' | 'assign'> {
  return {
    decide: async (actor, runId, answer) => {
      const { dispatched } = await decideGate(context, { actor, runId, ...answer });
      return readWhile(dispatched, actor, runId);
    },
    check: async (actor, runId, answer) => {
      const shown = await checkDecision(context, { actor, runId, ...answer });
      const run = await read(actor, runId);
      if (shown === undefined) return run;
      const { digest, consequences } = shown;
      return { ...run, shown: { digest, consequences } };
    },
    assign: async (actor, runId, given) => {
      const mails = context.config.email.apiKey !== undefined;
      await assignGate(context.db, { actor, runId, mails, ...given });
      return untilRead(() => read(actor, runId));
    },
  };
}

/** Runs that start from another run. Their records are read, because a fork already has steps. */
function forkActions(
  context: RouteContext,
  readWhile: ReadWhile,
): Pick<RunActions, 'rerun' | 'fork'> {
  const started = async (
    actor: Actor,
    { runId, admitted, dispatched, notReused }: Forked,
  ): Promise<Started & { notReused: NotReused[] }> => ({
    run: await readWhile(dispatched, actor, runId),
    replayed: admitted === undefined,
    notReused,
  });
  return {
    rerun: async (request) => started(request.actor, await rerunRun(context, request)),
    fork: async (request) => started(request.actor, await forkRun(context, request)),
  };
}
