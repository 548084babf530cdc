import { z } from 'zod';
import { statement, type Tx } from '#shared/db/pool.ts';
import type { JsonObject } from '#shared/json.ts';

const waitingRow = z.object({ waits: z.boolean() });
const limitedRow = z.object({ workflow_id: z.string() });
const settingsRow = z.object({ settings: z.unknown() });

/**
 * Whether a locked run has to wait for a slot before it continues, because it has left its slot while it was paused. Then the
 * run is `running`, and its execution gets a message when it has one.
 */
export const waitsToContinue = (tx: Tx, runId: string): Promise<boolean> =>
  tx.oneFirst(statement(waitingRow)`SELECT continue_place_1(${runId}) AS waits`);

/** Whether a locked run waits for a slot to continue: `continues`, if something continues it now, or already. */
export const isQueued = (tx: Tx, runId: string, continues: boolean): Promise<boolean> =>
  continues
    ? waitsToContinue(tx, runId)
    : tx.exists(statement(z.object({}))`
        SELECT FROM run_places WHERE run_id = ${runId} AND state = 'waiting'
      `);

/**
 * Takes a slot for a locked run that continues. Returns whether it waits for one; then the message is sent when it gets it.
 * A run that was triggered without limits needs none.
 */
export async function waitsForSlot(
  tx: Tx,
  runId: string,
  { kind, payload }: { kind: 'resume'; payload: JsonObject },
): Promise<boolean> {
  const run = await tx.maybeOne(statement(limitedRow)`
    SELECT workflow_id FROM runs WHERE id = ${runId} AND limits IS NOT NULL
  `);
  if (run === null) return false;
  const limits = await tx.maybeOne(statement(settingsRow)`
    SELECT settings FROM workflow_limits WHERE workflow_id = ${run.workflow_id} FOR UPDATE
  `);
  if (limits === null) return false;
  const { waits } = await tx.one(statement(waitingRow)`
    SELECT take_place_1(run => ${runId}, limits => ${JSON.stringify(limits.settings)}::json, message => ${kind}, payload => ${JSON.stringify(payload)}::json) AS waits
  `);
  return waits;
}
