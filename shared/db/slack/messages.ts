import { z } from 'zod';
import { newId } from '#shared/crypto/ids.ts';
import { type Db, sql, statement, type Tx } from '#shared/db/pool.ts';
import { conflict } from '#shared/errors.ts';

/** How long a message is reserved for the process that writes it: longer than its requests take. */
const LEASE_SECONDS = 60;

/** Whether the workspace of a run `r` of a workflow `w` asks for decisions in Slack. */
const asksInSlack = sql.fragment`(
  r.rehearsal IS NULL AND EXISTS (
    SELECT FROM workspace_slack s JOIN workspace_alerts a ON a.workspace_id = s.workspace_id
    LEFT JOIN workflow_alerts o ON o.workspace_id = s.workspace_id AND o.workflow_id = w.id
    WHERE s.workspace_id = r.workspace_id AND 'paused' = ANY (coalesce(o.events, a.events))))`;

/** Queues a message for each of these open gates, in the transaction that opens them. */
export async function queueMessages(
  tx: Tx,
  { runId, stepKeys }: { runId: string; stepKeys: readonly string[] },
): Promise<void> {
  if (stepKeys.length === 0) return;
  const ids = stepKeys.map((step_key) => ({ step_key, id: newId('slackMessage') }));
  await tx.query(statement(z.object({}))`
    WITH queued AS (
      INSERT INTO slack_messages (id, workspace_id, run_id, step_key, round, opened_at, team_id)
      SELECT n.id, r.workspace_id, r.id, g.step_key, g.round, g.opened_at, s.team_id
      FROM runs r JOIN workflows w ON w.id = r.workflow_id JOIN gates g ON g.run_id = r.id
      JOIN json_to_recordset(${JSON.stringify(ids)}::json) AS n (step_key text, id text) ON n.step_key = g.step_key
      JOIN workspace_slack s ON s.workspace_id = r.workspace_id
      WHERE r.id = ${runId} AND g.status = 'open' AND ${asksInSlack}
      ON CONFLICT DO NOTHING
      RETURNING id, workspace_id, run_id
    )
    INSERT INTO outbox (run_id, kind, payload)
    SELECT q.run_id, 'alert', json_build_object('event', 'gate', 'workspace_id', q.workspace_id, 'run_id', q.run_id,
             'workflow_name', w.name, 'message_id', q.id, 'reminds', false)
    FROM queued q JOIN runs r ON r.id = q.run_id JOIN workflows w ON w.id = r.workflow_id
  `);
}

/** Queues the reminder of a gate that is open, in the transaction that reminds of it. */
export async function queueReminder(
  tx: Tx,
  { runId, stepKey, round }: { runId: string; stepKey: string; round: number },
): Promise<void> {
  await tx.query(statement(z.object({}))`
    INSERT INTO outbox (run_id, kind, payload)
    SELECT r.id, 'alert', json_build_object('event', 'gate', 'workspace_id', m.workspace_id, 'run_id', r.id,
             'workflow_name', w.name, 'message_id', m.id, 'reminds', true)
    FROM slack_messages m JOIN runs r ON r.id = m.run_id JOIN workflows w ON w.id = r.workflow_id
    JOIN gates g ON g.run_id = m.run_id AND g.step_key = m.step_key AND g.round = m.round AND g.opened_at = m.opened_at
    WHERE m.run_id = ${runId} AND m.step_key = ${stepKey} AND m.round = ${round}::int AND NOT m.is_final AND ${asksInSlack}
  `);
}

const messageRow = z.object({
  id: z.string(),
  workspace_id: z.string(),
  workflow_id: z.string(),
  workflow_name: z.string(),
  run_id: z.string(),
  step_key: z.string(),
  round: z.number(),
  /** With microseconds. */
  opened_at: z.string(),
  team_id: z.string(),
  channel: z.string().nullable(),
  ts: z.string().nullable(),
  /** Whether it was sent, or may have been. */
  sent: z.boolean(),
  shown: z.string().nullable(),
  is_final: z.boolean(),
});
export type StoredMessage = z.infer<typeof messageRow>;

const messageColumns = sql.fragment`
  m.id, m.workspace_id, r.workflow_id, w.name AS workflow_name, m.run_id, m.step_key, m.round, m.opened_at::text AS opened_at,
  m.team_id, m.channel, m.ts, m.posting_at IS NOT NULL AS sent, encode(m.shown, 'hex') AS shown, m.is_final`;

