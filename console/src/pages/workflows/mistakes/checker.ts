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

// Loaded when it is needed: the rules of graphs come with the schemas and the pattern engine they stand on.

/** Everything that is wrong or doubtful, by the rules that the service has. `customTools` without `custom:`. */
export function checkDraft(graph: Graph, customTools: readonly string[]): Mistake[] {
  const context = { tools: builtinTools, customTools: new Set(customTools) };
  return mistakesOf(checkGraph(graph, context));
}

/** The tools that a node may name. */
export const toolNames = (customTools: readonly string[]): string[] => [
  ...builtinTools,
  ...customTools.map((name) => `custom:${name}`),
];

/**
 * The keys that prompts, parameters and expressions read and no node sets: what has to come with the input. In the
 * order in which they are first read.
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
    // The check says what is wrong with it.
    return [];
  }
}
