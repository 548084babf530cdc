import { z } from 'zod';
import { type Db, jsonOrNull, statement } from '#shared/db/pool.ts';
import { LEASE_MS } from '#shared/db/runs/outbox.ts';
import type { Runnable } from '#shared/db/runs/run-request.ts';
import { storedJson } from '#shared/db/stored-json.ts';
import type { Place } from '#shared/graph/limits/place.ts';
import type { JsonObject } from '#shared/json.ts';

/** Runs that wait for further triggers, and whose time has come. */

const dueRow = z.object({
  run_id: z.string(),
  workspace_id: z.string(),
  workflow_id: z.string(),
  input: storedJson<JsonObject>(),
  due: z.string(),
});
export type DueRun = z.infer<typeof dueRow>;

/** Those that are due, up to `limit`. Workspaces take turns. */
export const dueDebounces = (db: Db, limit: number): Promise<readonly DueRun[]> =>
  db.any(statement(dueRow)`
    SELECT p.run_id, p.workspace_id, p.workflow_id, r.input, p.due_at::text AS due
    FROM (
      SELECT run_id, workspace_id, workflow_id, due_at, row_number() OVER (PARTITION BY workspace_id ORDER BY due_at) AS turn
      FROM run_places WHERE state = 'debounced' AND due_at <= clock_timestamp()
      ORDER BY turn LIMIT ${limit}
    ) AS p JOIN runs r ON r.id = p.run_id
  `);

const startedRow = z.object({ started: z.boolean(), outbox_id: z.number().nullable() });

/**
 * Starts a run that is due, if it and its workflow are still as they were read. Without an outbox row, it waits in a queue. A
 * `refused` run waits no more, and the caller ends it; the reconciler does if the process is killed.
 */
export const startDebounced = (
  db: Db,
  { run_id, due }: DueRun,
  { version, toolRevision, limits }: Runnable,
  { place, refused }: { place: Place | undefined; refused: boolean },
): Promise<z.infer<typeof startedRow>> =>
  db.one(statement(startedRow)`
    SELECT started, outbox_id
    FROM start_debounced_1(run => ${run_id}, due => ${due}::timestamptz, version => ${version}, tools => ${toolRevision ?? null},
                           limits_revision => ${limits?.revision ?? null}, place => ${jsonOrNull(place)},
                           refused => ${refused}, lease_ms => ${LEASE_MS})
  `);
