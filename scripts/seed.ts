import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Run } from '#shared/contract/runs/run.ts';
import type { Workflow } from '#shared/contract/workflows/workflow.ts';
import { messageOf } from './stack/output.ts';
import { call, exchange, Refusal, type Service } from './seed/api.ts';
import { settleDataKey } from './seed/data-key.ts';
import { type Example, examples, type ExampleRun } from './seed/index.ts';

/** Timeout for the example runs to settle. After that, a start continues without them. */
const SETTLE_MS = 30_000;
const POLL_MS = 15;
/** After this time, a start has created its examples or was interrupted. */
const MADE_WITHIN_MS = 3_600_000;

export interface SeedOptions extends Service {
  /** The file for the secret of a test key of the data API. Without it, no key is created. */
  dataKeyFile?: string;
  /** The examples of earlier starts. Without it, missing examples are created. */
  memory?: ExampleMemory;
  /** Called with problems; not called if everything succeeded. */
  log?: (text: string) => void;
}

/** The example runs that were created: their ids by example key. */
export interface ExampleMemory {
  read(): Promise<ReadonlyMap<string, string>>;
  note(key: string, id: string): Promise<void>;
}

export interface SeedResult {
  /** Workflow ids by the name of the example. */
  workflows: Record<string, string>;
  /** Run ids by the example's key. */
  runs: Record<string, string>;
  /** A paused run. */
  gateRunId?: string;
  approveUrl?: string;
  approveBody?: { approved: true; digest?: string };
  /** The secret of a test key of the data API. */
  dataKey?: string | undefined;
}

interface SeededRun {
  key: string;
  run: Run;
}

/**
 * Creates the missing example workflows and their runs through the HTTP API. Workflows are found by name, runs by
 * idempotency key. A workflow with such a name but another graph belongs to a user, and is neither changed nor run. A
 * run that `memory` contains is not created again while its workflow exists: retention has removed it.
 *
 * Never throws: a start continues when examples cannot be created (requests need credentials, Temporal is unavailable).
 * Problems go to `log`.
 */
export async function seed(options: SeedOptions): Promise<SeedResult> {
  const { log = (text) => console.error(text), dataKeyFile, memory, ...service } = options;
  const result: SeedResult = { workflows: {}, runs: {} };
  try {
    if (dataKeyFile !== undefined) result.dataKey = await settleDataKey(service, dataKeyFile);
    const present = await listByName(service);
    const made = (await memory?.read()) ?? new Map<string, string>();
    const started: Promise<SeededRun | undefined>[] = [];
    // The list of workflows shows the newest first, so the one to read first is created last.
    for (const example of examples.toReversed()) {
      const found = present.get(example.name);
      if (found !== undefined && !isDeepStrictEqual(found.graph, example.graph)) continue;
      const old = memory !== undefined && madeBefore(found);
      const workflowId = await settleWorkflow(service, example, found);
      result.workflows[example.name] = workflowId;
      for (const wanted of example.runs) {
        // A workflow that is created again gets its runs again.
        const runId = found === undefined ? undefined : made.get(wanted.key);
        if (runId !== undefined) started.push(findRun(service, wanted.key, runId));
        else if (!old) started.push(settleRun(service, workflowId, wanted));
        if (example.limits !== undefined) await started.at(-1);
      }
    }
    const runs = (await Promise.all(started)).filter((found) => found !== undefined);
    for (const { key, run } of runs) {
      await memory?.note(key, run.id);
      result.runs[key] = run.id;
      if (!isSettled(run)) {
        log(`Example run ${run.id} is still ${run.status} after ${SETTLE_MS / 1000} s`);
      }
      if (run.status === 'paused') {
        result.gateRunId = run.id;
        result.approveUrl = `${service.apiUrl}/api/runs/${run.id}/approve`;
        const digest = run.pending_gate?.tool_call?.digest;
        result.approveBody = { approved: true, ...(digest !== undefined && { digest }) };
      }
    }
  } catch (error) {
    log(`The examples could not be written: ${reasonOf(error)}`);
  }
  return result;
}

async function listByName(service: Service): Promise<Map<string, Workflow>> {
  const { body } = await call<Workflow[]>(service, 'GET', '/api/workflows');
  // The oldest is last in the list and wins, because a later workflow may have been given the same name.
  return new Map(body.map((workflow) => [workflow.name, workflow]));
}

/** Creates the workflow, or publishes a draft that an interrupted start left. A published one is not changed. */
async function settleWorkflow(
  service: Service,
  example: Example,
  present: Workflow | undefined,
): Promise<string> {
  if (present?.status === 'published') return present.id;
  const { name, description, graph, checks, limits, trigger } = example;
  const workflow =
    present ??
    (
      await call<Workflow>(service, 'POST', '/api/workflows', {
        body: { name, description, graph },
      })
    ).body;
  const path = `/api/workflows/${workflow.id}`;
  await call(service, 'PUT', `${path}/checks`, { body: checks });
  if (limits !== undefined) await call(service, 'PUT', `${path}/limits`, { body: limits });
  if (trigger !== undefined) await settleTrigger(service, path, trigger);
  await call(service, 'POST', `${path}/publish`);
  return workflow.id;
}

/** Creates the trigger, unless an interrupted start has. */
async function settleTrigger(
  service: Service,
  path: string,
  trigger: NonNullable<Example['trigger']>,
): Promise<void> {
  const { body: present } = await call<unknown[]>(service, 'GET', `${path}/triggers`);
  if (present.length === 0) await call(service, 'POST', `${path}/triggers`, { body: trigger });
}

/** It was published so long ago that its start has also created the runs, even if it did not record them. */
const madeBefore = (found: Workflow | undefined): boolean =>
  found?.status === 'published' && Date.parse(found.created_at) < Date.now() - MADE_WITHIN_MS;

/** A run that was created earlier; undefined if it no longer exists. */
async function findRun(
  service: Service,
  key: string,
  runId: string,
): Promise<SeededRun | undefined> {
  const { status, body } = await exchange<Run>(service, 'GET', `/api/runs/${runId}`);
  return status === 200 ? { key, run: body } : undefined;
}

/** Triggers the run, or finds the one of an earlier start, and waits until it settles. */
async function settleRun(
  service: Service,
  workflowId: string,
  wanted: ExampleRun,
): Promise<SeededRun> {
  let run = (
    await call<Run>(service, 'POST', `/api/workflows/${workflowId}/runs`, {
      body: wanted.input,
      headers: { 'idempotency-key': wanted.key },
    })
  ).body;
  const deadline = performance.now() + SETTLE_MS;
  while (!isSettled(run) && performance.now() < deadline) {
    await sleep(POLL_MS);
    run = (await call<Run>(service, 'GET', `/api/runs/${run.id}`)).body;
  }
  return { key: wanted.key, run };
}

/** It has ended, or waits for a person, for what a step waits for, or in a queue. */
const isSettled = ({ status, waiting, queued }: Run): boolean =>
  status === 'pending' ? queued !== null : status !== 'running' || waiting.length > 0;

function reasonOf(error: unknown): string {
  if (error instanceof Refusal && error.status === 401) {
    return 'requests need credentials (AUTH_MODE=required)';
  }
  return messageOf(error);
}
