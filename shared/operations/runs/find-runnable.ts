import type { Graph } from '#shared/contract/workflows/graph.ts';
import type { Runnable, Wanted } from '#shared/db/runs/run-request.ts';
import type { AdHocGraph } from '#shared/db/runs/run-request.ts';
import { type CurrentGraph, readCurrentGraph } from '#shared/db/workflows/current-graph.ts';
import type { Db } from '#shared/db/pool.ts';
import { AppError } from '#shared/errors.ts';
import { toolNamesOf } from '#shared/graph/node-tools.ts';
import { checkGraphUntrusted } from '#shared/platform/threads/untrusted.ts';
import { containsSecrets } from '#shared/graph/validate/secrets.ts';
import { builtinTools, customToolNames } from '#shared/tools.ts';
import { underLimits } from '#shared/operations/limits/place.ts';
import { schemaIssues } from '#shared/operations/workflows/schema-checks.ts';
import { refusedInput } from '#shared/operations/workflows/workflow-input.ts';
import { BoundedMap } from '#shared/values/bounded-cache.ts';

/** The maximum number of reasons in a refusal. The response of `validate` has all of them. */
const MAX_REASONS = 5;

/** How many current versions of workflows this process caches; the oldest is evicted first. */
const MAX_REMEMBERED = 200;
const remembered = new BoundedMap<string, Runnable>(MAX_REMEMBERED);
const rememberedAdHoc = new WeakMap<AdHocGraph, Runnable>();

/**
 * What to run: the graph as it will run, with defaults, or the reasons why it cannot run. A cached version may be
 * outdated, which `admitRun` detects; `fresh` reads the database. An ad-hoc graph is cached as long as its caller keeps
 * it.
 */
export async function findRunnable(
  db: Db,
  { adHocGraph, ...ids }: Wanted,
  fresh: boolean,
): Promise<Runnable | undefined> {
  if (adHocGraph !== undefined) {
    const known = fresh ? undefined : rememberedAdHoc.get(adHocGraph);
    if (known !== undefined) return known;
    const current = await readCurrentGraph(db, ids, adHocGraph);
    if (current === undefined) return undefined;
    const found = await runnableOf(ids.workspaceId, current);
    rememberedAdHoc.set(adHocGraph, found);
    return found;
  }
  const key = `${ids.workspaceId}/${ids.workflowId}/${ids.version ?? ''}`;
  const known = remembered.get(key);
  if (known !== undefined && !fresh) return known;
  remembered.delete(key);
  const current = await readCurrentGraph(db, ids);
  if (current === undefined) return undefined;
  const found = await runnableOf(ids.workspaceId, current);
  remembered.set(key, found);
  return found;
}

async function runnableOf(workspaceId: string, current: CurrentGraph): Promise<Runnable> {
  const { version, inputSchema, limits } = current;
  const found: Runnable = { version, ...(await judge(workspaceId, current)) };
  if (limits !== undefined) {
    const { revision, settings } = limits;
    found.limits = { revision, of: (input) => underLimits(workspaceId, settings, input) };
  }
  if (inputSchema !== null) {
    found.refuseInput = (input) => refusedInput(workspaceId, inputSchema, input);
  }
  return found;
}

async function judge(
  workspaceId: string,
  {
    graph,
    customTools,
    workflows,
    secrets,
    connections,
    calls,
    maySetSecrets,
    toolRevision,
  }: CurrentGraph,
): Promise<Pick<Runnable, 'graph' | 'refusal' | 'toolRevision'>> {
  const report = await checkGraphUntrusted(workspaceId, graph, {
    tools: builtinTools,
    customTools,
    workflows,
    secrets,
    connections,
    calls,
    maySetSecrets,
  });
  const errors = [...report.errors, ...(await schemaIssues(workspaceId, report.graph))];
  if (report.graph !== undefined && errors.length === 0) {
    const checked = { graph: report.graph };
    return dependsOnWorkspace(report.graph) ? { ...checked, toolRevision } : checked;
  }
  const reasons = errors.slice(0, MAX_REASONS).map((issue) => issue.message);
  const more = errors.length - reasons.length;
  return {
    refusal: new AppError(
      'graph_invalid',
      `Workflow graph invalid: ${reasons.join('; ')}${more > 0 ? `; and ${more} more` : ''}`,
    ),
  };
}

/** Whether the graph may become invalid without a new version, because it calls custom tools or contains secrets. */
const dependsOnWorkspace = ({ nodes }: Graph): boolean =>
  customToolNames(nodes.flatMap(toolNamesOf)).length > 0 || nodes.some(containsSecrets);
