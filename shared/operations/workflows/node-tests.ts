import type { Actor } from '#shared/people/actor.ts';
import type { GraphNode } from '#shared/contract/workflows/graph.ts';
import type { Trigger } from '#shared/contract/runs/run.ts';
import { findNodeStep } from '#shared/db/forks/node-steps.ts';
import { type ForkSource, readForkSource, readResults } from '#shared/db/forks/source.ts';
import { readPinnedOutputs } from '#shared/db/workflows/pins.ts';
import { AppError, notFound } from '#shared/errors.ts';
import type { Graph } from '#shared/contract/workflows/graph.ts';
import type { JsonObject } from '#shared/json.ts';
import { callbackSentBy } from '#shared/graph/waits/callbacks.ts';
import { nodeStateUntrusted } from '#shared/platform/threads/untrusted.ts';
import { guardedNodesOfChosen } from '#shared/operations/guards/guarded-nodes.ts';
import { runnableOf } from './dry-run.ts';
import { rehearsalOf, requireAllowed } from '#shared/operations/runs/rehearsals.ts';
import { triggerRun, type RunDeps, type Triggered } from '#shared/operations/runs/runs.ts';
import { adHocGraphOf } from '#shared/db/runs/run-request.ts';

/** Tests of single nodes: rehearsals of a graph that contains only that node. */

export interface NodeTestRequest {
  actor: Actor;
  workflowId: string;
  nodeId: string;
  trigger: Trigger;
  /** The run that provides the node's initial state. */
  runId?: string | undefined;
  stepKey?: string | undefined;
  /** Merged into the run's state; without a run, the whole state. */
  state?: JsonObject | undefined;
  /** By default, the current version. */
  version?: number | undefined;
  draft?: boolean | undefined;
  allow?: readonly string[] | undefined;
  /** Whether pinned outputs of other nodes replace those of the run. */
  pins?: boolean | undefined;
  /** The same key with the same request returns the same run. */
  idempotencyKey?: string | undefined;
}

/**
 * Starts a rehearsal of one node with the state of a run, or the given one. It is only executed if it just computes, or
 * if the request allows it. Throws AppError `not_found`, `unprocessable`, `graph_invalid`, `invalid`, and those of
 * `triggerRun`.
 */
export async function testNode(deps: RunDeps, request: NodeTestRequest): Promise<Triggered> {
  const { actor, workflowId, nodeId, trigger, runId, allow } = request;
  const { version, draft } = request;
  // Checked first, so that another workspace's run gets the same error as a missing one, even with an unknown node.
  const source = runId === undefined ? undefined : await readSource(deps.db, request, runId);
  const { graph, version: found } = await runnableOf(deps, { actor, workflowId, version, draft });
  const node = graph.nodes.find(({ id }) => id === nodeId);
  if (node === undefined) {
    const where = draft === true ? 'draft' : 'graph';
    throw new AppError(
      'unprocessable',
      `The ${where} has no node '${nodeId}': name one that it has`,
    );
  }
  const tested = testedNode(node);
  requireNoCallback(node, graph);
  const rehearsal = rehearsalOf({ allow, failures: 'execute' });
  await requireAllowed(deps.db, actor, workflowId, rehearsal.allow);
  // For the whole graph, not just the node.
  const { workspaceId } = actor;
  const chosen = { workspaceId, workflowId, version: draft === true ? undefined : found, graph };
  const guarded = await guardedNodesOfChosen(deps.db, chosen);
  const begun = await beginningOf(deps, request, { graph, source });
  const { stepKey, state } = begun;
  return triggerRun(deps, {
    actor,
    workflowId,
    trigger,
    input: state,
    version,
    ...(request.idempotencyKey === undefined
      ? {}
      : { idempotencyKey: ['test', nodeId, request.idempotencyKey].join('/') }),
    adHocGraph: adHocGraphOf({ graph: { nodes: [tested], edges: [] }, input_schema: null }),
    ...(runId === undefined ? {} : { fork: { sourceId: runId, fromStep: stepKey, laid: {} } }),
    rehearsal: { ...rehearsal, failed: [], digests: {}, guarded },
    audit: {
      action: 'run',
      details: {
        node_id: nodeId,
        mode: 'recorded',
        allow: [...rehearsal.allow],
        ...(runId === undefined ? {} : { forked_from: runId, from_step: stepKey ?? nodeId }),
      },
    },
  });
}

/** No step waits at an address that a test sends. Throws AppError `unprocessable`. */
function requireNoCallback(node: GraphNode, graph: Graph): void {
  const sent = callbackSentBy(node, graph);
  if (sent === undefined) return;
  throw new AppError(
    'unprocessable',
    `Node '${node.id}' tells somebody the address of the callback '${sent}', which no test does: pin its output, and test a node after it`,
  );
}

/** What is executed for a node: for a computed one, its expression. Throws AppError `unprocessable`. */
function testedNode(node: GraphNode): GraphNode {
  switch (node.kind) {
    case 'agent':
    case 'tool':
    case 'code':
    case 'workflow':
      return node;
    case 'condition':
    case 'loop':
      return expressionStep(node, node.expression);
    case 'map':
      return expressionStep(node, node.items);
    case 'human_gate':
      throw new AppError(
        'unprocessable',
        `Node '${node.id}' waits for a decision, which no test makes: fork a run from it with mode 'recorded' and decisions`,
      );
    case 'wait':
      throw new AppError(
        'unprocessable',
        `Node '${node.id}' waits for something that no test sends: pin its output, and test a node after it`,
      );
    case 'merge':
      throw new AppError(
        'unprocessable',
        `Node '${node.id}' only joins branches: test a node before or after it`,
      );
  }
}

const expressionStep = ({ id, label }: GraphNode, expression: string): GraphNode => ({
  id,
  kind: 'tool',
  tool_name: 'json_transform',
  params: { expression },
  ...(label === undefined ? {} : { label }),
});

/** The initial state of the node and, with a run, its step there. */
async function beginningOf(
  { db }: RunDeps,
  { actor, workflowId, nodeId, runId, stepKey, state = {}, pins = false }: NodeTestRequest,
  { graph, source }: { graph: Graph; source: ForkSource | undefined },
): Promise<{ state: JsonObject; stepKey?: string }> {
  if (runId === undefined || source === undefined) return { state };
  const found = (await findNodeStep(db, { runId, nodeId, stepKey })) ?? nodeId;
  const begun = await nodeStateUntrusted(actor.workspaceId, {
    recorded: { ...source, ...(await readResults(db, runId)) },
    graph,
    stepKey: found,
    state,
    pins: pins ? await readPinnedOutputs(db, actor, workflowId) : {},
  });
  if ('state' in begun) return { state: begun.state, stepKey: found };
  throw new AppError(
    'unprocessable',
    `No state for step '${found}' in run ${runId}: ${begun.problem}`,
  );
}

/** A run of this workflow. Throws AppError `not_found`. */
async function readSource(
  db: RunDeps['db'],
  { actor: { workspaceId }, workflowId }: NodeTestRequest,
  runId: string,
): Promise<ForkSource> {
  const source = await readForkSource(db, { workspaceId, runId });
  if (source.workflowId !== workflowId) throw notFound('Run');
  return source;
}
