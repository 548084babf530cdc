import { z } from 'zod';
import type { Actor } from '#shared/people/actor.ts';
import type { GateVote } from '#shared/contract/gates/gate.ts';
import { AppError, conflict } from '#shared/errors.ts';
import { decidersOf, type GateSettings } from '#shared/graph/gates/gate-settings.ts';
import type { GateChoice } from '#shared/graph/gates/gate-decision.ts';
import { recordAudit } from '#shared/db/audit/audit.ts';
import { queueAssignment } from '#shared/db/runs/outbox.ts';
import { readStandings } from '#shared/db/people/standings.ts';
import { type Db, type Pool, statement, type Tx } from '#shared/db/pool.ts';
import { lockRun, refusalOfState } from './decisions.ts';
import { findGateToDecide } from './gate-to-decide.ts';
import { isDecidable, isChosen, startersOf } from './gate-records.ts';

export interface Assignment extends GateChoice {
  actor: Actor;
  runId: string;
  /** Null: the gate no longer has an assignee. */
  memberId: string | null;
  /** Whether the member gets an email. Members who assign a gate to themselves get none. */
  mails: boolean;
}

const openGate = z.object({
  step_key: z.string(),
  round: z.number(),
  node_id: z.string(),
  label: z.string(),
  prompt: z.string(),
  assignee_id: z.string().nullable(),
  settings: z.unknown().transform((value) => (value ?? {}) as GateSettings),
  decisions: z.unknown().transform((value) => (value ?? []) as GateVote[]),
  starters: z.array(z.string()),
});
type OpenGate = z.infer<typeof openGate>;

/**
 * Assigns an open gate to a member: the given gate, or else the one that has been open longest. Does nothing if it is
 * already assigned to them. Throws AppError `not_found` for the run, `invalid` when the workspace has no such member,
 * and `conflict` when the gate is not open or the member cannot decide it.
 */
export async function assignGate(db: Pool, assignment: Assignment): Promise<void> {
  const { actor, runId, memberId } = assignment;
  await db.transaction(async (tx) => {
    const run = await lockRun(tx, assignment);
    const gate = await findOpenGate(tx, assignment);
    if (gate === null) {
      throw refusalOfState(run, await findGateToDecide(tx, assignment), assignment);
    }
    if (memberId !== null) await requireDecider(tx, actor.workspaceId, gate, memberId);
    if (gate.assignee_id === memberId) return;
    await tx.query(statement(z.object({}))`
      UPDATE gates SET assignee_id = ${memberId}
      WHERE run_id = ${runId} AND step_key = ${gate.step_key} AND round = ${gate.round}
    `);
    if (memberId !== null && memberId !== actor.id && assignment.mails) {
      const { node_id: nodeId, step_key: stepKey, prompt: text } = gate;
      await queueAssignment(tx, { runId, nodeId, stepKey, text, memberId, by: actor.name });
    }
    await recordAudit(tx, actor, {
      action: 'assign',
      targetType: 'run',
      targetId: runId,
      details: {
        node_id: gate.node_id,
        step_key: gate.step_key,
        member_id: memberId,
        before: gate.assignee_id,
      },
    });
  });
}

/** The member's address while the gate is open and assigned to them; otherwise null. */
export const readAssigneeEmail = (
  db: Db,
  gate: { runId: string; stepKey: string; memberId: string },
): Promise<string | null> =>
  db.maybeOneFirst(statement(z.object({ email: z.string() }))`
    SELECT m.email FROM gates g JOIN runs r ON r.id = g.run_id
    JOIN members m ON m.id = g.assignee_id AND m.workspace_id = r.workspace_id
    WHERE g.run_id = ${gate.runId} AND g.step_key = ${gate.stepKey} AND g.assignee_id = ${gate.memberId}
      AND m.status = 'active' AND ${isDecidable}
  `);

const findOpenGate = (tx: Tx, assignment: Assignment): Promise<OpenGate | null> =>
  tx.maybeOne(statement(openGate)`
    SELECT g.step_key, g.round, g.node_id, g.label, g.prompt, g.assignee_id, g.settings, g.decisions, ${startersOf} AS starters
    FROM runs r JOIN gates g ON g.run_id = r.id
    WHERE r.id = ${assignment.runId} AND ${isDecidable} AND ${isChosen(assignment)}
    ORDER BY g.opened_at, g.step_key LIMIT 1
  `);

async function requireDecider(
  tx: Tx,
  workspaceId: string,
  gate: OpenGate,
  memberId: string,
): Promise<void> {
  const members = await readStandings(tx, workspaceId);
  const member = members.find(({ id }) => id === memberId);
  if (member === undefined) {
    throw new AppError('invalid', `Invalid body: member_id: no member has the id '${memberId}'`);
  }
  if (decidersOf(gate.settings, members, gate).members.includes(member)) return;
  throw conflict(
    `${member.name} cannot decide gate '${gate.label}': assign one of its eligible_members`,
  );
}
