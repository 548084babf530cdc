import { builtinDefinitions } from '#shared/agents/builtin-tools.ts';
import { customToolName } from '#shared/tools.ts';
import type { CustomTool, JsonObject } from '#client/index.ts';
import { toolSchemas as text } from '#console/src/messages/en/workflows/authoring.ts';

/** The parameters of built-in tools that agents cannot offer, so that there is no definition for models. */
const forNodesOnly: Readonly<Record<string, JsonObject>> = {
  delay: {
    properties: { seconds: { type: 'number', description: text.delay.seconds } },
    required: ['seconds'],
  },
  mcp: {
    properties: {
      server_url: { type: 'string', description: text.mcp.serverUrl },
      tool: { type: 'string', description: text.mcp.tool },
      arguments: { type: 'object', description: text.mcp.arguments },
      headers: {
        type: 'object',
        description: text.mcp.headers,
        additionalProperties: { type: 'string' },
      },
    },
    required: ['server_url', 'tool'],
  },
};

/** The schema of the parameters of a built-in or custom tool; undefined for other names, and for tools without one. */
export function schemaOfTool(
  tool: string,
  custom: readonly Pick<CustomTool, 'name' | 'input_schema'>[],
): JsonObject | undefined {
  const name = customToolName(tool);
  if (name !== undefined) {
    return custom.find((each) => each.name === name)?.input_schema ?? undefined;
  }
  if (Object.hasOwn(forNodesOnly, tool)) return forNodesOnly[tool];
  return Object.hasOwn(builtinDefinitions, tool)
    ? builtinDefinitions[tool as keyof typeof builtinDefinitions].schema
    : undefined;
}
