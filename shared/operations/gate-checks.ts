import type { Graph, GraphIssue } from '../contract/graph.ts';
import type { Db } from '../db/pool.ts';
import { readStandings } from '../db/people/standings.ts';
import { type MemberStanding, needsMember } from '../graph/gate-settings.ts';
import { inputSchemaProblems } from '../platform/threads/untrusted.ts';

/** The members that the check of a graph needs to know; none when no gate has a rule about them. */
export async function membersFor(
  db: Db,
  workspaceId: string,
  graph: unknown,
): Promise<{ members?: readonly MemberStanding[] }> {
  const { nodes } = (graph ?? {}) as { nodes?: unknown };
  const asks =
    Array.isArray(nodes) &&
    nodes.some((node: unknown) => typeof node === 'object' && node !== null && needsMember(node));
  return asks ? { members: await readStandings(db, workspaceId) } : {};
}

/**
 * The input schemas of gates that cannot check an input, or that no input fits, by the rules of workflows' input
 * schemas. Apart from the other checks of a graph, since a schema of a few lines can take long to compile. Throws
 * WorkBusyError.
 */
export async function gateSchemaIssues(
  workspaceId: string,
  graph: Graph | undefined,
): Promise<GraphIssue[]> {
  const forms = (graph?.nodes ?? []).flatMap((node, at) =>
    node.kind === 'human_gate' && node.input_schema !== undefined
      ? [{ id: node.id, at, schema: node.input_schema }]
      : [],
  );
  if (forms.length === 0) return [];
  const problems = await inputSchemaProblems(
    workspaceId,
    forms.map(({ schema }) => schema),
  );
  return problems.map(({ at, problem }) => ({
    code: 'gate_schema_invalid',
    node_id: forms[at]!.id,
    path: `nodes[${forms[at]!.at}].input_schema`,
    message: `Node '${forms[at]!.id}': input_schema ${problem}`,
  }));
}
