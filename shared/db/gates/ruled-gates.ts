import { z } from 'zod';
import type { Actor } from '../../actor.ts';
import { roles } from '../../capabilities.ts';
import { gateStatuses, type GateVote } from '../../contract/gate.ts';
import { decidersOf, type GateSettings, refusedDecision } from '../../graph/gate-settings.ts';
import type { JsonObject } from '../../json.ts';
import { readStandings } from '../people/standings.ts';
import { type Db, sql } from '../pool.ts';
import type { Decision } from './decision.ts';
import { isChosen, startersOf } from './gate-records.ts';
import { storedJson } from '../stored-json.ts';

const ruledGate = z.object({
  step_key: z.string(),
  round: z.number(),
  node_id: z.string(),
  label: z.string(),
  status: z.enum(gateStatuses),
  settings: storedJson<GateSettings | null>(),
  decisions: z.unknown().transform((value) => (value ?? []) as GateVote[]),
  input: storedJson<JsonObject | null>(),
  expired: z.boolean(),
  starters: z.array(z.string()),
  member_role: z.enum(roles).nullable(),
});

/** A gate with settings, and what the rules about it need to know. */
export interface RuledGate extends z.infer<typeof ruledGate> {
  settings: GateSettings;
  /** Why the actor cannot decide it. */
  refusal: string | undefined;
}

/**
 * The gate with settings that a decision is about: the open one, else the last one that was decided. Undefined when
 * there is none.
 */
export async function findRuledGate(
  db: Db,
  { actor, runId, nodeId, stepKey }: Pick<Decision, 'actor' | 'runId' | 'nodeId' | 'stepKey'>,
): Promise<RuledGate | undefined> {
  const gate = await db.maybeOne(sql.prepared('gates_find_ruled', ruledGate)`
    SELECT g.step_key, g.round, g.node_id, g.label, g.status, g.settings, g.decisions, g.input,
           coalesce(g.expires_at <= clock_timestamp(), false) AS expired,
           ${startersOf} AS starters,
           (SELECT role FROM members WHERE id = ${actor.id} AND workspace_id = r.workspace_id AND status = 'active') AS member_role
    FROM runs r JOIN gates g ON g.run_id = r.id
    WHERE r.id = ${runId} AND r.workspace_id = ${actor.workspaceId} AND g.kind = 'human_gate'
      AND ${isChosen({ nodeId, stepKey })}
    ORDER BY g.status = 'open' DESC, CASE WHEN g.status = 'open' THEN g.opened_at END, g.decided_at DESC NULLS LAST,
             g.step_key, g.round DESC LIMIT 1
  `);
  if (gate === null || gate.settings === null) return undefined;
  const ruled = { ...gate, settings: gate.settings };
  return { ...ruled, refusal: await refusalOf(db, ruled, actor) };
}

async function refusalOf(
  db: Db,
  gate: Omit<RuledGate, 'refusal'>,
  { id, workspaceId }: Actor,
): Promise<string | undefined> {
  const { settings, label, starters, member_role: role } = gate;
  const member = id === null || role === null ? null : { id, role };
  const asked = { member, starters, adminsStandIn: false };
  const refusal = refusedDecision(settings, label, asked);
  if (refusal === undefined || settings.approvers === undefined) return refusal;
  const { adminsStandIn } = decidersOf(settings, await readStandings(db, workspaceId), gate);
  return refusedDecision(settings, label, { ...asked, adminsStandIn });
}

/** Whether the member's approval already counts: while the gate is open, and once it is approved. */
export const hasApproved = (
  { status, decisions }: RuledGate,
  { actor, approved }: Decision,
): boolean =>
  approved &&
  (status === 'open' || status === 'approved') &&
  actor.id !== null &&
  decisions.some((vote) => vote.member_id === actor.id);
