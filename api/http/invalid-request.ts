import type { FastifySchemaValidationError } from 'fastify/types/schema.js';
import { wording } from '#shared/values/issue-wording.ts';

/** The maximum number of problems that a response lists in full. */
const MAX_PROBLEMS = 5;

const partNames: Record<string, string> = {
  body: 'body',
  querystring: 'query',
  params: 'path',
  headers: 'header',
};

/** As zod reports them. */
interface Issue {
  code?: string | undefined;
  path: readonly PropertyKey[];
  message: string;
  keys?: readonly string[];
  errors?: readonly (readonly Issue[])[];
}

/** The problems of a request, each with its field. */
export function describeInvalid(
  part: string | undefined,
  problems: readonly FastifySchemaValidationError[],
): string {
  const issues = problems.map(toIssue);
  // The framework passes null if there is no body. A body of null was already rejected.
  if (part === 'body' && issues.some(isNothing)) return 'Invalid body: a JSON object is required';
  return describeIssues(partNames[part ?? ''] ?? 'request', issues);
}

const isNothing = ({ path, message }: Issue): boolean =>
  path.length === 0 && /, received (null|undefined)$/.test(message);

/** `Invalid <part>: ...`, with each problem and its field. */
export function describeIssues(part: string, issues: readonly Issue[]): string {
  const problems = issues.flatMap((issue) => flatten(issue, []));
  const shown = problems.slice(0, MAX_PROBLEMS).join('; ');
  const more = problems.length > MAX_PROBLEMS ? `; and ${problems.length - MAX_PROBLEMS} more` : '';
  return `Invalid ${part}: ${shown}${more}`;
}

function toIssue(problem: FastifySchemaValidationError): Issue {
  return {
    code: problem.keyword,
    path: problem.instancePath.split('/').filter((key) => key !== ''),
    message: problem.message ?? 'is invalid',
    ...problem.params,
  };
}

/** The issue's problems as text. For a union, those of the branch that matches best. */
function flatten(issue: Issue, above: readonly PropertyKey[]): string[] {
  const path = [...above, ...issue.path];
  if (issue.code === 'unrecognized_keys') {
    return (issue.keys ?? []).map((key) => `unknown field '${[...path, key].join('.')}'`);
  }
  const branches = (issue.errors ?? []).filter((branch) => branch.length > 0);
  if (issue.code === 'invalid_union' && branches.length > 0) {
    const closest = branches.reduce((best, branch) => (rank(branch) < rank(best) ? branch : best));
    return closest.flatMap((inner) => flatten(inner, path));
  }
  const field = path.join('.');
  const message = wording(issue.message);
  return [field === '' ? message : `${field} ${message}`];
}

// A branch that failed at a deeper level matched the value better than one with another type.
const rank = (branch: readonly Issue[]): number =>
  branch.length - (branch[0]?.path.length ?? 0) * 10;
