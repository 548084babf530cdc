import type { GraphIssue, GraphReport } from '#shared/contract/workflows/graph.ts';
import { mistakeCounts as text } from '#console/src/messages/en/workflows/mistakes.ts';

/** An error, which keeps a graph from running, or a warning. */
export interface Mistake {
  severity: 'error' | 'warning';
  message: string;
  nodeId: string | undefined;
  /** Index of the edge in the graph, if the mistake is about one. */
  edge: number | undefined;
  /** Path in the graph, like `nodes[3].params.url`. */
  path: string | undefined;
  /** Offset in the text at the path. */
  position: number | undefined;
}

/** Errors before warnings, each in the order of the report. */
export const mistakesOf = ({ errors, warnings }: GraphReport): Mistake[] => [
  ...errors.map((issue) => mistakeOf(issue, 'error')),
  ...warnings.map((issue) => mistakeOf(issue, 'warning')),
];

function mistakeOf(issue: GraphIssue, severity: Mistake['severity']): Mistake {
  const edge = /^edges\[(\d+)\]/.exec(issue.path ?? '')?.[1];
  return {
    severity,
    message: issue.message,
    nodeId: issue.node_id,
    edge: edge === undefined ? undefined : Number(edge),
    path: issue.path,
    position: issue.position,
  };
}

export interface MistakeCount {
  errors: number;
  warnings: number;
}

/** Number of errors and warnings, per node. */
export function countByNode(mistakes: readonly Mistake[]): Map<string, MistakeCount> {
  const counts = new Map<string, MistakeCount>();
  for (const { nodeId, severity } of mistakes) {
    if (nodeId === undefined) continue;
    const count = counts.get(nodeId) ?? { errors: 0, warnings: 0 };
    count[severity === 'error' ? 'errors' : 'warnings'] += 1;
    counts.set(nodeId, count);
  }
  return counts;
}

/** `2 errors, 1 warning`, or undefined if there are none. */
export function countWords({ errors, warnings }: MistakeCount): string | undefined {
  const words = [
    ...(errors === 0 ? [] : [text.errors(errors)]),
    ...(warnings === 0 ? [] : [text.warnings(warnings)]),
  ];
  return words.length === 0 ? undefined : words.join(', ');
}

/** Whether nothing known keeps the graph from running. */
export const isRunnable = (mistakes: readonly Mistake[] | undefined): boolean =>
  mistakes?.some(({ severity }) => severity === 'error') !== true;
