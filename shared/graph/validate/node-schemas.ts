import type { GraphNode } from '#shared/contract/workflows/graph.ts';
import type { JsonObject } from '#shared/json.ts';

/** A schema in a node, and its location. */
export interface NodeSchema {
  code: string;
  path: string;
  schema: JsonObject;
  /** Whether it describes a form that people fill in. */
  isForm: boolean;
}

/** The form of a gate, the response schema of an agent, and the parameters of its tools. */
export function nodeSchemas(node: GraphNode): NodeSchema[] {
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
