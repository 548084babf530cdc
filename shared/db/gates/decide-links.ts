import { z } from 'zod';
import { roles } from '#shared/people/capabilities.ts';
import type { PendingGate } from '#shared/contract/gates/pending-gate.ts';
import { gateStatuses, type GateVote } from '#shared/contract/gates/gate.ts';
import { memberStatuses } from '#shared/contract/people/member.ts';
import { newId } from '#shared/crypto/ids.ts';
import { type Db, sql, statement, type Tx } from '#shared/db/pool.ts';
import { storedJson } from '#shared/db/stored-json.ts';
import { conflict } from '#shared/errors.ts';
import type { GateSettings } from '#shared/graph/gates/gate-settings.ts';
import { gateRecord, type GateRow, isDecidable, startersOf, toGates } from './gate-records.ts';

/** How long a link can be used, if its gate is open for that long. */
const LINK_DAYS = 7;

/**
 * Whether a gate `g` can be decided with a link: not one that requires members to sign in, and not a call of an agent,
 * whose arguments a model has written.
 */
const isLinkable = sql.fragment`(
  g.settings ->> 'signed_in' IS DISTINCT FROM 'true' AND (g.kind = 'human_gate' OR g.turn IS NULL))`;

/** Whether members of the workspace of a run `r` get links. */
const sendsLinks = sql.fragment`
  EXISTS (SELECT FROM workspace_alerts a WHERE a.workspace_id = r.workspace_id AND a.decide_by_link)`;

/**
 * Queues the emails with links for those who are expected to decide these open gates, in the transaction that opens them
 * or reminds of them. The recipients are found when the emails are sent.
 */
export async function queueRequests(
  tx: Tx,
  { runId, stepKeys, reminds }: { runId: string; stepKeys: readonly string[]; reminds: boolean },
): Promise<void> {
  if (stepKeys.length === 0) return;
  await tx.query(statement(z.object({}))`
    INSERT INTO outbox (run_id, kind, payload)
    SELECT r.id, 'alert', json_build_object(
             'event', 'requested', 'run_id', r.id, 'workspace_id', r.workspace_id, 'workflow_name', w.name,
             'text', CASE WHEN ${reminds}::boolean THEN 'Reminder: ' ELSE '' END || g.prompt, 'node_id', g.node_id,
             'step_key', g.step_key, 'round', g.round)
    FROM runs r JOIN workflows w ON w.id = r.workflow_id JOIN gates g ON g.run_id = r.id
    WHERE r.id = ${runId} AND r.rehearsal IS NULL AND g.step_key = ANY (${sql.array([...stepKeys], 'text')})
      AND g.status = 'open' AND (g.assignee_id IS NOT NULL OR g.settings -> 'approvers' IS NOT NULL)
      AND ${isLinkable} AND ${sendsLinks}
    ORDER BY g.step_key
  `);
}

const gateToMail = z.object({
  round: z.number(),
  opened_at: z.string(),
  digest: z.string().nullable(),
  generation: z.number(),
  settings: storedJson<GateSettings | null>(),
  decisions: storedJson<GateVote[] | null>(),
  starters: z.array(z.string()),
  assignee_id: z.string().nullable(),
});
export type GateToMail = z.infer<typeof gateToMail>;

/** An open gate for which members get links now; undefined if they get none. */
export async function readGateToMail(
  db: Db,
  { runId, stepKey }: { runId: string; stepKey: string },
): Promise<GateToMail | undefined> {
  const row = await db.maybeOne(statement(gateToMail)`
    SELECT g.round, g.opened_at::text AS opened_at, g.digest, a.link_generation AS generation, g.settings, g.decisions,
           ${startersOf} AS starters, g.assignee_id
    FROM runs r JOIN gates g ON g.run_id = r.id JOIN workspace_alerts a ON a.workspace_id = r.workspace_id
    WHERE r.id = ${runId} AND g.step_key = ${stepKey} AND ${isDecidable} AND ${isLinkable} AND a.decide_by_link
    ORDER BY g.round DESC LIMIT 1
  `);
  return row ?? undefined;
}

const recipientRow = z.object({ id: z.string(), name: z.string(), email: z.string() });
export type Recipient = z.infer<typeof recipientRow>;

/** These members with their addresses, in this order. */
export const readRecipients = (
  db: Db,
  workspaceId: string,
  memberIds: readonly string[],
): Promise<readonly Recipient[]> =>
  db.any(statement(recipientRow)`
    SELECT m.id, m.name, m.email FROM unnest(${sql.array([...memberIds], 'text')}) WITH ORDINALITY AS given (id, at)
    JOIN members m ON m.id = given.id AND m.workspace_id = ${workspaceId} AND m.status = 'active'
    ORDER BY given.at
  `);

const storedLink = z.object({ id: z.string(), mailed: z.boolean(), expires_at: z.string() });

/**
 * Stores the link of an email before it is sent. Another attempt finds it, also if it was mailed. The gate may have opened
 * again in the meantime: then an email that was not sent is about that.
 */
