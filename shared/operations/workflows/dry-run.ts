import type { Actor } from '#shared/people/actor.ts';
import type { DryRun, DryRunGate } from '#shared/contract/workflows/dry-run.ts';
import type { Graph } from '#shared/contract/workflows/graph.ts';
import { overridesOf } from '#shared/contract/money/price.ts';
import type { Sealer } from '#shared/crypto/sealing.ts';
import { readStepSettings } from '#shared/db/policies/policies.ts';
import { readBudgetRooms } from '#shared/db/money/budgets.ts';
import { readStandings } from '#shared/db/people/standings.ts';
import type { Db } from '#shared/db/pool.ts';
import type { FindRunnable, Runnable, Wanted } from '#shared/db/runs/run-request.ts';
import { readCalledVersions } from '#shared/db/children/called-workflows.ts';
import { type CustomTool, findCustomTools } from '#shared/db/tools/custom-tools.ts';
import { readDraft } from '#shared/db/workflows/drafts.ts';
import { requireWorkflow } from '#shared/db/workflows/workflows.ts';
import { notFound } from '#shared/errors.ts';
import { calledBy } from '#shared/graph/children/called-workflows.ts';
import type { Bounds } from '#shared/graph/dry-run/bounds.ts';
import type {
  CalledGraph,
  CustomToolFacts,
  DryRunAnalysis,
  DryRunRequest as DryRunFacts,
  ReachableGate,
} from '#shared/graph/dry-run/request.ts';
import { costWarningsOf } from '#shared/operations/money/cost-limits.ts';
import { decidersOf } from '#shared/graph/gates/gate-settings.ts';
import { toolNamesOf } from '#shared/graph/node-tools.ts';
import type { JsonObject } from '#shared/json.ts';
import { toDollars } from '#shared/money/money.ts';
import { referencesOfTool } from '#shared/platform/calls/custom-tool.ts';
import { CONNECTIONS, namesOf, SECRETS, type ValueReference } from '#shared/values/secrets.ts';
import { usedConnections } from '#shared/operations/connections/used.ts';
import { dryRunUntrusted } from '#shared/platform/threads/untrusted.ts';
import { customToolNames } from '#shared/tools.ts';
import { adHocGraphOf } from '#shared/db/runs/run-request.ts';
import { noSuchVersion } from '#shared/db/workflows/versions.ts';

/** What a run would do: nothing is executed, reserved or recorded. */

export interface DryRunDeps {
  db: Db;
  findRunnable: FindRunnable;
  sealer: Sealer | undefined;
}

interface DryRunRequest {
  actor: Actor;
  workflowId: string;
  /** Without an input, the bounds apply to every input. */
  input?: JsonObject | undefined;
  /** By default, the current version. */
  version?: number | undefined;
  /** Examines the workflow's draft instead of a version. */
  draft?: boolean | undefined;
}

/**
 * The bounds of a run, the policies' verdicts, and what it needs, as of now. Throws AppError `not_found`,
 * `unprocessable`, `graph_invalid`, `input_invalid`, and `invalid` when it takes too long to compute.
 */
export async function dryRunWorkflow(deps: DryRunDeps, request: DryRunRequest): Promise<DryRun> {
  const { actor, workflowId, input } = request;
  const { workspaceId } = actor;
  const { version, graph } = await runnableOf(deps, request);
  const ids = { workspaceId, workflowId };
  const facts = await readDryRunFacts(deps, ids, { graph, input });
  const analysis = await dryRunUntrusted(workspaceId, facts);
  const workflowIds = [workflowId, ...analysis.workflows];
  const { connections, warnings } = await usedConnections(deps.db, actor, analysis.connections);
  return {
    version: request.draft === true ? null : version,
    ...answerOf(analysis),
    connections,
    warnings: [...(await costWarningsOf(deps.db, ids, graph)), ...warnings],
    budgets: await readBudgetRooms(deps.db, { workspaceId, workflowIds }),
    gates: await gatesOf(deps.db, actor, analysis.gates),
  };
}

/** A graph with what the workspace has for it: policies, prices, tools, and the workflows that it calls. */
export async function readDryRunFacts(
  deps: DryRunDeps,
  ids: { workspaceId: string; workflowId: string },
  { graph, input }: { graph: Graph; input: JsonObject | undefined },
): Promise<DryRunFacts> {
  const { workspaceId, workflowId } = ids;
  const { policies, prices } = await readStepSettings(deps.db, workspaceId);
  const { capMicros, oneStep, called } = await readCalled(deps, ids, graph);
  const graphs = [graph, ...Object.values(called).flatMap((each) => each.graph ?? [])];
  const names = customToolNames(graphs.flatMap(({ nodes }) => nodes.flatMap(toolNamesOf)));
  const tools = await findCustomTools(deps.db, { workspaceId, names });
  return {
    ...{ workflowId, graph, input, capMicros, oneStep, called },
    policies: JSON.stringify(policies),
    prices: overridesOf(prices),
    customTools: Object.fromEntries(tools.map((tool) => [tool.name, factsOf(deps.sealer, tool)])),
  };
}

