import '#console/src/parts/zod-without-eval.ts';
import type { CustomToolDefinition } from '#shared/agents/offered-tools.ts';
import { graphNodeSchema, type GraphNode } from '#shared/contract/workflows/graph.ts';
import { checkGraph } from '#shared/graph/graph-check.ts';
import { outputKey } from '#shared/graph/compile.ts';
import { nodeTexts, type NodeText, textReads } from '#shared/graph/node-texts.ts';
import { awaitsCallback } from '#shared/graph/waits/callbacks.ts';
import { CALLBACKS } from '#shared/values/callbacks.ts';
import { builtinTools, calledAs } from '#shared/tools.ts';
import type { JsonObject as JsonSchema } from '#shared/json.ts';
import { inputKeysOf } from '#shared/graph/input-keys.ts';
import type { CustomTool, Graph, JsonObject, Secret } from '#client/index.ts';
import { type Mistake, mistakesOf } from './mistakes.ts';

// Loaded on demand: the graph rules depend on the schemas and the pattern engine.

type RegisteredTool = Pick<CustomTool, 'name' | Exclude<keyof CustomToolDefinition, 'target'>>;

/**
 * All errors and warnings, by the rules of the service. Tools and secrets are those of the workspace; the schema is the
 * input schema.
 */
export function checkDraft(
  graph: Graph,
  customTools: readonly RegisteredTool[],
  secrets: readonly Pick<Secret, 'name' | 'allowed_hosts'>[],
  inputSchema: JsonObject | null = null,
): Mistake[] {
  const byName = new Map(customTools.map((tool) => [tool.name, tool as CustomToolDefinition]));
  const hosts = new Map(secrets.map(({ name, allowed_hosts }) => [name, allowed_hosts]));
  const input = inputKeysOf(inputSchema as JsonSchema | null);
  const context = { tools: builtinTools, customTools: byName, secrets: hosts, ...input };
  return mistakesOf(checkGraph(graph, context));
}

/** The tools that a node can name. */
export const toolNames = (customTools: readonly { name: string }[]): string[] => [
  ...builtinTools,
  ...customTools.map(({ name }) => calledAs(name)),
];

/**
 * The keys that prompts, parameters and expressions read and that no node sets, so the input must provide them. In the
 * order of their first use.
 */
export function inputKeys(graph: Graph): string[] {
  const nodes = graph.nodes.flatMap((node): GraphNode[] => {
    const parsed = graphNodeSchema.safeParse(node);
    return parsed.success ? [parsed.data] : [];
  });
  const set = new Set(nodes.map(outputKey));
  if (nodes.some(awaitsCallback)) set.add(CALLBACKS);
  const read = nodes.flatMap((node) => nodeTexts(node).flatMap(rootsOf));
  return [...new Set(read)].filter((key) => !set.has(key));
}

function rootsOf(text: NodeText): string[] {
  try {
    return textReads(text).map(({ key }) => key);
  } catch {
    // The graph check reports the error.
    return [];
  }
}
