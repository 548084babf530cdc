import type { GraphReport } from '#shared/contract/workflows/graph.ts';
import { type Drawn, readCurrentGraph } from '#shared/db/workflows/current-graph.ts';
import type { Db } from '#shared/db/pool.ts';
import type { WorkflowScope } from '#shared/db/workflows/workflows.ts';
import { notFound } from '#shared/errors.ts';
import { type ModelSettings, unavailableProviders } from '#shared/platform/calls/models.ts';
import { inputKeysOf } from '#shared/graph/input-keys.ts';
import { checkGraphUntrusted } from '#shared/platform/threads/untrusted.ts';
import { builtinTools } from '#shared/tools.ts';
import { costWarningsOf } from '#shared/operations/money/cost-limits.ts';
import { membersFor } from '#shared/operations/gates/gate-checks.ts';
import { limitIssues } from '#shared/operations/limits/limits.ts';
import { connectionIssues } from '#shared/operations/connections/used.ts';
import { longWaitsOf } from './long-waits.ts';
import { schemaIssues } from './schema-checks.ts';

/**
 * Every error and warning about the saved graph and schema, or those that are `drawn` instead, including models without a key. Throws
 * AppError `not_found`.
 */
export async function validateWorkflow(
  db: Db,
  scope: WorkflowScope,
  models: ModelSettings,
  drawn?: Drawn,
): Promise<GraphReport> {
  const current = await readCurrentGraph(db, scope, drawn);
  if (current === undefined) throw notFound('Workflow');
  const { graph, errors, warnings } = await checkGraphUntrusted(scope.workspaceId, current.graph, {
    tools: builtinTools,
    customTools: current.customTools,
    workflows: current.workflows,
    secrets: current.secrets,
    connections: current.connections,
    calls: current.calls,
    maySetSecrets: current.maySetSecrets,
    ...(await membersFor(db, scope.workspaceId, current.graph)),
    ...inputKeysOf(current.inputSchema),
    unavailableProviders: unavailableProviders(models),
  });
  const all = [...errors, ...(await schemaIssues(scope.workspaceId, graph))];
  const costs = await costWarningsOf(db, scope, graph);
  const waits = await longWaitsOf(db, scope.workspaceId, graph);
  const accounts = await connectionIssues(db, scope.workspaceId, graph?.nodes ?? []);
  const limits = await limitIssues(db, scope, current.limits?.settings, current.graph);
  const said = [...warnings, ...costs, ...waits, ...accounts, ...limits];
  return { valid: all.length === 0, errors: all, warnings: said };
}
