import { setTimeout as sleep } from 'node:timers/promises';
import { checkGate, type OutdatedGate, type UnrecheckedGate } from '#shared/db/gates/clock.ts';
import type { ReadsOfGate } from '#shared/db/gates/rechecks.ts';
import {
  readConsequences,
  readLastDecisions,
  showAgain,
  type ShownGate,
} from '#shared/db/gates/shown.ts';
import type { ControlActivities, GateCheck, PauseCall } from '#shared/execution.ts';
import { findConsequences } from '#shared/operations/gates/consequences.ts';
import { findReads } from '#shared/operations/gates/gate-reads.ts';
import { continueRecheck } from '#shared/operations/gates/recheck.ts';
import { rechecking } from '#shared/operations/runs/runs.ts';
import type { DryRunDeps } from '#shared/operations/workflows/dry-run.ts';
import type { ChildDeps } from './children.ts';

/** How long and how often an activity looks at reads that are repeated before a deadline approves. */
const LOOKS = 10;
const PAUSE_MS = 100;
/** When the next activity looks again. */
const LOOK_AGAIN_MS = 1_000;

/** Does what is due at an open gate. Before a deadline approves, the reads that the gate depends on are repeated. */
export async function checkOpenGate(
  deps: ChildDeps & DryRunDeps,
  check: GateCheck & { execution: string; alerts: boolean },
): ReturnType<ControlActivities['checkGate']> {
  const { unrechecked, outdated, ...result } = await checkGate(deps.db, check);
  if (outdated !== undefined) {
    await findAgain(deps, check.run_id, outdated);
    return { wait_ms: 1 };
  }
  if (unrechecked !== undefined) {
    const ended = await recheckAtDeadline(deps, unrechecked);
    return { wait_ms: ended ? 1 : LOOK_AGAIN_MS };
  }
  if (result.decision !== undefined) deps.frames.wakeNow(check.run_id);
  return result;
}

/** Finds what a gate shows since another one was decided, so that its deadline counts for that. */
async function findAgain(
  deps: ChildDeps & DryRunDeps,
  runId: string,
  { situation, input, step_key, round, prompt, title, settings }: OutdatedGate,
): Promise<void> {
  const decided = await readLastDecisions(deps.db, { runId, step_key, round });
  const on_timeout = settings?.on_timeout;
  const gates = [{ step_key, round, prompt, title, on_timeout, input: input ?? undefined }];
  const found = await findConsequences(deps, runId, { gates, situation, decided }).catch(
    (error: unknown) => {
      deps.log.warn({ err: error, runId }, 'a deadline decides without its consequences');
      return [];
    },
  );
  const [shown] = found;
  await showAgain(deps.db, { runId, step_key, round }, { shown, decided: decided.length });
}

/** Returns whether the recheck has ended. */
async function recheckAtDeadline(
  deps: ChildDeps,
  { workspaceId, ...gate }: UnrecheckedGate,
): Promise<boolean> {
  const consequences = await readConsequences(deps.db, gate);
  const actor = { workspaceId, id: null, name: null };
  for (let look = 0; look < LOOKS; look += 1) {
    const { state } = await continueRecheck(rechecking(deps), { ...gate, actor, consequences });
    if (state !== 'waits') return true;
    await sleep(PAUSE_MS);
  }
  return false;
}

/** What the gates with `recheck` depend on. Without it, they still open, and a recheck finds it again. */
export async function readsAt(
  deps: Pick<ChildDeps, 'db' | 'log'>,
  { run_id: runId, gates, control }: PauseCall,
  shown: readonly ShownGate[],
): Promise<ReadsOfGate[]> {
  const all: ReadsOfGate[] = [];
  // They are written when the run pauses.
  const pending = control.filter(({ status }) => status === 'success');
  for (const { step_key, round, node_id, settings } of gates) {
    if ((settings?.recheck ?? false) === false) continue;
    const consequences = shown.find((each) => each.step_key === step_key)?.consequences ?? null;
    const gate = { runId, step_key, round, node_id, consequences };
    try {
      all.push({ runId, step_key, round, reads: await findReads(deps, gate, pending) });
    } catch (error) {
      deps.log.warn({ err: error, runId }, 'a gate opens without what it depends on');
    }
  }
  return all;
}
