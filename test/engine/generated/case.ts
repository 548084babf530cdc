import { setTimeout as sleep } from 'node:timers/promises';
import type { HistoryAndWorkflowId, WorkflowHandle } from '@temporalio/client';
import type { Actor } from '#shared/people/actor.ts';
import type { Graph } from '#shared/contract/workflows/graph.ts';
import type { Run } from '#shared/contract/runs/run.ts';
import { sql } from '#shared/db/pool.ts';
import { AppError } from '#shared/errors.ts';
import { WorkBusyError } from '#shared/platform/threads/threads.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { decideGate } from '#shared/operations/runs/runs.ts';
import { differences } from '#test/graph/generated/compare.ts';
import { referenceRun, type ReferenceRun } from '#test/graph/generated/reference.ts';
import { hash, missesDeadline, worldOf, type World } from '#test/graph/generated/world.ts';
import type { Engine } from '#test/support/engine.ts';
import type { Outside } from './outside.ts';

export interface Case {
  name: string;
  graph: Graph;
  input: JsonObject;
  salt: number;
}

/** What happened to a case. */
export interface Report {
  runId: string;
  differences: string[];
  resumes: number;
  fromLedger: number;
  status: string;
}

/** How a case ended on the service, and how it should have ended. */
interface Ended extends Report {
  run: Run;
  reference: ReferenceRun;
  /** The graph that ran: with the address of its tools. */
  connected: Graph;
}

interface Running {
  engine: Engine;
  /** Of the second approver. */
  other: Actor;
  case: Case;
  world: World;
  runId: string;
  /** How often a gate has failed the run, by its step. */
  failedGates: Map<string, number>;
  resumes: number;
  fromLedger: number;
}

/** How long a run may take without a step of this test, however many follow each other. */
const MAX_MS = 120_000;
const MAX_RESUMES = 40;

/**
 * Runs a case to its end, with decisions and resumes, and compares it with the reference. With `resumed` false, the run
 * ends with its first failure, as some do by default.
 */
export async function runCase(
  engine: Engine,
  outside: Outside,
  other: Actor,
  each: Case,
  resumed = each.salt % 5 !== 0,
): Promise<Ended> {
  const { name, graph, input, salt } = each;
  const world = worldOf(salt);
  const reference = referenceRun(graph, input, world, resumed);
  const connected = outside.connect(name, graph, world);
  const workflowId = await whenFree(() => engine.define(connected, name));
  const runId = await whenFree(() => engine.trigger(workflowId, input));
  const { run, resumes, fromLedger } = await finishRun(engine, other, { each, runId, resumed });
  const found = compare(run, reference, { each, world, requests: outside.requests(name) });
  const { status } = run;
  const report = { runId, differences: found, resumes, fromLedger, status };
  return { ...report, run, reference, connected };
}

/** Decides the gates of a run, and resumes it, until it ends. */
export async function finishRun(
  engine: Engine,
  other: Actor,
  { each, runId, resumed }: { each: Case; runId: string; resumed: boolean },
): Promise<Pick<Running, 'resumes' | 'fromLedger'> & { run: Run }> {
  const running: Running = {
    ...{ engine, other, case: each, world: worldOf(each.salt), runId, failedGates: new Map() },
    ...{ resumes: 0, fromLedger: 0 },
  };
  const run = await toTheEnd(running, resumed);
  const { resumes, fromLedger } = running;
  return { run, resumes, fromLedger };
}

async function toTheEnd(running: Running, resumed: boolean): Promise<Run> {
  const { engine, runId } = running;
  let end = Date.now() + MAX_MS;
  for (let last: Run | undefined; ;) {
    const state = `${last?.status}: ${last?.error}`;
    if (Date.now() > end) {
      throw new Error(`run ${runId} has not moved for ${MAX_MS} ms, ${state}`);
    }
    if (running.resumes >= MAX_RESUMES) {
      throw new Error(`run ${runId} still fails after ${MAX_RESUMES} resumes, ${state}`);
    }
    const run = await engine.until(runId, ['success', 'failed', 'paused'], MAX_MS);
    last = run;
    if (run.status === 'success') return run;
    if (run.status === 'failed') {
      if (!resumed) return run;
      await resume(running, run);
      end = Date.now() + MAX_MS;
    } else if (await decide(running, run)) {
      end = Date.now() + MAX_MS;
    } else {
      // Only gates whose deadlines decide.
      await sleep(30);
    }
  }
}

async function resume(running: Running, run: Run): Promise<void> {
  const { engine, runId, failedGates, case: each } = running;
  for (const { step_key: key, kind, status, caught } of run.steps) {
    if (kind !== 'human_gate' || status !== 'failed' || caught === true) continue;
    failedGates.set(key, (failedGates.get(key) ?? 0) + 1);
  }
  running.resumes += 1;
  if (hash(`ledger ${each.salt} ${running.resumes}`) % 2 === 0) {
    running.fromLedger += 1;
    await engine.db.query(sql.unsafe`UPDATE runs SET from_ledger = true WHERE id = ${runId}`);
  }
  await engine.resume(runId);
}

