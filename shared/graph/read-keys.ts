import type { GraphNode } from '#shared/contract/workflows/graph.ts';
import { mockOutputTexts, nodeTexts, textReads } from './node-texts.ts';

/** The keys of the state that a node's texts read. Throws ExpressionError when one does not parse. */
export const keysReadBy = (node: GraphNode): string[] =>
  [...nodeTexts(node), ...(node.kind === 'agent' ? mockOutputTexts(node) : [])].flatMap((text) =>
    textReads(text).map(({ key }) => key),
  );