export async function storeLink(
  db: Db,
  link: {
    tokenHash: Buffer;
    workspaceId: string;
    alert: string;
    memberId: string;
    runId: string;
    stepKey: string;
    gate: GateToMail;
  },
): Promise<z.infer<typeof storedLink>> {
  const { gate } = link;
  return db.one(statement(storedLink)`
    INSERT INTO decide_links AS l (id, token_hash, workspace_id, alert, member_id, run_id, step_key, round, opened_at, digest,
                                   generation, expires_at)
    VALUES (${newId('decideLink')}, ${sql.binary(link.tokenHash)}, ${link.workspaceId}, ${link.alert}, ${link.memberId},
            ${link.runId}, ${link.stepKey}, ${gate.round}::int, ${gate.opened_at}::timestamptz, ${gate.digest},
            ${gate.generation}::int, now() + ${LINK_DAYS}::int * interval '1 day')
    ON CONFLICT (alert, member_id) DO UPDATE SET
      token_hash = CASE WHEN l.mailed_at IS NULL THEN excluded.token_hash ELSE l.token_hash END,
      opened_at = CASE WHEN l.mailed_at IS NULL THEN excluded.opened_at ELSE l.opened_at END,
      round = CASE WHEN l.mailed_at IS NULL THEN excluded.round ELSE l.round END,
      generation = CASE WHEN l.mailed_at IS NULL THEN excluded.generation ELSE l.generation END
    RETURNING id, mailed_at IS NOT NULL AS mailed, expires_at
  `);
}

/** The provider has accepted the email. */
export async function markMailed(db: Db, id: string): Promise<void> {
  await db.query(statement(z.object({}))`
    UPDATE decide_links SET mailed_at = now() WHERE id = ${id} AND mailed_at IS NULL
  `);
}

const linkRow = z.object({
  id: z.string(),
  workspace_id: z.string(),
  workspace_name: z.string(),
  workflow_name: z.string(),
  run_id: z.string(),
  run_status: z.string(),
  step_key: z.string(),
  expires_at: z.string(),
  expired: z.boolean(),
  /** Whether the workspace still lets its members decide with links of that time. */
  enabled: z.boolean(),
  /** The decision that was made with it. */
  approved: z.boolean().nullable(),
  /** What the gate showed when the email was sent, and what it shows now. */
  mailed_digest: z.string().nullable(),
  digest: z.string().nullable(),
  label: z.string(),
  status: z.enum(gateStatuses),
  decidable: z.boolean(),
  timed_out: z.boolean(),
  same_opening: z.boolean(),
  decided_by_name: z.string().nullable(),
  member: z
    .object({
      id: z.string(),
      name: z.string(),
      role: z.enum(roles),
      status: z.enum(memberStatuses),
      overrides: z.record(z.string(), z.boolean().nullable()),
    })
    .nullable(),
});

/** A link with its member and its gate, as they are now. */
export type DecideLink = z.infer<typeof linkRow>;

/** The link of a token; undefined if there is none. Every token takes the same statement. */
export async function findLink(db: Db, tokenHash: Buffer): Promise<DecideLink | undefined> {
  const row = await db.maybeOne(statement(linkRow)`
    SELECT l.id, l.workspace_id, ws.name AS workspace_name, w.name AS workflow_name, l.run_id, r.status AS run_status, l.step_key,
           l.expires_at, l.expires_at <= now() AS expired, l.approved, l.digest AS mailed_digest,
           coalesce(a.decide_by_link AND a.link_generation = l.generation, false) AS enabled,
           g.digest, g.label, g.status, ${isDecidable} AND ${isLinkable} AS decidable, g.opened_at = l.opened_at AS same_opening,
           g.timed_out IS NOT NULL OR g.status = 'open' AND coalesce(g.expires_at <= clock_timestamp(), false) AS timed_out,
           g.decided_by_name,
           (SELECT json_build_object('id', m.id, 'name', m.name, 'role', m.role, 'status', m.status, 'overrides', m.overrides)
            FROM members m WHERE m.id = l.member_id AND m.workspace_id = l.workspace_id) AS member
    FROM decide_links l JOIN workspaces ws ON ws.id = l.workspace_id JOIN runs r ON r.id = l.run_id
    JOIN workflows w ON w.id = r.workflow_id
    JOIN gates g ON g.run_id = l.run_id AND g.step_key = l.step_key AND g.round = l.round
    LEFT JOIN workspace_alerts a ON a.workspace_id = l.workspace_id
    WHERE l.token_hash = ${sql.binary(tokenHash)}
  `);
  return row ?? undefined;
}

const shownRow = z.object({ gate: storedJson<GateRow>() });

/** The open gate of a link, as callers see it. Undefined if it was decided in the meantime. */
export async function readLinkedGate(
  db: Db,
  { workspace_id: workspaceId, run_id: runId, step_key: stepKey }: DecideLink,
): Promise<PendingGate | undefined> {
  const row = await db.maybeOne(statement(shownRow)`
    SELECT ${gateRecord} AS gate FROM runs r JOIN gates g ON g.run_id = r.id
    WHERE r.id = ${runId} AND r.workspace_id = ${workspaceId} AND g.step_key = ${stepKey} AND g.status = 'open'
  `);
  const [gate] = row === null ? [] : await toGates(db, workspaceId, [row.gate]);
  return gate;
}

/**
 * Uses a link, in the transaction that stores its decision. Throws AppError `conflict` if it has ended: it was used, its
 * time is up, the workspace has turned links off, or the gate has opened again.
 */
export async function useLink(
  tx: Tx,
  { id }: { id: string },
  { step_key: stepKey, round, approved }: { step_key: string; round: number; approved: boolean },
): Promise<void> {
  const { rowCount } = await tx.query(statement(z.object({}))`
    UPDATE decide_links l SET used_at = now(), approved = ${approved}
    FROM gates g, workspace_alerts a
    WHERE l.id = ${id} AND l.used_at IS NULL AND l.expires_at > now() AND l.step_key = ${stepKey} AND l.round = ${round}::int
      AND g.run_id = l.run_id AND g.step_key = l.step_key AND g.round = l.round AND g.opened_at = l.opened_at
      AND a.workspace_id = l.workspace_id AND a.decide_by_link AND a.link_generation = l.generation
  `);
  if (rowCount === 0) throw conflict('This link has ended: open it again to read why');
}
