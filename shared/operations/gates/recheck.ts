import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { GateConsequences } from '#shared/contract/gates/consequences.ts';
import type { RecheckDifference } from '#shared/contract/gates/recheck.ts';
import type { Graph, ToolNode } from '#shared/contract/workflows/graph.ts';
import { readForkSource, readResults } from '#shared/db/forks/source.ts';
import {
  beginRecheck,
  finishRecheck,
  type GateRound,
  readDifferences,
  readFinishedSteps,
  readOlderSteps,
  readRecheck,
  readRepeated,
  type StartedRead,
  type StoredRecheck,
  storeReads,
  storeStarted,
} from '#shared/db/gates/rechecks.ts';
import { readGraph } from '#shared/db/gates/shown.ts';
import type { Pool } from '#shared/db/pool.ts';
import { findCustomTools } from '#shared/db/tools/custom-tools.ts';
import { adHocGraphOf, type RunActor, type RunRequest } from '#shared/db/runs/run-request.ts';
import { AppError } from '#shared/errors.ts';
import type { GateSettings } from '#shared/graph/gates/gate-settings.ts';
import {
  type FinishedStep,
  gateReads,
  type GateReads,
  type RepeatedRead,
} from '#shared/graph/gates/repeated-reads.ts';
import { approvalOf } from '#shared/graph/node-approval.ts';
import { nodeStateUntrusted } from '#shared/platform/threads/untrusted.ts';
import { calledAs, customToolNames, onlyReads } from '#shared/tools.ts';

/**
 * Repeats the reads that a gate depends on, before an approval of it counts. Each is executed by a worker, in a rehearsal
 * of its node with the state that it had: policies, budgets and secrets apply as for every step.
 */

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

const FIRST_LOOK_MS = 40;
const LAST_LOOK_MS = 500;
/** A process that began a recheck may die before it has stored the reads. */
const LOST_AFTER_BOUND_MS = 5_000;

/** Repeats the reads of a gate, or waits for the recheck in progress. Returns its id; undefined when the gate is decided. */
export async function recheckGate(
  deps: RecheckDeps,
  gate: RecheckedGate,
): Promise<string | undefined> {
  let awaited: string | undefined;
  for (let pause = FIRST_LOOK_MS; ; pause = Math.min(pause * 1.5, LAST_LOOK_MS)) {
    const look = await continueRecheck(deps, gate, awaited);
    if (look.state === 'gone') return undefined;
    if (look.state === 'done') return look.id;
    awaited = look.id;
    await sleep(pause);
  }
}

/**
 * - `gone`: the gate is decided.
 * - `done`: a recheck has ended that counts.
 * - `waits`: look again. With an id, that recheck is in progress; without one, a recheck of another list has just ended.
 */
type Look = { state: 'gone' } | { state: 'done'; id: string } | { state: 'waits'; id?: string };

/**
 * One look at the recheck of a gate: begins it if it is due, ends it if all reads have ended or it takes too long. Any
 * process can continue it. `awaited`: the one that an earlier look has found in progress, whose result counts however
 * late this look is.
 */
export async function continueRecheck(
  deps: RecheckDeps,
  gate: RecheckedGate,
  awaited?: string,
): Promise<Look> {
  const { db, recheckMs } = deps;
  const found = await readRecheck(db, gate);
  if (found === undefined) return { state: 'gone' };
  const { recheck, ageMs } = found;
  const done = (last: StoredRecheck): Look =>
    last.digest === gate.digest ? { state: 'done', id: last.id } : { state: 'waits' };
  if (recheck?.finished_at !== undefined && recheck.id === awaited) return done(recheck);
  const begun = await beginRecheck(db, gate, {
    ...{ id: randomUUID(), digest: gate.digest, lostMs: recheckMs + LOST_AFTER_BOUND_MS },
  });
  if (begun !== undefined) {
    const { id } = begun;
    await storeStarted(db, gate, { id, runs: await startReads(deps, gate, id) });
    return { state: 'waits', id };
  }
  if (recheck === null) return { state: 'waits' };
  if (recheck.finished_at !== undefined) return done(recheck);
  const { id, runs } = recheck;
  const ends = runs !== undefined && (await finishIfDone(deps, gate, { id, runs, ageMs }));
  return ends ? done(recheck) : { state: 'waits', id };
}

