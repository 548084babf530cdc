import type { GateConsequences } from '#shared/contract/gates/consequences.ts';
import type { GraphNode } from '#shared/contract/workflows/graph.ts';
import { type GateRound, readFinishedSteps } from '#shared/db/gates/rechecks.ts';
import { readGraph } from '#shared/db/gates/shown.ts';
import type { Pool } from '#shared/db/pool.ts';
import type { RunActor, RunRequest } from '#shared/db/runs/run-request.ts';
import { findCustomTools } from '#shared/db/tools/custom-tools.ts';
import type { GateSettings } from '#shared/graph/gates/gate-settings.ts';
import type { FinishedStep, GateReads } from '#shared/graph/gates/repeated-reads.ts';
import { approvalOf } from '#shared/graph/node-approval.ts';
import { readsUntrusted } from '#shared/platform/threads/untrusted.ts';
import { calledAs, customToolNames, onlyReads } from '#shared/tools.ts';

export interface RecheckDeps {
  db: Pool;
  /** How long the reads may take together. */
  recheckMs: number;
  /** Starts a run. */
  start: (request: RunRequest) => Promise<{ runId: string }>;
}

/** A gate to recheck, with what its approval sets in motion. */
export interface RecheckedGate extends GateRound {
  actor: RunActor;
  node_id: string;
  settings: GateSettings | null;
  consequences: GateConsequences | null;
  digest: string | null;
}

/** The reads that a gate depends on. `pending`: steps of the run that have ended and are not stored yet. */
export async function findReads(
  { db }: Pick<RecheckDeps, 'db'>,
  gate: Omit<RecheckedGate, 'settings' | 'digest' | 'actor'>,
  pending: readonly FinishedStep[] = [],
): Promise<GateReads> {
  const { workspaceId, graph } = await readGraph(db, gate.runId);
  const { nodes } = graph;
  const names = nodes.flatMap((node) => (node.kind === 'tool' ? [node.tool_name] : []));
  const tools = await findCustomTools(db, { workspaceId, names: customToolNames(names) });
  const readOnly = new Set(tools.flatMap((tool) => (tool.read_only ? [calledAs(tool.name)] : [])));
  const [, iteration = ''] = gate.step_key.split('#');
  return readsUntrusted(workspaceId, {
    graph,
    gate: {
      node_id: gate.node_id,
      iteration: iteration === '' ? [] : iteration.split('.').map(Number),
    },
    effects: gate.consequences?.approve.effects ?? [],
    steps: [...(await readFinishedSteps(db, gate.runId)), ...pending],
    reading: nodes.flatMap((node) => (repeats(node, readOnly) ? [node.id] : [])),
  });
}

/** Whether a recheck can repeat a node. No one approves a repetition of a step that needs approval. */
const repeats = (node: GraphNode, readOnly: ReadonlySet<string>): boolean =>
  node.kind === 'tool' &&
  approvalOf(node) === undefined &&
  (readOnly.has(node.tool_name) || onlyReads(node.tool_name, node.params['method']));
