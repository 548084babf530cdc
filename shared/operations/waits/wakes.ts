import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from '#shared/db/pool.ts';
import {
  dropWake,
  type LeasedWake,
  leaseWakes,
  stillLeased,
  workspacesToWake,
} from '#shared/db/waits/wakes.ts';
import { SIGNAL_WAITED } from '#shared/execution.ts';
import { type Loop, startLoop } from '#shared/operations/loop.ts';
import { signalRun } from '#shared/operations/runs/dispatch.ts';
import type { DispatchDeps } from '#shared/operations/runs/executions.ts';
import type { Woken } from './woken.ts';

/**
 * Wakes the executions of waiting steps whose time is up, or for which something came. Temporal would deliver the timers of many runs at once, and then
 * others' tasks behind them. So the times are in Postgres, workspaces take turns, and the next step is woken when an
 * execution has read the row of one before.
 */

/** A look without a due step costs a fraction of a millisecond. */
const LOOK_EVERY_MS = 25;
/** The time until a step is woken again whose execution has not read its row: an execution can be stuck. */
const LEASE_MS = { least: 10_000, most: 60_000 };
/** After this time, the rows of woken steps are read: their executions may be in another process. */
const CHECK_MS = 50;
/** The list of workspaces is read again after this multiple of the time that this takes: it reads each due step. */
const REST_FACTOR = 20;
/** How many steps one process wakes at once: enough to use the machine. */
const AT_ONCE = 30;
/** The same while steps of other workspaces are executed here, so that their tasks hardly wait. */
const AT_ONCE_BESIDE_OTHERS = 1;
/** How long a workspace counts as another after its last step. */
const BESIDE_MS = 2_000;
/** The time until the next steps are woken after Temporal could not be reached. */
const RETRY_MS = 1_000;

export interface WakeDeps extends DispatchDeps {
  woken: Woken;
  shares: {
    /** Whether a workspace that is not among these has had a step here within so many milliseconds. */
    busyBeside(workspaceIds: ReadonlySet<string>, withinMs: number): boolean;
  };
}

/** Wakes due steps until stopped. */
export function startWakes(deps: WakeDeps): Loop {
  const { woken } = deps;
  const turns = createTurns(deps.db);
  return startLoop({ name: 'wakes', ...deps, everyMs: LOOK_EVERY_MS }, async () => {
    const atOnce = deps.shares.busyBeside(turns.workspaces(), BESIDE_MS)
      ? AT_ONCE_BESIDE_OTHERS
      : AT_ONCE;
    const next = await turns.take(atOnce - woken.places().length);
    woken.add(next);
    const failures = (await Promise.all(next.map((step) => wake(deps, step)))).filter(Boolean);
    if (failures.length > 0) {
      const steps = failures.length;
      deps.log.warn({ err: failures[0], steps }, 'could not wake waiting steps; will try again');
      await sleep(RETRY_MS);
    }
    if (woken.places().length === 0) return next.length > 0;
    if (!(await woken.nextRead(CHECK_MS))) woken.keep(await stillLeased(deps.db, woken.places()));
    return true;
  });
}

interface Turns {
  /** The workspaces that have had due steps. */
  workspaces(): ReadonlySet<string>;
  /** Leases due steps, one of each workspace in turn. */
  take(count: number): Promise<LeasedWake[]>;
}

function createTurns(db: Pool): Turns {
  /** The next one comes first. */
  const waiting = new Set<string>();
  let readAgainAt = 0;
  /** How long the read before took: one that was slow alone, as on a busy machine, does not count. */
  let before = 0;
  async function read(): Promise<void> {
    const began = performance.now();
    for (const workspaceId of await workspacesToWake(db)) waiting.add(workspaceId);
    const ended = performance.now();
    const took = ended - began;
    readAgainAt = ended + Math.max(LOOK_EVERY_MS, REST_FACTOR * Math.min(took, before));
    before = took;
  }
  return {
    workspaces: () => waiting,
    take: async (count) => {
      const taken: LeasedWake[] = [];
      if (count > 0 && performance.now() >= readAgainAt) await read();
      while (taken.length < count) {
        const [workspaceId] = waiting;
        if (workspaceId === undefined) break;
        waiting.delete(workspaceId);
        const limit = waiting.size === 0 ? count - taken.length : 1;
        const leased = await leaseWakes(db, { workspaceId, limit, leaseMs: LEASE_MS });
        taken.push(...leased);
        if (leased.length === limit) waiting.add(workspaceId);
      }
      return taken;
    },
  };
}

/** Signals the execution of a step. Returns the error if that failed: then the lease ends, and the step is due again. */
async function wake(deps: DispatchDeps, step: LeasedWake): Promise<unknown> {
  const { run_id: runId, step_key } = step;
  try {
    const isOpen = await deps.temporal.withTimeout(() =>
      signalRun(deps, runId, SIGNAL_WAITED, { step_key }),
    );
    if (!isOpen) await dropWake(deps.db, step);
    return undefined;
  } catch (error) {
    return error;
  }
}
