import type { GraphIssue, GraphReport } from '#shared/contract/workflows/graph.ts';

/** More issues of one kind are not useful, and a graph over its limits could have hundreds of thousands. */
const MAX_ISSUES = 1000;

export interface Issues {
  error(code: string, message: string, at?: IssuePlace): void;
  warning(code: string, message: string, at?: IssuePlace): void;
  report(): GraphReport;
}

type IssuePlace = Pick<GraphIssue, 'node_id' | 'path' | 'position'>;

/** Collects the problems of a graph: at most 1,000 errors and 1,000 warnings. */
export function collectIssues(): Issues {
  const errors: GraphIssue[] = [];
  const warnings: GraphIssue[] = [];
  const add = (issues: GraphIssue[], code: string, message: string, at: IssuePlace = {}): void => {
    if (issues.length < MAX_ISSUES) issues.push({ code, message, ...at });
  };
  return {
    error: (code, message, at) => add(errors, code, message, at),
    warning: (code, message, at) => add(warnings, code, message, at),
    report: () => ({ valid: errors.length === 0, errors, warnings }),
  };
}

/**
 * Splits the path of an issue, `nodes[3].params.url`, into `['nodes', 3, 'params', 'url']`. A path with a dotted key leads to
 * the part before that key.
 */
export const issuePath = (path: string): (string | number)[] =>
  [...path.matchAll(/\[(\d+)\]|[^.[\]]+/g)].map(([part, index]) =>
    index === undefined ? part : Number(index),
  );
