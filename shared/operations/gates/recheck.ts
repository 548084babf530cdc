import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RecheckDifference } from '#shared/contract/gates/recheck.ts';
import {
  beginRecheck,
  finishRecheck,
  readDifferences,
  readRecheck,
  readRepeated,
  type StartedRead,
  type StoredRecheck,
  storeStarted,
} from '#shared/db/gates/rechecks.ts';
import type { RecheckDeps, RecheckedGate } from './gate-reads.ts';
import { startReads } from './start-reads.ts';

/**
 * Repeats the reads that a gate depends on, before an approval of it counts. Each is executed by a worker, in a rehearsal
 * of its node with the state that it had: policies, budgets and secrets apply as for every step.
 */

const FIRST_LOOK_MS = 40;
const LAST_LOOK_MS = 500;
/** A process that began a recheck may die before it has stored the reads. */
const LOST_AFTER_BOUND_MS = 5_000;

/** Repeats the reads of a gate, or waits for the recheck in progress. Returns its id; undefined when the gate is decided. */
export async function recheckGate(
  deps: RecheckDeps,
  gate: RecheckedGate,
): Promise<string | undefined> {
  let awaited: string | undefined;
  for (let pause = FIRST_LOOK_MS; ; pause = Math.min(pause * 1.5, LAST_LOOK_MS)) {
    const look = await continueRecheck(deps, gate, awaited);
    if (look.state === 'gone') return undefined;
    if (look.state === 'done') return look.id;
    awaited = look.id;
    await sleep(pause);
  }
}

/**
 * - `gone`: the gate is decided.
 * - `done`: a recheck has ended that counts.
 * - `waits`: look again. With an id, that recheck is in progress; without one, a recheck of another list has just ended.
 */
type Look = { state: 'gone' } | { state: 'done'; id: string } | { state: 'waits'; id?: string };

/**
 * One look at the recheck of a gate: begins it if it is due, ends it if all reads have ended or it takes too long. Any
 * process can continue it. `awaited`: the one that an earlier look has found in progress, whose result counts however
 * late this look is.
 */
export async function continueRecheck(
  deps: RecheckDeps,
  gate: RecheckedGate,
  awaited?: string,
): Promise<Look> {
  const { db, recheckMs } = deps;
  const found = await readRecheck(db, gate);
  if (found === undefined) return { state: 'gone' };
  const { recheck, ageMs } = found;
  const done = (last: StoredRecheck): Look =>
    last.digest === gate.digest ? { state: 'done', id: last.id } : { state: 'waits' };
  if (recheck?.finished_at !== undefined && recheck.id === awaited) return done(recheck);
  const begun = await beginRecheck(db, gate, {
    ...{ id: randomUUID(), digest: gate.digest, lostMs: recheckMs + LOST_AFTER_BOUND_MS },
  });
  if (begun !== undefined) {
    const { id } = begun;
    await storeStarted(db, gate, { id, runs: await startReads(deps, gate, id) });
    return { state: 'waits', id };
  }
  if (recheck === null) return { state: 'waits' };
  if (recheck.finished_at !== undefined) return done(recheck);
  const { id, runs } = recheck;
  const ends = runs !== undefined && (await finishIfDone(deps, gate, { id, runs, ageMs }));
  return ends ? done(recheck) : { state: 'waits', id };
}

/** Ends a recheck when its reads have ended, or it takes too long. Returns whether it has ended. */
async function finishIfDone(
  { db, recheckMs }: RecheckDeps,
  gate: RecheckedGate,
  { id, runs, ageMs }: { id: string; runs: readonly StartedRead[]; ageMs: number },
): Promise<boolean> {
  const states = await readRepeated(
    db,
    runs.flatMap(({ run_id }) => run_id ?? []),
  );
  const late = ageMs > recheckMs;
  const ended = runs.every(({ run_id }) => run_id === null || states.get(run_id)?.ended !== false);
  if (!ended && !late) return false;
  const succeeded: (StartedRead & { run_id: string })[] = [];
  const failed: RecheckDifference[] = [];
  for (const run of runs) {
    const { run_id, step_key, tool, problem } = run;
    const state = run_id === null ? undefined : states.get(run_id);
    if (run_id !== null && state?.succeeded === true) {
      succeeded.push({ ...run, run_id });
      continue;
    }
    const seconds = recheckMs / 1000;
    const why = state?.ended === false ? `it took longer than ${seconds} s` : state?.error;
    failed.push({
      ...{ step_key, tool, path: [], before: null, now: null, run_id },
      problem: `The read could not be repeated: ${problem ?? why ?? 'its run is gone'}`,
    });
  }
  const all = [...failed, ...(await readDifferences(db, gate.runId, succeeded))];
  const differences = all.slice(0, MAX_DIFFERENCES);
  await finishRecheck(db, gate, { id, differences, more: all.length - differences.length });
  return true;
}

/** The maximum number of differences that a gate shows. */
const MAX_DIFFERENCES = 50;