/**
 * The graph as it would run, if it accepts the input. Throws AppError `not_found`, `unprocessable`, `graph_invalid`,
 * `input_invalid`.
 */
export async function runnableOf(
  deps: Pick<DryRunDeps, 'db' | 'findRunnable'>,
  { actor: { workspaceId }, workflowId, version, draft = false, input }: DryRunRequest,
): Promise<{ version: number; graph: Graph }> {
  const ids = { workspaceId, workflowId };
  const wanted: Wanted = { ...ids, version };
  if (draft) {
    wanted.adHocGraph = adHocGraphOf(await readDraft(deps.db, ids));
  }
  const runnable = await deps.findRunnable(deps.db, wanted, true);
  if (runnable === undefined) {
    await requireWorkflow(deps.db, ids);
    throw version === undefined ? notFound('Workflow') : noSuchVersion(version);
  }
  const graph = graphOf(runnable);
  const refusal = input === undefined ? undefined : await runnable.refuseInput?.(input);
  if (refusal !== undefined) throw refusal;
  return { version: runnable.version, graph };
}

function graphOf({ graph, refusal }: Runnable): Graph {
  if (graph === undefined) throw refusal ?? notFound('Workflow');
  return graph;
}

/** The maximum number of called versions that are read. The cost of any others is unknown. */
const MAX_CALLED = 100;

/** The workflows that this one can start, directly or indirectly. */
async function readCalled(
  deps: DryRunDeps,
  ids: { workspaceId: string; workflowId: string },
  { nodes }: Graph,
): Promise<{ capMicros: number | null; oneStep: boolean; called: Record<string, CalledGraph> }> {
  const { self, called } = await readCalledVersions(deps.db, ids, nodes.flatMap(calledBy));
  const found: Record<string, CalledGraph> = {};
  for (const [key, result] of [...called].slice(0, MAX_CALLED)) {
    if (typeof result === 'string') {
      found[key] = { workflowId: '', name: '', capMicros: null };
      continue;
    }
    const { id: workflowId, name, version, run_cap_micros: capMicros, overrun } = result;
    const oneStep = overrun === 'one_step';
    const graph = await calledGraph(deps, { ...ids, workflowId, version });
    found[key] = {
      workflowId,
      name,
      capMicros,
      oneStep,
      graph,
    };
  }
  return {
    capMicros: self.run_cap_micros,
    oneStep: self.overrun === 'one_step',
    called: found,
  };
}

/** Undefined when it cannot run. A refusal based on the cache may be out of date. */
async function calledGraph(
  { db, findRunnable }: DryRunDeps,
  wanted: Wanted,
): Promise<Graph | undefined> {
  const known = await findRunnable(db, wanted, false);
  if (known?.graph !== undefined) return known.graph;
  return (await findRunnable(db, wanted, true))?.graph;
}

const factsOf = (sealer: Sealer | undefined, tool: CustomTool): CustomToolFacts => ({
  ...connectedBy(referencesOfTool(sealer, tool)),
  timeoutSeconds: tool.timeout_seconds,
  attempts: 1 + tool.retry_count,
  bytes: Buffer.byteLength(JSON.stringify([tool.label, tool.description, tool.input_schema])),
  host: URL.parse(tool.endpoint_url)?.host ?? tool.endpoint_url,
  readOnly: tool.read_only,
  isCode: tool.kind === 'code',
});

const connectedBy = (
  references: readonly ValueReference[],
): Pick<CustomToolFacts, 'secrets' | 'connections'> => ({
  secrets: namesOf(references, SECRETS),
  connections: namesOf(references, CONNECTIONS),
});

export const inDollars = ({ min, max }: Bounds): Bounds => ({
  min: toDollars(min),
  max: max === null ? null : toDollars(max),
});

const answerOf = ({ cost, duration, nodes, unbounded, hosts, secrets }: DryRunAnalysis) => ({
  cost_usd: inDollars(cost),
  duration_ms: duration,
  unbounded,
  nodes: nodes.map(({ cost: own, ...node }) => ({ ...node, cost_usd: inDollars(own) })),
  hosts,
  secrets,
});

/** The maximum number of approvers that are listed. */
const MAX_APPROVERS = 100;

async function gatesOf(
  db: Db,
  { workspaceId, id }: Actor,
  gates: readonly ReachableGate[],
): Promise<DryRunGate[]> {
  if (gates.length === 0) return [];
  const members = await readStandings(db, workspaceId);
  const starters = id === null ? [] : [id];
  return gates.map(({ node_id, workflow, settings }) => ({
    node_id,
    workflow: workflow ?? null,
    required: settings.required ?? 1,
    approvers: decidersOf(settings, members, { starters, decisions: [] })
      .members.slice(0, MAX_APPROVERS)
      .map((member) => ({ id: member.id, name: member.name })),
  }));
}
