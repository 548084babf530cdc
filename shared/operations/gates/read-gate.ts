import type { Actor } from '#shared/people/actor.ts';
import { holds } from '#shared/people/capabilities.ts';
import type { Gate } from '#shared/contract/gates/gate.ts';
import { type AskedGate, findGate, readEarlierOpenings } from '#shared/db/gates/asked.ts';
import { findGateToDecide, refusalFor } from '#shared/db/gates/gate-to-decide.ts';
import { readStandings } from '#shared/db/people/standings.ts';
import type { Db } from '#shared/db/pool.ts';
import { notFound } from '#shared/errors.ts';
import { decidersOf } from '#shared/graph/gates/gate-settings.ts';
import { canAsk } from '#shared/graph/node-approval.ts';
import { kindsAround } from '#shared/graph/schedule/loops.ts';
import { formSchemaProblem } from '#shared/platform/threads/untrusted.ts';
import { findCalledTool } from '#shared/operations/runs/tool-calls.ts';

/**
 * One gate as the caller sees it, in its last round, with what the same node asked before. Arguments are as the model
 * sent them. Throws AppError `not_found`, WorkBusyError.
 */
export async function readGate(
  db: Db,
  { actor, runId, stepKey }: { actor: Actor; runId: string; stepKey: string },
): Promise<Gate> {
  const { workspaceId } = actor;
  const asked = await findGate(db, { workspaceId, runId, stepKey });
  if (asked === undefined) throw notFound('Gate');
  const {
    decidable,
    openedAt: _openedAt,
    settings,
    progress,
    call: _call,
    graph,
    rechecked,
    ...gate
  } = asked;
  const around = kindsAround(graph, gate.node_id);
  const maps = around.flatMap((kind, at) => (kind === 'map' ? [at + 1] : []));
  const refusal = decidable ? await refusalAt(db, { actor, runId, stepKey }) : null;
  const mayApprove = holds(actor.role, actor.overrides, 'approve_gates');
  const { input_schema: schema } = settings;
  const problem =
    decidable && schema !== undefined ? await formSchemaProblem(workspaceId, schema) : undefined;
  const eligible = decidable
    ? decidersOf(settings, await readStandings(db, workspaceId), progress).members
    : [];
  return {
    ...gate,
    ...rechecked,
    eligible_members: eligible.map(({ id, name }) => ({ id, name })),
    can_decide: decidable && mayApprove && refusal === null,
    refusal,
    schema_problem: problem ?? null,
    tool: decidable ? await toolOf(db, workspaceId, asked) : null,
    earlier: await readEarlierOpenings(db, { workspaceId, runId, gate: asked, maps }),
  };
}

async function refusalAt(
  db: Db,
  place: { actor: Actor; runId: string; stepKey: string },
): Promise<string | null> {
  const gate = await findGateToDecide(db, place);
  return gate === undefined ? null : ((await refusalFor(db, gate, place.actor)) ?? null);
}

async function toolOf(db: Db, workspaceId: string, gate: AskedGate): Promise<Gate['tool']> {
  const node = gate.graph.nodes.find(({ id }) => id === gate.node_id);
  if (gate.call === null || node === undefined) return null;
  if (node.kind !== 'agent' && !canAsk(node)) return null;
  const tool = await findCalledTool(db, workspaceId, { ...gate.call, node });
  return tool === undefined ? null : { schema: tool.schema, fixed: [...tool.fixed] };
}
