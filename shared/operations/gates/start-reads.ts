import type { Graph, ToolNode } from '#shared/contract/workflows/graph.ts';
import { type ForkSource, readForkSource, readResults } from '#shared/db/forks/source.ts';
import { readOlderSteps, type StartedRead, storeReads } from '#shared/db/gates/rechecks.ts';
import { adHocGraphOf } from '#shared/db/runs/run-request.ts';
import { AppError } from '#shared/errors.ts';
import type { RecordedTexts } from '#shared/graph/forks/plan.ts';
import type { RepeatedRead } from '#shared/graph/gates/repeated-reads.ts';
import { nodeStateUntrusted } from '#shared/platform/threads/untrusted.ts';
import { findReads, type RecheckDeps, type RecheckedGate } from './gate-reads.ts';

const NO_STATE = 'the state that the step had cannot be computed, or is too large';

/** Why something could not be read again. Other errors are thrown: the approval can be sent again. */
function problemOf(error: unknown): { problem: string } {
  if (error instanceof AppError) return { problem: error.message };
  throw error;
}

/** Starts the reads of a gate that are due. Those that cannot be started have a problem. */
export async function startReads(
  deps: RecheckDeps,
  gate: RecheckedGate,
  id: string,
): Promise<StartedRead[]> {
  const found = await findReads(deps, gate).catch(problemOf);
  if ('problem' in found) {
    const { step_key, node_id } = gate;
    return [{ step_key, node_id, tool: 'recheck', paths: [], run_id: null, ...found }];
  }
  await storeReads(deps.db, { ...gate, reads: found });
  const { reads } = found;
  const due = await dueReads(deps, gate, reads);
  if (due.length === 0) return [];
  const { workspaceId } = gate.actor;
  const source = await readForkSource(deps.db, { workspaceId, runId: gate.runId });
  const recorded = { ...source, ...(await readResults(deps.db, gate.runId)) };
  const startOne = async (read: RepeatedRead, at: number): Promise<StartedRead> => {
    try {
      return await startRead(deps, gate, { read, recorded, key: `recheck-${id}-${at}` });
    } catch (error) {
      return { ...read, run_id: null, ...problemOf(error) };
    }
  };
  return Promise.all(due.map(startOne));
}

/** Starts a rehearsal of the node of a read, with the state that its step had. */
async function startRead(
  deps: RecheckDeps,
  { actor, runId, step_key: gateKey }: RecheckedGate,
  {
    read,
    recorded,
    key,
  }: { read: RepeatedRead; recorded: RecordedTexts & ForkSource; key: string },
): Promise<StartedRead> {
  const { step_key: stepKey } = read;
  const { graph, workflowId, version } = recorded;
  const node = repeatedNode(graph, read.node_id, deps.recheckMs);
  const found = await nodeStateUntrusted(actor.workspaceId, {
    ...{ recorded, graph, stepKey, state: {}, pins: {} },
  });
  if ('problem' in found) return { ...read, run_id: null, problem: NO_STATE };
  const place = { forked_from: runId, from_step: stepKey };
  const { runId: started } = await deps.start({
    ...{ actor, workflowId, version, trigger: 'manual', input: found.state, idempotencyKey: key },
    adHocGraph: adHocGraphOf({ graph: { nodes: [node], edges: [] }, input_schema: null }),
    fork: { sourceId: runId, fromStep: stepKey, laid: {} },
    rehearsal: {
      ...{ allow: [allowed(node)], failures: 'execute', decisions: {} },
      // Only reads are executed, so there is no write for a gate to guard.
      ...{ failed: [], digests: {}, guarded: {} },
    },
    audit: { action: 'run', details: { mode: 'recorded', recheck_of: gateKey, ...place } },
  });
  return { ...read, run_id: started };
}

async function dueReads(
  { db }: RecheckDeps,
  { runId, settings }: RecheckedGate,
  reads: readonly RepeatedRead[],
): Promise<readonly RepeatedRead[]> {
  const { recheck } = settings ?? {};
  const seconds = typeof recheck === 'object' ? recheck.after_seconds : undefined;
  if (seconds === undefined) return reads;
  const stepKeys = reads.map(({ step_key }) => step_key);
  const older = await readOlderSteps(db, runId, { stepKeys, seconds });
  return reads.filter(({ step_key }) => older.has(step_key));
}

/** The node of a read, with a single attempt that ends within the bound. */
function repeatedNode(graph: Graph, id: string, boundMs: number): ToolNode {
  const node = graph.nodes.find((each) => each.id === id);
  if (node?.kind !== 'tool') throw new Error(`the graph has no tool '${id}'`);
  const seconds = Math.min(node.timeout_seconds ?? Infinity, boundMs / 1000);
  const retry = { max_attempts: 1, initial_interval_seconds: 1, backoff: 1 };
  return { ...node, retry, timeout_seconds: seconds };
}

const allowed = ({ tool_name: tool, params }: ToolNode): string => {
  const { method } = params;
  const name = typeof method === 'string' ? method.toUpperCase() : 'GET';
  return tool === 'http_request' ? `${tool}:${name}` : tool;
};