/** Decides one open gate or several. Returns whether there was one to decide. */
async function decide(running: Running, run: Run): Promise<boolean> {
  const { engine, runId, case: each, failedGates } = running;
  const nodes = new Map(each.graph.nodes.map((node) => [node.id, node]));
  const open = run.pending_gates.filter(({ node_id, step_key }) => {
    const node = nodes.get(node_id);
    return node?.kind !== 'human_gate' || !missesDeadline(node) || failedGates.has(step_key);
  });
  const count = 1 + (hash(`count ${each.salt} ${run.steps.length}`) % Math.max(1, open.length));
  const chosen = open
    .sort((a, b) => hash(`${each.salt} ${a.step_key}`) - hash(`${each.salt} ${b.step_key}`))
    .slice(0, count);
  const decisions = chosen.map(({ step_key, node_id, tool_call }) =>
    tool_call === undefined
      ? decideGateOf(running, step_key, node_id)
      : decideCall(running, step_key, tool_call.digest),
  );
  for (const result of await Promise.allSettled(decisions)) {
    if (result.status === 'fulfilled') continue;
    // Another of the decisions, or a deadline, has failed the run: a resume asks again.
    const refused = result.reason instanceof AppError && result.reason.code === 'conflict';
    const failed = refused && (await engine.run(runId)).status === 'failed';
    if (!failed) throw result.reason;
  }
  return chosen.length > 0;
}

/** Tries again while the service asks for it, because many cases run at the same time. */
export async function whenFree<Result>(act: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof WorkBusyError)) throw error;
    }
    await sleep(30);
  }
}

/** A rejected call is for the model, and the agent continues. */
async function decideCall({ engine, runId }: Running, stepKey: string, digest: string) {
  const approved = hash(stepKey) % 2 === 0;
  await engine.decide(runId, { stepKey, digest, approved });
}

async function decideGateOf(
  { engine, other, case: { graph }, world, runId, failedGates }: Running,
  stepKey: string,
  nodeId: string,
): Promise<void> {
  const node = graph.nodes.find(({ id }) => id === nodeId)!;
  if (node.kind !== 'human_gate') throw new Error(`${nodeId} is no gate`);
  const round = Math.min(2, 1 + (failedGates.get(stepKey) ?? 0));
  const end = world.gate(node, stepKey, round);
  if ('failed' in end) throw new Error(`nobody decides ${stepKey}`);
  const decision = { runId, stepKey, ...end };
  const decideNow = (given: Parameters<typeof decideGate>[1]) =>
    whenFree(() => decideGate(engine.deps, given));
  const isOpen = async (): Promise<boolean> =>
    node.required === 2 &&
    (await engine.run(runId)).pending_gates.some(({ step_key }) => step_key === stepKey);
  try {
    if (end.approved && node.required === 2) {
      // The input of the last approver counts.
      const input = end.input === undefined ? {} : { input: { shared: 'replaced' } };
      await decideNow({ ...decision, ...input, actor: other });
    }
    await decideNow({ ...decision, actor: engine.actor });
    // An input that changes what the gate sets in motion withdraws the other approval: the same again, without input.
    if (await isOpen()) await decideNow({ runId, stepKey, approved: true, actor: other });
  } catch (error) {
    // The deadline came first: the run fails again, and the gate is asked again.
    if (!missesDeadline(node) || !(error instanceof AppError) || error.code !== 'conflict') {
      throw error;
    }
  }
}

function compare(
  run: Run,
  reference: ReferenceRun,
  { each, world, requests }: { each: Case; world: World; requests: Map<string, number> },
): string[] {
  const own = run.steps.filter(
    ({ parent_step_key, status }) => parent_step_key === undefined && status !== 'cancelled',
  );
  const found = differences(
    {
      failed: run.status === 'failed',
      steps: new Map(own.map(({ step_key, status }) => [step_key, status])),
      state: withoutHeaders(run.state) as JsonObject,
      output: withoutHeaders(run.output) as JsonObject,
    },
    reference,
  );
  for (const { step_key: key, node_id, attempt, attempts } of own) {
    // A busy worker has stopped an attempt, whose request may have been sent.
    if (attempts.some(({ outcome }) => outcome === 'interrupted')) continue;
    const node = each.graph.nodes.find(({ id }) => id === node_id)!;
    const step = reference.steps.get(key);
    if (step?.certain !== true || (node.kind !== 'agent' && node.kind !== 'tool')) continue;
    if (step.status === 'skipped' || (node.kind === 'agent' && node.tools !== undefined)) continue;
    const failing = world.failingAttempts(node, key);
    const expected = step.status === 'failed' ? (node.retry?.max_attempts ?? 1) : failing + 1;
    const isHttp = node.kind === 'tool' && node.tool_name === 'http_request';
    const counts = isHttp ? [attempt, requests.get(key)] : [attempt];
    if (counts.every((count) => count === expected)) continue;
    found.push(`${key} had ${counts.join(' and ')} attempts, not ${expected}`);
  }
  return found;
}

/** Responses of tools without their headers, which contain the time. */
function withoutHeaders(value: Json | undefined): Json {
  if (typeof value !== 'object' || value === null) return value ?? null;
  if (Array.isArray(value)) return value.map(withoutHeaders);
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== 'headers')
      .map(([key, part]) => [key, withoutHeaders(part)]),
  );
}

/** The histories of all executions of a run, also of those that were reset. */
export async function historiesOf(engine: Engine, runId: string): Promise<HistoryAndWorkflowId[]> {
  const { workflow } = engine.deps.temporal.client;
  const found: HistoryAndWorkflowId[] = [];
  for await (const execution of workflow.list({ query: `WorkflowId = '${runId}'` })) {
    const history = await workflow.getHandle(runId, execution.runId).fetchHistory();
    found.push({ workflowId: runId, history });
  }
  return found;
}

/** Whether the execution continued another one as new. */
export function hasContinued({ history }: HistoryAndWorkflowId): boolean {
  const [started] = (history as Awaited<ReturnType<WorkflowHandle['fetchHistory']>>).events ?? [];
  return (started?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId ?? '') !== '';
}
