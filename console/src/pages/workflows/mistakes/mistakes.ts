import type { GraphIssue, GraphReport } from '#shared/contract/workflows/graph.ts';
import { isAboutMembers } from '#shared/graph/gates/member-codes.ts';
import { mistakeCounts as text } from '#console/src/messages/en/workflows/mistakes.ts';

/** An error, which keeps a graph from running, or a warning. */
export interface Mistake {
  code: string;
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
    code: issue.code,
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

/**
 * The errors that keep the graph from running. What is wrong with the members who decide only keeps it from being published:
 * members change while it runs.
 */
export const runErrors = (mistakes: readonly Mistake[] | undefined): Mistake[] =>
  (mistakes ?? []).filter(({ severity, code }) => severity === 'error' && !isAboutMembers(code));

/** Whether nothing known keeps the graph from running. */
export const isRunnable = (mistakes: readonly Mistake[] | undefined): boolean =>
  runErrors(mistakes).length === 0;

/** The mistakes that are not among the others. */
export function beyond(mistakes: readonly Mistake[], others: readonly Mistake[]): Mistake[] {
  const known = new Set(others.map(identityOf));
  return mistakes.filter((mistake) => !known.has(identityOf(mistake)));
}

const identityOf = ({ code, severity, path, message }: Mistake): string =>
  JSON.stringify([code, severity, path, message]);
