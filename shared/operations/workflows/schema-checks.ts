import type { Graph, GraphIssue, GraphNode } from '#shared/contract/workflows/graph.ts';
import type { JsonObject } from '#shared/json.ts';
import { schemaProblems } from '#shared/platform/threads/untrusted.ts';

/** A schema in a node, and its location. */
interface NodeSchema {
  code: string;
  path: string;
  schema: JsonObject;
  /** Whether it describes a form that people fill in. */
  isForm: boolean;
}

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
    schemasOf(node).map((each) => ({ ...each, id: node.id, at })),
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

function schemasOf(node: GraphNode): NodeSchema[] {
  if (node.kind === 'human_gate' && node.input_schema !== undefined) {
    const schema = node.input_schema;
    return [{ code: 'gate_schema_invalid', path: 'input_schema', schema, isForm: true }];
  }
  if (node.kind !== 'agent') return [];
  const { response_schema: response, tools = [] } = node;
  const parameters = tools.flatMap((tool, at): NodeSchema[] => {
    if (typeof tool === 'string' || tool.parameters === undefined) return [];
    const path = `tools[${at}].parameters`;
    return [{ code: 'tool_schema_invalid', path, schema: tool.parameters, isForm: false }];
  });
  if (response === undefined) return parameters;
  const own = { code: 'response_schema_invalid', path: 'response_schema', schema: response };
  return [{ ...own, isForm: false }, ...parameters];
}
