import { setTimeout as sleep } from 'node:timers/promises';
import {
  countExperimentRuns,
  findExperiment,
  type OpenRun,
  openRuns,
  type StoredExperiment,
  waitingRehearsals,
} from '#shared/db/experiments/experiments.ts';
import { readFinishedRuns } from '#shared/db/experiments/figures.ts';
import { adHocGraphOf } from '#shared/db/runs/run-request.ts';
import { insertResults, type RunResult } from '#shared/db/experiments/results.ts';
import type { RunningJob } from '#shared/db/jobs/jobs.ts';
import { AppError, errorTable } from '#shared/errors.ts';
import { uncompared } from '#shared/graph/experiments/comparison.ts';
import { WorkBusyError } from '#shared/platform/threads/threads.ts';
import { usd } from '#shared/money/money.ts';
import { guardedNodesOfChosen } from '#shared/operations/guards/guarded-nodes.ts';
import type { JobWork } from '#shared/operations/jobs/work.ts';
import { type RerunRequest, rerunRun } from '#shared/operations/forks/forks.ts';
import { cancelRun, type RunDeps } from '#shared/operations/runs/runs.ts';
import { comparePair, compareRefusedInput } from './compare.ts';

/** The maximum number of open rehearsals of one experiment. */
const AT_ONCE = 10;
const LOOK_EVERY_MS = 100;
/** A page is stored after this time, even without a result: its row shows that the job is alive. */
const PAGE_MS = 5_000;

/**
 * Rehearses the runs of an experiment, some of them concurrently. A page has the results of those that have ended.
 * Everything is read from rows, so an execution that takes over finds the rehearsals of the previous one.
 */
export const experimentJob: JobWork = {
  count: ({ db }, job) => countExperimentRuns(db, job.id),
  page: async (deps, job, signal) => {
    const experiment = await findExperiment(deps.db, job.id);
    const results =
      experiment === null
        ? []
        : await nextResults({ deps, job, experiment, candidate: candidateOf(experiment), signal });
    if (results === undefined || experiment === null) {
      return { position: null, items: 0, result: {}, keep: async () => undefined };
    }
    return {
      position: {},
      items: results.length,
      result: {},
      keep: (tx) => insertResults(tx, job.id, results),
    };
  },
};

interface Work {
  deps: RunDeps;
  job: RunningJob;
  experiment: StoredExperiment;
  /** The candidate. All runs of a page share one object, which `findRunnable` then checks once. */
  candidate: Pick<RerunRequest, 'version' | 'adHocGraph' | 'guardsOf'>;
  signal: AbortSignal;
}

const candidateOf = (experiment: StoredExperiment): Work['candidate'] => ({
  ...(experiment.version === null
    ? { adHocGraph: adHocGraphOf(experiment) }
    : { version: experiment.version }),
  guardsOf: guardsOnce(),
});

/** The guards before the nodes are the same for all runs of a page. A failed search is repeated. */
function guardsOnce(): typeof guardedNodesOfChosen {
  let found: ReturnType<typeof guardedNodesOfChosen> | undefined;
  return async (db, chosen) => {
    found ??= guardedNodesOfChosen(db, chosen);
    try {
      return await found;
    } catch (error) {
      found = undefined;
      throw error;
    }
  };
}

/** The results of the next rehearsals to end; undefined when there are no more. */
async function nextResults(work: Work): Promise<RunResult[] | undefined> {
  const { deps, job, signal } = work;
  const end = performance.now() + PAGE_MS;
  for (;;) {
    signal.throwIfAborted();
    const open = await openRuns(deps.db, { id: job.id, limit: AT_ONCE });
    if (open.length === 0) {
      await cancelWaiting(work);
      return undefined;
    }
    const refused = await startMissing(work, open);
    const results = [...refused, ...(await endedOf(work, open))];
    if (results.length > 0 || performance.now() > end) return results;
    await sleep(LOOK_EVERY_MS, undefined, { signal });
  }
}

/** Starts the rehearsals that are missing. Returns a result for each run that cannot be rehearsed. */
async function startMissing(work: Work, open: readonly OpenRun[]): Promise<RunResult[]> {
  const missing = open.filter(({ status }) => status === null);
  if (missing.length === 0) return [];
  const results = await Promise.all(missing.map((run) => rehearse(work, run)));
  return results.filter((result) => result !== undefined);
}

