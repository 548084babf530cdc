import '../../../parts/zod-without-eval.ts';
import { graphNodeSchema, type GraphNode } from '../../../../../shared/contract/graph.ts';
import { checkGraph } from '../../../../../shared/graph-check.ts';
import { outputKey } from '../../../../../shared/graph/compile.ts';
import { expressionRoots } from '../../../../../shared/graph/expression/expression.ts';
import { nodeTexts, type NodeText } from '../../../../../shared/graph/node-texts.ts';
import { templateRoots } from '../../../../../shared/graph/expression/template.ts';
import { builtinTools } from '../../../../../shared/tools.ts';
import type { Graph } from '../../../../../client/index.ts';
import { type Mistake, mistakesOf } from './mistakes.ts';

// Loaded on demand: the graph rules depend on the schemas and the pattern engine.

/** All errors and warnings, by the rules of the service. `customTools` are names without `custom:`. */
export function checkDraft(graph: Graph, customTools: readonly string[]): Mistake[] {
  const context = { tools: builtinTools, customTools: new Set(customTools) };
  return mistakesOf(checkGraph(graph, context));
}

/** The tools that a node can name. */
export const toolNames = (customTools: readonly string[]): string[] => [
  ...builtinTools,
  ...customTools.map((name) => `custom:${name}`),
];

/**
 * The keys that prompts, parameters and expressions read and no node sets: the input must provide them. In the order of
 * their first use.
 */
export function inputKeys(graph: Graph): string[] {
  const nodes = graph.nodes.flatMap((node): GraphNode[] => {
    const parsed = graphNodeSchema.safeParse(node);
    return parsed.success ? [parsed.data] : [];
  });
  const set = new Set(nodes.map(outputKey));
  const read = nodes.flatMap((node) => nodeTexts(node).flatMap(rootsOf));
  return [...new Set(read)].filter((key) => !set.has(key));
}

function rootsOf({ language, text }: NodeText): string[] {
  if (language === 'template') return templateRoots(text);
  try {
    return expressionRoots(text);
  } catch {
    // The graph check reports the error.
    return [];
  }
}
