import type { CodeNode, GraphNode } from '#shared/contract/workflows/graph.ts';
import { memberOf } from '#shared/graph/json-value.ts';
import type { Issues } from '#shared/graph/issues.ts';
import type { Json } from '#shared/json.ts';

/** Why a source cannot be code, and where: the offset in UTF-16 units, and the line and column from 1. */
export interface SourceProblem {
  message: string;
  position?: number;
  line?: number;
  column?: number;
}

/** Parses a source. The service has it; the browser does not. */
export type ParseSource = (
  source: string,
  language: CodeNode['language'],
) => SourceProblem | undefined;

/** Whether there are sources to parse, which can take long. */
export function hasCode(graph: unknown): boolean {
  const nodes = memberOf((graph ?? null) as Json, 'nodes');
  return Array.isArray(nodes) && nodes.some((node) => memberOf(node, 'kind') === 'code');
}

export function checkCode(
  issues: Issues,
  node: GraphNode,
  at: number,
  parse: ParseSource | undefined,
): void {
  if (node.kind !== 'code') return;
  const problem = parse?.(node.source, node.language);
  if (problem === undefined) return;
  const path = `nodes[${at}].source`;
  const { message, position, line, column } = problem;
  const place = line === undefined ? '' : ` (line ${line}, column ${column})`;
  issues.error('code_invalid', `${path}: ${message}${place}`, {
    node_id: node.id,
    path,
    ...(position === undefined ? {} : { position }),
  });
}
