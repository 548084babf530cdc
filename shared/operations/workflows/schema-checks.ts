import type { Graph, GraphIssue } from '#shared/contract/workflows/graph.ts';
import { nodeSchemas } from '#shared/graph/validate/node-schemas.ts';
import { schemaProblems } from '#shared/platform/threads/untrusted.ts';

/**
 * The schemas of a graph that cannot be used for validation: the forms of gates, by the rules of workflows' input
 * schemas, the response schemas of agents, and the parameters of their tools. Separate from the other checks of a
 * graph, because even a schema of a few lines can take long to compile. Throws WorkBusyError.
 */
export async function schemaIssues(
  workspaceId: string,
  graph: Graph | undefined,
): Promise<GraphIssue[]> {
  const found = (graph?.nodes ?? []).flatMap((node, at) =>
    nodeSchemas(node).map((each) => ({ ...each, id: node.id, at })),
  );
  if (found.length === 0) return [];
  const problems = await schemaProblems(
    workspaceId,
    found.map(({ schema, isForm }) => ({ schema, isForm })),
  );
  return problems.map(({ at, problem }) => {
    const { code, id, at: place, path } = found[at]!;
    const message = `Node '${id}': ${path} ${problem}`;
    return { code, node_id: id, path: `nodes[${place}].${path}`, message };
  });
}
