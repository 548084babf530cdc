import type { StoredLimits, WorkflowLimits } from '#shared/contract/limits/limits.ts';
import type { GraphIssue } from '#shared/contract/workflows/graph.ts';
import type { ListedWorkflow, WorkflowListQuery } from '#shared/contract/workflows/workflow.ts';
import { withEtag } from '#shared/crypto/etags.ts';
import { readCalledGraphs } from '#shared/db/children/called-workflows.ts';
import {
  lastFailedMatch,
  listLimits,
  readLimits,
  replaceLimits,
} from '#shared/db/limits/limits.ts';
import type { Db, Pool } from '#shared/db/pool.ts';
import { readCurrentGraph } from '#shared/db/workflows/current-graph.ts';
import {
  listWorkflows as readWorkflows,
  type WorkflowScope,
} from '#shared/db/workflows/workflows.ts';
import { AppError, notFound } from '#shared/errors.ts';
import { ExpressionError, expressionRoots } from '#shared/graph/expression/expression.ts';
import { templateReads } from '#shared/graph/expression/template.ts';
import { isObject } from '#shared/graph/json-value.ts';
import { calledIn } from '#shared/graph/children/called-workflows.ts';
import { EVENT } from '#shared/graph/waits/wait-call.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import type { Actor } from '#shared/people/actor.ts';

/** The limits with what they could cause. Throws AppError `not_found`. */
export async function shownLimits(db: Db, scope: WorkflowScope): Promise<WorkflowLimits> {
  const limits = await readLimits(db, scope);
  const current = limits.concurrency === null ? undefined : await readCurrentGraph(db, scope);
  const warnings = current === undefined ? [] : await callsItself(db, scope, limits, current.graph);
  const last_failed_match = limits.cancel_on.length === 0 ? null : await lastFailedMatch(db, scope);
  return withEtag({ ...limits, warnings, last_failed_match }, ['warnings', 'last_failed_match']);
}

/** The workspace's workflows, newest first, with their limits if the query includes them. */
export async function listWorkflows(
  db: Db,
  workspaceId: string,
  { include, ...page }: WorkflowListQuery,
): Promise<ListedWorkflow[]> {
  const listed = await readWorkflows(db, workspaceId, page);
  if (include === undefined) return listed;
  const workflowIds = listed.map(({ id }) => id);
  const limits = await listLimits(db, { workspaceId, workflowIds });
  return listed.map((each) => ({ ...each, limits: withEtag({ ...limits.get(each.id)! }) }));
}

/** Throws AppError `not_found`, `invalid` and `forbidden`. */
export async function setLimits(
  db: Pool,
  actor: Actor,
  workflowId: string,
  limits: StoredLimits,
): Promise<void> {
  const current = await readCurrentGraph(db, { workspaceId: actor.workspaceId, workflowId });
  if (current === undefined) throw notFound('Workflow');
  checkLimits(limits, current.inputSchema);
  await replaceLimits(db, actor, workflowId, limits);
}

/** Throws AppError `invalid` for limits that no input with this schema can have. */
export function checkLimits(limits: StoredLimits, inputSchema: JsonObject | null): void {
  checkKey('concurrency', limits.concurrency?.key, inputSchema);
  checkKey('debounce', limits.debounce?.key, inputSchema);
  checkKey('rate', limits.rate?.key, inputSchema);
  if (limits.priority !== null) checkExpression('priority', limits.priority);
  for (const [at, { match }] of limits.cancel_on.entries()) {
    if (match !== null) checkMatch(`cancel_on.${at}.match`, match, inputSchema);
  }
}

/** Throws AppError `invalid` for a key that no input of the current version can fill in. */
function checkKey(limit: string, key: string | null | undefined, schema: JsonObject | null): void {
  if (key == null) return;
  const read = templateReads(key).map((each) => each.key);
  requireKnown(`${limit}.key`, read, schema, (unknown) => `{${unknown}}`);
}

/** Throws AppError `invalid` for a match that does not parse, or that reads what no input of the current version has. */
function checkMatch(field: string, match: string, schema: JsonObject | null): void {
  const read = checkExpression(field, match).filter((root) => root !== EVENT);
  requireKnown(field, read, schema, (unknown) => unknown);
}

function requireKnown(
  field: string,
  keys: readonly string[],
  schema: JsonObject | null,
  shown: (key: string) => string,
): void {
  if (schema?.['additionalProperties'] !== false) return;
  const { properties = {} } = schema;
  const known = isObject(properties) ? Object.keys(properties) : [];
  const unknown = keys.find((key) => !known.includes(key));
  if (unknown === undefined) return;
  throw new AppError(
    'invalid',
    `Invalid body: ${field} reads '${shown(unknown)}', but the input of the workflow has only ${known.join(', ')}`,
  );
}

/** The keys that it reads. Throws AppError `invalid` if it does not parse. */
function checkExpression(field: string, expression: string): string[] {
  try {
    return expressionRoots(expression);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    throw new AppError('invalid', `Invalid body: ${field} ${error.message}`);
  }
}

/** A run that starts another one of its workflow holds the slot that the other one needs. */
async function callsItself(
  db: Db,
  { workspaceId, workflowId }: WorkflowScope,
  { concurrency }: StoredLimits,
  graph: Json,
): Promise<string[]> {
  if (concurrency?.limit !== 1) return [];
  const called = await readCalledGraphs(db, workspaceId, calledIn(graph));
  if (Object.values(called).every(({ id }) => id !== workflowId)) return [];
  const same = concurrency.key === null ? '' : ' with the same key';
  return [
    `The workflow starts runs of itself, and a run that holds the only slot cannot start another one${same}: that step fails`,
  ];
}

/** The warnings of a validation. */
export async function limitIssues(
  db: Db,
  scope: WorkflowScope,
  limits: StoredLimits | undefined,
  graph: Json,
): Promise<GraphIssue[]> {
  if (limits === undefined) return [];
  const warnings = await callsItself(db, scope, limits, graph);
  return warnings.map((message) => ({ code: 'limit_calls_itself', message }));
}
