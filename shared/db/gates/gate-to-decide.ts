import { z } from 'zod';
import type { Actor } from '#shared/people/actor.ts';
import { roles } from '#shared/people/capabilities.ts';
import { gateKinds, gateStatuses, type GateVote } from '#shared/contract/gates/gate.ts';
import {
  decidersOf,
  type GateSettings,
  refusedDecision,
} from '#shared/graph/gates/gate-settings.ts';
import type { JsonObject } from '#shared/json.ts';
import type { Situation } from '#shared/graph/schedule/scheduler.ts';
import { readStandings } from '#shared/db/people/standings.ts';
import { type Db, statement } from '#shared/db/pool.ts';
import { storedJson } from '#shared/db/stored-json.ts';
import type { Decision } from './decision.ts';
import { isChosen, startersOf } from './gate-records.ts';
import { isOutdated } from './shown.ts';
import type { StoredRecheck } from './rechecks.ts';

const gateToDecide = z.object({
  step_key: z.string(),
  round: z.number(),
  since: z.string(),
  node_id: z.string(),
  kind: z.enum(gateKinds),
  /** Whether it is a call of an agent. */
  of_agent: z.boolean(),
  label: z.string(),
  status: z.enum(gateStatuses),
  fails_on_reject: z.boolean(),
  settings: storedJson<GateSettings | null>(),
  votes: storedJson<GateVote[]>(),
  input: storedJson<JsonObject | null>(),
  tool: z.string().nullable(),
  digest: z.string().nullable(),
  prompt: z.string(),
  title: z.string().nullable(),
  situation: storedJson<Situation | null>(),
  recheck: storedJson<StoredRecheck | null>(),
  outdated: z.boolean(),
  last_decision: z.string().nullable(),
  fits: z.boolean(),
  expired: z.boolean(),
  decided_by_name: z.string().nullable(),
  starters: z.array(z.string()),
  member_role: z.enum(roles).nullable(),
});

/**
 * A gate, with everything that the rules about it need. `fits`: the decision is of its kind, and its digest is that of
 * the gate. `outdated`: another gate of the run was decided since, so it shows something else now; `last_decision`: when
 * one was decided last. `situation` is read for a decision that needs it. `expired`: its deadline has decided it, or is about to.
 */
export type GateToDecide = z.infer<typeof gateToDecide>;

/**
 * The gate that a decision is about: among the gates it names, the matching one that has been open longest. If none
 * matches, the gate that the refusal is about: the one with the digest, else an open one, else the last one decided.
 * Undefined when the run has no such gate.
 */
export async function findGateToDecide(
  db: Db,
  {
    actor,
    runId,
    nodeId,
    stepKey,
    digest = null,
    input,
  }: Pick<Decision, 'actor' | 'runId' | 'nodeId' | 'stepKey' | 'input'> & {
    digest?: string | null;
  },
): Promise<GateToDecide | undefined> {
  const gate = await db.maybeOne(statement(gateToDecide)`
    SELECT g.step_key, g.round, g.opened_at::text AS since, g.node_id, g.kind, g.turn IS NOT NULL AS of_agent, g.label, g.status, g.fails_on_reject, g.settings, g.input, g.tool,
           g.digest, g.prompt, g.title, CASE WHEN fit.outdated OR ${input !== undefined}::boolean THEN g.situation END AS situation, g.recheck, g.decided_by_name, coalesce(g.decisions, '[]') AS votes, fit.fits,
           fit.outdated, (SELECT max(o.decided_at)::text FROM gates o WHERE o.run_id = g.run_id) AS last_decision,
           g.timed_out IS NOT NULL OR g.status = 'open' AND coalesce(g.expires_at <= clock_timestamp(), false) AS expired,
           ${startersOf} AS starters,
           (SELECT role FROM members WHERE id = ${actor.id} AND workspace_id = r.workspace_id AND status = 'active') AS member_role
    FROM runs r JOIN gates g ON g.run_id = r.id
    CROSS JOIN LATERAL (SELECT ${isOutdated} AS outdated) AS late
    CROSS JOIN LATERAL (SELECT late.outdated, CASE WHEN ${digest}::text IS NULL THEN g.kind = 'human_gate'
                                    -- What an input sets in motion has a digest of its own, which is compared later.
                                    ELSE coalesce(g.digest = ${digest}, false)
                                         OR g.kind = 'human_gate' AND (late.outdated OR ${input !== undefined}::boolean)
                               END AS fits) AS fit
    WHERE r.id = ${runId} AND r.workspace_id = ${actor.workspaceId} AND ${isChosen({ nodeId, stepKey })}
    ORDER BY g.status = 'open' AND fit.fits DESC, coalesce(g.digest = ${digest}, false) DESC, g.status = 'open' DESC,
             CASE WHEN g.status = 'open' THEN g.opened_at END, coalesce(g.decided_at, g.opened_at) DESC, g.step_key,
             g.round DESC
    LIMIT 1
  `);
  return gate ?? undefined;
}

/** Why the gate's rules do not allow the actor to decide it; undefined when they do. */
export async function refusalFor(
  db: Db,
  gate: GateToDecide,
  { id, workspaceId, signedIn }: Actor,
): Promise<string | undefined> {
  const { settings, label, starters, member_role: role, votes } = gate;
  if (settings === null) return undefined;
  if (settings.signed_in === true && signedIn?.by !== 'session') {
    return `Gate '${label}' can only be decided by a member who has signed in: use a session`;
  }
  const member = id === null || role === null ? null : { id, role };
  const asked = { member, starters, adminsStandIn: false };
  const refusal = refusedDecision(settings, label, asked);
  if (refusal === undefined || settings.approvers === undefined) return refusal;
  const progress = { starters, decisions: votes };
  const { adminsStandIn } = decidersOf(settings, await readStandings(db, workspaceId), progress);
  return refusedDecision(settings, label, { ...asked, adminsStandIn });
}