async function rehearse(work: Work, { n, run_id: runId }: OpenRun): Promise<RunResult | undefined> {
  const { deps, job, experiment, candidate } = work;
  const refused = (reason: string): RunResult => ({
    n,
    rehearsalRunId: null,
    comparison: uncompared('refused', reason),
    figures: null,
  });
  const spent = spentText(experiment);
  if (spent !== undefined) return refused(spent);
  try {
    await rerunRun(deps, {
      actor: actorOf(work),
      runId,
      trigger: 'manual',
      ...candidate,
      mode: 'recorded',
      ...experiment.rules,
      experimentId: job.id,
    });
    return undefined;
  } catch (error) {
    // The next page tries again.
    if (error instanceof WorkBusyError) return undefined;
    if (!(error instanceof AppError) || errorTable[error.code].retryable) throw error;
    if (error.code !== 'input_invalid') return refused(error.message);
    const [source] = await readFinishedRuns(deps.db, [runId]);
    if (source === undefined) return refused('Run not found');
    const pair = { workspaceId: job.workspace_id, checks: experiment.checks, source };
    return { n, rehearsalRunId: null, ...(await compareRefusedInput(pair, error.message)) };
  }
}

/** Why no further rehearsal is started. */
function spentText({ budget_micros: budget, spent_micros: spent }: StoredExperiment) {
  if (budget === null || spent < budget) return undefined;
  return `The budget of the experiment is used up: $${usd(spent)} of $${usd(budget)} spent`;
}

/** The results of the rehearsals that have ended, or that wait for a decision that no one will make. */
async function endedOf(work: Work, open: readonly OpenRun[]): Promise<RunResult[]> {
  const { deps, job, experiment } = work;
  const ended = open.filter(({ status }) => status === 'success' || status === 'failed');
  const ids = ended.flatMap(({ run_id, rehearsal_run_id }) => [run_id, rehearsal_run_id ?? '']);
  const rows = ids.length === 0 ? [] : await readFinishedRuns(deps.db, ids);
  const runs = new Map(rows.map((row) => [row.id, row]));
  const compared = ended.map(async ({ n, run_id, rehearsal_run_id: rehearsalRunId }) => {
    const source = runs.get(run_id);
    const rehearsal = runs.get(rehearsalRunId ?? '');
    // A run that was resumed in the meantime is open again, or it was deleted.
    if (source === undefined || rehearsal === undefined) {
      const comparison = uncompared('refused', 'The run has changed since the experiment began');
      return { n, rehearsalRunId, comparison, figures: null };
    }
    const pair = { workspaceId: job.workspace_id, checks: experiment.checks, source, rehearsal };
    try {
      return { n, rehearsalRunId, ...(await comparePair(pair)) };
    } catch (error) {
      if (error instanceof WorkBusyError) return undefined;
      throw error;
    }
  });
  const waiting = open
    .filter(({ status }) => status === 'paused')
    .map(({ n, rehearsal_run_id: rehearsalRunId }) => ({
      n,
      rehearsalRunId,
      comparison: uncompared('unrecorded', NO_DECISION),
      figures: null,
    }));
  const results = await Promise.all(compared);
  return [...results.filter((result) => result !== undefined), ...waiting];
}

const NO_DECISION =
  'It waits at a gate with a question that the run did not decide: give a decision in decisions to rehearse what follows';

/** Ends the rehearsals that wait for a decision, once their results are stored. */
async function cancelWaiting(work: Work): Promise<void> {
  const { deps, job } = work;
  // The run's error says who ended it: not the member who started the experiment.
  const actor = { ...actorOf(work), name: 'the experiment' };
  for (const runId of await waitingRehearsals(deps.db, job.id)) {
    try {
      await cancelRun(deps, { actor, runId, audited: false });
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
    }
  }
}

const actorOf = ({ job, experiment }: Work) => ({
  workspaceId: job.workspace_id,
  id: experiment.created_by,
  name: experiment.created_by_name,
});
