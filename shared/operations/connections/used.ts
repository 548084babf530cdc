import type { Actor } from '#shared/people/actor.ts';
import type { Connection } from '#shared/contract/connections/connection.ts';
import type { DryRunConnection } from '#shared/contract/workflows/dry-run.ts';
import type { GraphIssue, GraphNode } from '#shared/contract/workflows/graph.ts';
import { listConnections } from '#shared/db/connections/connections.ts';
import type { Decision } from '#shared/db/gates/decision.ts';
import { findOpenCall } from '#shared/db/gates/tool-calls.ts';
import type { Db } from '#shared/db/pool.ts';
import { findCustomTool } from '#shared/db/tools/custom-tools.ts';
import type { Sealer } from '#shared/crypto/sealing.ts';
import { conflict } from '#shared/errors.ts';
import { namesIn } from '#shared/graph/dry-run/outside.ts';
import type { UsedConnection } from '#shared/graph/dry-run/request.ts';
import { usesApprover } from '#shared/graph/node-approval.ts';
import { referencesOfTool } from '#shared/platform/calls/custom-tool.ts';
import { customToolName } from '#shared/tools.ts';
import { connectionPage } from '#shared/values/connection-callback.ts';
import { CONNECTIONS, namesOf } from '#shared/values/secrets.ts';

/** The connections that graphs use, whose accounts these are, and whether someone is signed in. */

type Known = ReadonlyMap<string, Connection>;

/** The connections of a workspace by name, with the status for a member. */
async function readKnown(
  db: Db,
  { workspaceId, memberId }: { workspaceId: string; memberId: string | null },
): Promise<Known> {
  const rows = await listConnections(db, { workspaceId, memberId, publicUrl: '' });
  return new Map(rows.map((row) => [row.name, row]));
}

/** The connections that a run of the caller would use, with a warning for each without a token. */
export async function usedConnections(
  db: Db,
  { workspaceId, id: memberId }: Pick<Actor, 'workspaceId' | 'id'>,
  used: readonly UsedConnection[],
): Promise<{ connections: DryRunConnection[]; warnings: GraphIssue[] }> {
  if (used.length === 0) return { connections: [], warnings: [] };
  const known = await readKnown(db, { workspaceId, memberId });
  const found = new Map<string, DryRunConnection>();
  for (const { node_id, workflow, name, asApprover } of used) {
    const connection = known.get(name);
    if (connection === undefined) continue;
    const { id, owner, status } = connection;
    const ofMember = asApprover ? 'approver' : 'starter';
    const account = owner === 'workspace' ? owner : ofMember;
    found.set(`${node_id} ${workflow?.id ?? ''} ${name} ${account}`, {
      ...{ node_id, workflow: workflow ?? null, id, name, account },
      status: account === 'approver' ? null : status,
    });
  }
  const connections = [...found.values()];
  return { connections, warnings: connections.flatMap(warningOf) };
}

function warningOf({ node_id, id, name, account, status }: DryRunConnection): GraphIssue[] {
  if (status === null || status === 'connected') return [];
  const again = status === 'needs_sign_in' ? ' again' : '';
  const message =
    account === 'workspace'
      ? `Node '${node_id}': no one is signed in to the connection '${name}', so the step would fail: sign in${again} at ${connectionPage(id)}`
      : `Node '${node_id}': you are not signed in to the connection '${name}', so your run would wait: sign in${again} at ${connectionPage(id)}`;
  return [{ code: 'connection_not_signed_in', message, node_id }];
}

/**
 * Warnings about nodes that depend on the connections of its workspace: those of the workspace to which no one is signed in,
 * and nodes that act as their approver, but use no account of a member.
 */
export async function connectionIssues(
  db: Db,
  workspaceId: string,
  nodes: readonly GraphNode[],
): Promise<GraphIssue[]> {
  const used = nodes.map((node) => ({ node, names: namesIn(node, CONNECTIONS) }));
  if (!used.some(({ node, names }) => names.length > 0 || usesApprover(node))) return [];
  const known = await readKnown(db, { workspaceId, memberId: null });
  return used.flatMap(({ node, names }, at) => {
    const owners = names.flatMap((name) => known.get(name) ?? []);
    const unsigned = owners
      .filter(({ owner }) => owner === 'workspace')
      .flatMap(({ id, name, status }) =>
        warningOf({ node_id: node.id, workflow: null, id, name, account: 'workspace', status }),
      );
    const isOfMember = owners.some(({ owner }) => owner === 'member');
    const isUnused = usesApprover(node) && !isOfMember && !callsCustomTool(node);
    return [...unsigned, ...(isUnused ? [unusedAccount(node, at)] : [])];
  });
}

/** The headers of a custom tool can have connections, too. */
const callsCustomTool = (node: GraphNode): boolean =>
  node.kind === 'tool' && customToolName(node.tool_name) !== undefined;

const unusedAccount = ({ id }: GraphNode, at: number): GraphIssue => ({
  code: 'act_as_unused',
  message: `Node '${id}': act_as 'approver' has no effect, because it uses no connection that members own: name one, or remove act_as`,
  node_id: id,
  path: `nodes[${at}].act_as`,
});

/**
 * Requires that a member who lends their account by an approval is signed in, so that the step does not wait for them. Only the
 * last of the required approvals lends it. Throws AppError `conflict`, which says where to sign in.
 */
export async function requireOwnAccounts(
  { db, sealer }: { db: Db; sealer: Sealer | undefined },
  { actor, runId, digest, approved }: Pick<Decision, 'actor' | 'runId' | 'digest' | 'approved'>,
): Promise<void> {
  if (!approved || digest === undefined || actor.signedIn?.by !== 'session') return;
  const { workspaceId, id: memberId } = actor;
  const call = await findOpenCall(db, { workspaceId, runId, digest });
  if (call === undefined || call.node.kind !== 'tool' || !usesApprover(call.node)) return;
  if (call.approved + 1 < call.required) return;
  const toolName = customToolName(call.node.tool_name);
  const tool =
    toolName === undefined ? undefined : await findCustomTool(db, { workspaceId, name: toolName });
  const names = new Set([
    ...namesIn(call.node, CONNECTIONS),
    ...(tool === undefined ? [] : namesOf(referencesOfTool(sealer, tool), CONNECTIONS)),
  ]);
  const known = await readKnown(db, { workspaceId, memberId });
  for (const name of names) {
    const connection = known.get(name);
    if (connection?.owner !== 'member' || connection.status === 'connected') continue;
    throw conflict(
      `Sign in to the connection '${name}' at ${connectionPage(connection.id)} first: the step uses your account if you approve it`,
    );
  }
}
