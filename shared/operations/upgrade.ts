import type { InviteRules } from '#shared/db/people/invite-codes.ts';
import { migrate } from '#shared/db/migrate.ts';
import { listRunsToRestart, readSchemaState, upgradeDatabase } from '#shared/db/upgrade.ts';
import { eachOf } from './each-of.ts';
import { describeCurrent, type DispatchDeps } from './runs/executions.ts';
import { endExecutions, requireNoOtherSessions } from './runs/restarts.ts';

/** Concurrent calls to Temporal. */
const AT_ONCE = 20;
const REASON = 'upgrade to 1.0: its run restarts from the ledger';

/**
 * Upgrades an installation from the last state before 1.0.0: ends the executions of its runs, and prepares its database
 * so that the service restarts the open runs from their ledgers. Nothing else may use the database at the same time.
 * Safe to repeat: the database changes in one transaction, after the executions have ended. Returns the number of runs
 * that restart; undefined if it was already upgraded. Throws Error with instructions.
 */
export async function upgradeTo1(
  deps: DispatchDeps,
  url: string,
  rules: InviteRules,
): Promise<number | undefined> {
  const { db } = deps;
  const state = await readSchemaState(db);
  if (state === 'upgraded') {
    await migrate(url);
    return undefined;
  }
  if (state === 'empty') {
    throw new Error('there is nothing to upgrade: the database has no schema of this service');
  }
  if (state === 'older') {
    throw new Error(
      'the database is not at the last migration before 1.0.0 (0057_pending_children.sql): start the last release before 1.0.0 with it once, stop it, and run this again',
    );
  }
  await requireNoOtherSessions(db);
  const { open, unsent } = await listRunsToRestart(db);
  await endExecutions(deps, open, REASON);
  const sent: string[] = [];
  await eachOf(unsent, AT_ONCE, async (runId) => {
    const current = await deps.temporal.withTimeout(() => describeCurrent(deps, runId));
    if (current !== undefined) sent.push(runId);
  });
  const restarted = await upgradeDatabase(db, { sent, rules });
  await migrate(url);
  return restarted;
}