/** Whether a message about this step was sent to Slack, whose answer is not stored (yet). */
export async function awaitsAnswer(
  db: Db,
  { workspaceId, run, step }: { workspaceId: string; run: string; step: string },
): Promise<boolean> {
  return db.exists(statement(z.object({}))`
    SELECT FROM slack_messages
    WHERE workspace_id = ${workspaceId} AND run_id = ${run} AND step_key = ${step}
      AND posting_at IS NOT NULL AND ts IS NULL AND NOT is_final
  `);
}

/** A message by its place in Slack, or by its id. */
export async function findMessage(
  db: Db,
  place: { workspaceId: string } & ({ id: string } | { channel: string; ts: string }),
): Promise<StoredMessage | undefined> {
  const [id, channel, ts] =
    'id' in place ? [place.id, null, null] : [null, place.channel, place.ts];
  const row = await db.maybeOne(statement(messageRow)`
    SELECT ${messageColumns}
    FROM slack_messages m JOIN runs r ON r.id = m.run_id JOIN workflows w ON w.id = r.workflow_id
    WHERE m.workspace_id = ${place.workspaceId}
      AND CASE WHEN ${id}::text IS NULL THEN m.channel = ${channel} AND m.ts = ${ts} ELSE m.id = ${id} END
  `);
  return row ?? undefined;
}

const claimRow = messageRow.extend({ lease: z.string() });
export type ClaimedMessage = z.infer<typeof claimRow>;

/**
 * Reserves a message, so that one process writes it at a time. `busy` while another one does; undefined if it was deleted
 * with its run.
 */
export async function claimMessage(
  db: Db,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<ClaimedMessage | 'busy' | undefined> {
  const row = await db.maybeOne(statement(claimRow)`
    UPDATE slack_messages m SET leased_until = clock_timestamp() + ${LEASE_SECONDS}::int * interval '1 s'
    FROM runs r JOIN workflows w ON w.id = r.workflow_id
    WHERE m.id = ${id} AND m.workspace_id = ${workspaceId} AND r.id = m.run_id
      AND (m.leased_until IS NULL OR m.leased_until < clock_timestamp())
    RETURNING ${messageColumns}, m.leased_until::text AS lease
  `);
  if (row !== null) return row;
  const exists = await db.exists(statement(z.object({}))`
    SELECT FROM slack_messages WHERE id = ${id} AND workspace_id = ${workspaceId}
  `);
  return exists ? 'busy' : undefined;
}

/** Notes that a message is about to be sent; with false, that Slack certainly did not get it. */
export async function markPosting(
  db: Db,
  { id, lease }: Pick<ClaimedMessage, 'id' | 'lease'>,
  posting: boolean,
): Promise<void> {
  await db.query(statement(z.object({}))`
    UPDATE slack_messages SET posting_at = CASE WHEN ${posting}::boolean THEN clock_timestamp() END
    WHERE id = ${id} AND leased_until = ${lease}::timestamptz AND ts IS NULL
  `);
}

/** Stores where a message is and what it shows. Without `isFinal`, changes of its gate follow. */
export async function storeShown(
  db: Db,
  { id }: Pick<ClaimedMessage, 'id'>,
  given: { channel: string | null; ts: string | null; shown: Buffer; isFinal: boolean },
): Promise<void> {
  await db.query(statement(z.object({}))`
    UPDATE slack_messages SET channel = ${given.channel}, ts = ${given.ts}, shown = ${sql.binary(given.shown)},
      is_final = is_final OR ${given.isFinal}::boolean
    WHERE id = ${id}
  `);
}

export async function releaseMessage(
  db: Db,
  { id, lease }: Pick<ClaimedMessage, 'id' | 'lease'>,
): Promise<void> {
  await db.query(statement(z.object({}))`
    UPDATE slack_messages SET leased_until = NULL WHERE id = ${id} AND leased_until = ${lease}::timestamptz
  `);
}

/**
 * Requires that a decision was made in the message about this opening of a gate, while the workspace uses this Slack. Called in
 * the transaction that stores the decision. Throws AppError `conflict`.
 */
export async function requireMessage(
  tx: Tx,
  { id, teamId }: { id: string; teamId: string },
  gate: { step_key: string; round: number },
): Promise<void> {
  const holds = await tx.exists(statement(z.object({}))`
    SELECT FROM slack_messages m
    JOIN workspace_slack s ON s.workspace_id = m.workspace_id AND s.team_id = m.team_id
    JOIN gates g ON g.run_id = m.run_id AND g.step_key = m.step_key AND g.round = m.round AND g.opened_at = m.opened_at
    WHERE m.id = ${id} AND m.team_id = ${teamId} AND m.step_key = ${gate.step_key} AND m.round = ${gate.round}::int
    FOR SHARE OF s
  `);
  if (!holds) throw conflict('This message is no longer about an open gate: open the console');
}
