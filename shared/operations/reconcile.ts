import { z } from 'zod';
import { takeDue } from '../db/outbox.ts';
import { type Pool, sql } from '../db/pool.ts';
import { abandonRun } from '../db/run-ends.ts';
import { notifyFrames } from '../db/frames.ts';
import { finishFromLedger } from './finish-from-ledger.ts';
import { describeCurrent, dispatch, type DispatchDeps } from './dispatch.ts';
import { type Loop, startLoop } from './loop.ts';

/** Outbox rows carried out per look, and open runs compared with Temporal per look. */
const BATCH = 50;
const CHECK_BATCH = 20;
/** A workflow task that failed this often will not get better by itself. */
const STUCK_ATTEMPTS = 3;

const openRow = z.object({ id: z.string(), lost_for_ms: z.number().nullable() });

/**
 * Open runs nobody has heard of for a while and that wait for nothing of ours: due to be compared with Temporal.
 * Takes each for one grace period, so that N processes share the work.
 */
async function takeSilent(db: Pool, graceMs: number) {
  return db.any(sql.prepared('reconcile_take_silent', openRow)`
    UPDATE runs SET checked_at = now()
    WHERE id IN (
      SELECT r.id FROM runs r
      WHERE r.status IN ('pending', 'running', 'paused')
        AND coalesce(r.checked_at, r.created_at) < now() - ${graceMs}::int * interval '1 ms'
        AND r.updated_at < now() - ${graceMs}::int * interval '1 ms'
        AND NOT EXISTS (SELECT FROM outbox o WHERE o.run_id = r.id AND o.kind <> 'alert')
      ORDER BY coalesce(r.checked_at, r.created_at) LIMIT ${CHECK_BATCH} FOR UPDATE SKIP LOCKED)
    RETURNING id, (extract(epoch FROM now() - lost_since) * 1000)::bigint AS lost_for_ms
  `);
}

/** One look: carries out what is due, then settles runs whose execution is gone. Returns how many of each. */
export async function reconcileOnce(
  deps: DispatchDeps,
): Promise<{ dispatched: number; settled: number }> {
  const due = await takeDue(deps.db, BATCH);
  const results = await Promise.all(due.map((row) => dispatch(deps, row)));
  let settled = 0;
  for (const run of await takeSilent(deps.db, deps.config.reconcile.graceMs)) {
    if (await checkRun(deps, run)) settled += 1;
  }
  return { dispatched: results.filter(Boolean).length, settled };
}

/**
 * Compares one open run with Temporal. Only what `describe` finds without a live execution twice, a grace period
 * apart, is settled as failed; a resume can take it up again.
 */
async function checkRun(deps: DispatchDeps, run: z.infer<typeof openRow>): Promise<boolean> {
  const current = await deps.temporal.withTimeout(() => describeCurrent(deps, run.id));
  if (current?.open === true) {
    await markLost(deps.db, run.id, false);
    if (current.stuckAttempts > STUCK_ATTEMPTS) return endStuck(deps, run.id);
    return false;
  }
  if (run.lost_for_ms === null || run.lost_for_ms < deps.config.reconcile.graceMs) {
    if (run.lost_for_ms === null) await markLost(deps.db, run.id, true);
    return false;
  }
  if (await finishFromLedger(deps.db, run.id)) {
    await notifyFrames(deps.db, [run.id]);
    return true;
  }
  const ended = await abandonRun(deps.db, {
    runId: run.id,
    kind: 'crash',
    error:
      current === undefined
        ? 'The execution of this run is gone'
        : `The execution of this run ended as ${current.status.toLowerCase()}`,
    alerts: deps.config.alerts.channels.length > 0,
  });
  if (ended) {
    deps.log.warn({ runId: run.id, execution: current?.runId }, 'settled a run without execution');
    await notifyFrames(deps.db, [run.id]);
  }
  return ended;
}

/** Workflow code that cannot replay this history: the run fails and can go on from the ledger. */
async function endStuck(deps: DispatchDeps, runId: string): Promise<boolean> {
  const ended = await abandonRun(deps.db, {
    runId,
    kind: 'crash',
    error: 'The execution of this run cannot be replayed; resume goes on from the finished steps',
    fromLedger: true,
    alerts: deps.config.alerts.channels.length > 0,
  });
  await deps.temporal.client.workflow.getHandle(runId).terminate('cannot be replayed');
  deps.log.error({ runId }, 'ended an execution whose workflow task keeps failing');
  await notifyFrames(deps.db, [runId]);
  return ended;
}

async function markLost(db: Pool, runId: string, lost: boolean): Promise<void> {
  await db.query(sql.prepared('reconcile_mark_lost', z.object({}))`
    UPDATE runs SET lost_since = CASE WHEN ${lost} THEN coalesce(lost_since, now()) END
    WHERE id = ${runId} AND (${lost} OR lost_since IS NOT NULL)
  `);
}

/** Looks again and again until stopped. */
export function startReconciler(
  deps: DispatchDeps,
  onSettled: (runs: number) => void = () => undefined,
): Loop {
  return startLoop({ name: 'reconciler', ...deps }, async () => {
    const { dispatched, settled } = await reconcileOnce(deps);
    onSettled(settled);
    return dispatched === BATCH;
  });
}
