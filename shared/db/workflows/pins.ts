import { z } from 'zod';
import type { Actor } from '#shared/people/actor.ts';
import { MAX_PIN_BYTES, MAX_PINS, type Pin } from '#shared/contract/workflows/node-test.ts';
import { AppError, conflict, notFound } from '#shared/errors.ts';
import { noSuchStep, type NodeInRun } from '#shared/db/forks/node-steps.ts';
import { type Db, type Pool, sql, statement, type Tx } from '#shared/db/pool.ts';
import { hasResult } from '#shared/db/runs/restart.ts';
import { storedJson } from '#shared/db/stored-json.ts';
import type { Json } from '#shared/json.ts';
import { lockWorkflow, requireWorkflow } from './workflows.ts';

/** Outputs of nodes that a member has pinned from past runs. Credentials without a member share theirs. */

type Owner = Pick<Actor, 'workspaceId' | 'id'>;

const pinRow = z.object({
  node_id: z.string(),
  run_id: z.string(),
  step_key: z.string(),
  bytes: z.number(),
  edited: z.boolean(),
  pinned_at: z.string(),
});

const ofOwner = ({ workspaceId, id }: Owner, workflowId: string) => sql.fragment`
  workflow_id = ${workflowId} AND workspace_id = ${workspaceId} AND member_id IS NOT DISTINCT FROM ${id}::text`;

const pinColumns = sql.fragment`node_id, run_id, step_key, octet_length(output::text) AS bytes, edited, pinned_at`;

/** The actor's pins in a workflow, by node. Throws AppError `not_found`. */
export async function listPins(db: Db, actor: Owner, workflowId: string): Promise<Pin[]> {
  await requireWorkflow(db, { workspaceId: actor.workspaceId, workflowId });
  const rows = await db.any(statement(pinRow)`
    SELECT ${pinColumns} FROM workflow_pins WHERE ${ofOwner(actor, workflowId)} ORDER BY node_id
  `);
  return [...rows];
}

const wholeRow = pinRow.extend({ output: storedJson() });

/** The actor's pin of a node with its output; empty if there is none. Throws AppError `not_found`. */
export async function findPin(
  db: Db,
  actor: Owner,
  workflowId: string,
  nodeId: string,
): Promise<Pin[]> {
  await requireWorkflow(db, { workspaceId: actor.workspaceId, workflowId });
  const rows = await db.any(statement(wholeRow)`
    SELECT ${pinColumns}, output FROM workflow_pins WHERE ${ofOwner(actor, workflowId)} AND node_id = ${nodeId}
  `);
  return [...rows];
}

const outputRow = z.object({ node_id: z.string(), output: z.string() });

/** The outputs that the actor has pinned in a workflow, as JSON texts by node id. */
export async function readPinnedOutputs(
  db: Db,
  actor: Owner,
  workflowId: string,
): Promise<Record<string, string>> {
  const rows = await db.any(statement(outputRow)`
    SELECT node_id, output::text AS output FROM workflow_pins WHERE ${ofOwner(actor, workflowId)}
  `);
  return Object.fromEntries(rows.map(({ node_id, output }) => [node_id, output]));
}

const pinnedRow = z.object({
  step_key: z.string(),
  output: z.string().nullable(),
  bytes: z.number(),
});

/**
 * The node's last step with an output, or the given one, and what is pinned: its output, or `given`. Throws AppError
 * `not_found`, `unprocessable`.
 */
async function readOutput(
  tx: Tx,
  actor: Owner,
  workflowId: string,
  { given, ...place }: NodeInRun & { given: Json | undefined },
) {
  const { runId, nodeId, stepKey } = place;
  const run = await tx.maybeOne(statement(z.object({ id: z.string() }))`
    SELECT id FROM runs
    WHERE id = ${runId} AND workspace_id = ${actor.workspaceId} AND workflow_id = ${workflowId}
  `);
  if (run === null) throw notFound('Run');
  const step = await tx.maybeOne(statement(pinnedRow)`
    SELECT step_key, CASE WHEN ${hasResult} THEN coalesce(output::text, 'null') END AS output,
           coalesce(octet_length(output::text), 4) AS bytes
    FROM steps s
    WHERE run_id = ${runId} AND node_id = ${nodeId} AND parent_step_key IS NULL AND status <> 'skipped'
      AND (${stepKey ?? null}::text IS NULL OR step_key = ${stepKey ?? null})
    ORDER BY ${hasResult} DESC, ordinal DESC, step_key DESC LIMIT 1
  `);
  if (step === null) throw noSuchStep(place);
  if (step.output === null) {
    throw new AppError(
      'unprocessable',
      `Step '${step.step_key}' has no output: pin a finished step of an agent, a tool or a workflow node`,
    );
  }
  const output = given === undefined ? step.output : JSON.stringify(given);
  const bytes = given === undefined ? step.bytes : Buffer.byteLength(output);
  if (bytes > MAX_PIN_BYTES) {
    const what = given === undefined ? `output of step '${step.step_key}'` : 'given output';
    throw new AppError(
      'unprocessable',
      `The ${what} has ${bytes} bytes of JSON; at most ${MAX_PIN_BYTES} can be pinned`,
    );
  }
  return { stepKey: step.step_key, output };
}

/**
 * Pins the output of a node from a step of a run, or `given` instead, and replaces the actor's previous pin. Throws
 * AppError `not_found`, `unprocessable`, and `conflict` when there are too many pins.
 */
export async function savePin(
  db: Pool,
  actor: Actor,
  workflowId: string,
  place: NodeInRun,
  given?: Json,
): Promise<Pin> {
  return db.transaction(async (tx) => {
    // Serializes the pins of a workflow: of two requests for the last slot, the second counts the first.
    await lockWorkflow(tx, actor, workflowId);
    const { stepKey, output } = await readOutput(tx, actor, workflowId, { ...place, given });
    const others = await tx.oneFirst(statement(z.object({ n: z.number() }))`
      SELECT count(*) AS n FROM workflow_pins
      WHERE ${ofOwner(actor, workflowId)} AND node_id <> ${place.nodeId}
    `);
    if (others >= MAX_PINS) {
      throw conflict(`You can pin at most ${MAX_PINS} nodes of a workflow; remove some pins first`);
    }
    return tx.one(statement(pinRow)`
      INSERT INTO workflow_pins (workspace_id, workflow_id, member_id, node_id, run_id, step_key, output, edited)
      VALUES (${actor.workspaceId}, ${workflowId}, ${actor.id}, ${place.nodeId}, ${place.runId}, ${stepKey}, ${output}::json, ${given !== undefined})
      ON CONFLICT ON CONSTRAINT workflow_pins_one_per_node
      DO UPDATE SET run_id = excluded.run_id, step_key = excluded.step_key, output = excluded.output, edited = excluded.edited,
                    pinned_at = now()
      RETURNING ${pinColumns}
    `);
  });
}

/** Throws AppError `not_found`. */
export async function removePin(
  db: Pool,
  actor: Owner,
  workflowId: string,
  nodeId: string,
): Promise<void> {
  const removed = await db.maybeOne(statement(z.object({ node_id: z.string() }))`
    DELETE FROM workflow_pins WHERE ${ofOwner(actor, workflowId)} AND node_id = ${nodeId} RETURNING node_id
  `);
  if (removed !== null) return;
  await requireWorkflow(db, { workspaceId: actor.workspaceId, workflowId });
  throw notFound('Pin');
}