/** The reads that a gate depends on. `pending`: steps of the run that have ended and are not stored yet. */
export async function findReads(
  { db }: Pick<RecheckDeps, 'db'>,
  gate: Omit<RecheckedGate, 'settings' | 'digest' | 'actor'>,
  pending: readonly FinishedStep[] = [],
): Promise<GateReads> {
  const { workspaceId, graph } = await readGraph(db, gate.runId);
  const names = graph.nodes.flatMap((node) => (node.kind === 'tool' ? [node.tool_name] : []));
  const tools = await findCustomTools(db, { workspaceId, names: customToolNames(names) });
  const readOnly = new Set(tools.flatMap((tool) => (tool.read_only ? [calledAs(tool.name)] : [])));
  const [, iteration = ''] = gate.step_key.split('#');
  return gateReads({
    graph,
    gate: {
      node_id: gate.node_id,
      iteration: iteration === '' ? [] : iteration.split('.').map(Number),
    },
    effects: gate.consequences?.approve.effects ?? [],
    steps: [...(await readFinishedSteps(db, gate.runId)), ...pending],
    // No one approves a repetition of a step that needs approval.
    onlyReads: (node) =>
      approvalOf(node) === undefined &&
      (readOnly.has(node.tool_name) || onlyReads(node.tool_name, node.params['method'])),
  });
}

const NO_STATE = 'the state that the step had cannot be computed, or is too large';

async function startReads(
  deps: RecheckDeps,
  gate: RecheckedGate,
  id: string,
): Promise<StartedRead[]> {
  const found = await findReads(deps, gate);
  await storeReads(deps.db, { ...gate, reads: found });
  const { reads } = found;
  const due = await dueReads(deps, gate, reads);
  if (due.length === 0) return [];
  const { actor, runId } = gate;
  const source = await readForkSource(deps.db, { workspaceId: actor.workspaceId, runId });
  const recorded = { ...source, ...(await readResults(deps.db, runId)) };
  const startOne = async (read: RepeatedRead, at: number): Promise<StartedRead> => {
    const { step_key: stepKey } = read;
    const node = repeatedNode(source.graph, read.node_id, deps.recheckMs);
    const state = await nodeStateUntrusted(actor.workspaceId, {
      ...{ recorded, graph: source.graph, stepKey, state: {}, pins: {} },
    });
    if ('problem' in state) return { ...read, run_id: null, problem: NO_STATE };
    const { runId: started } = await deps.start({
      actor,
      workflowId: source.workflowId,
      trigger: 'manual',
      input: state.state,
      version: source.version,
      idempotencyKey: `recheck-${id}-${at}`,
      adHocGraph: adHocGraphOf({ graph: { nodes: [node], edges: [] }, input_schema: null }),
      fork: { sourceId: runId, fromStep: stepKey, laid: {} },
      rehearsal: {
        ...{ allow: [allowed(node)], failures: 'execute', decisions: {} },
        // Only reads are executed, so there is no write for a gate to guard.
        ...{ failed: [], digests: {}, guarded: {} },
      },
      audit: {
        action: 'run',
        details: {
          mode: 'recorded',
          recheck_of: gate.step_key,
          forked_from: runId,
          from_step: stepKey,
        },
      },
    });
    return { ...read, run_id: started };
  };
  return Promise.all(
    reads
      .filter((read) => due.includes(read))
      .map((read, at) =>
        startOne(read, at).catch((error: unknown) => {
          if (!(error instanceof AppError)) throw error;
          return { ...read, run_id: null, problem: error.message };
        }),
      ),
  );
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

/** Ends a recheck when its reads have ended, or it takes too long. Returns whether it has ended. */
async function finishIfDone(
  { db, recheckMs }: RecheckDeps,
  gate: RecheckedGate,
  { id, runs, ageMs }: { id: string; runs: readonly StartedRead[]; ageMs: number },
): Promise<boolean> {
  const states = await readRepeated(
    db,
    runs.flatMap(({ run_id }) => run_id ?? []),
  );
  const late = ageMs > recheckMs;
  const ended = runs.every(({ run_id }) => run_id === null || states.get(run_id)?.ended !== false);
  if (!ended && !late) return false;
  const succeeded: (StartedRead & { run_id: string })[] = [];
  const failed: RecheckDifference[] = [];
  for (const run of runs) {
    const { run_id, step_key, tool, problem } = run;
    const state = run_id === null ? undefined : states.get(run_id);
    if (run_id !== null && state?.succeeded === true) {
      succeeded.push({ ...run, run_id });
      continue;
    }
    const seconds = recheckMs / 1000;
    const why = state?.ended === false ? `it took longer than ${seconds} s` : state?.error;
    failed.push({
      ...{ step_key, tool, path: [], before: null, now: null, run_id },
      problem: `The read could not be repeated: ${problem ?? why ?? 'its run is gone'}`,
    });
  }
  const all = [...failed, ...(await readDifferences(db, gate.runId, succeeded))];
  const differences = all.slice(0, MAX_DIFFERENCES);
  await finishRecheck(db, gate, { id, differences, more: all.length - differences.length });
  return true;
}

/** The maximum number of differences that a gate shows. */
const MAX_DIFFERENCES = 50;
