import { ApiError, ConnectionError, WaitTimeoutError } from './errors.ts';
import { byCursor } from './pages.ts';
import { type CallOptions, type Send, pause } from './request.ts';
import type { BodyOf, QueryOf } from './routes.ts';
import type {
  Approval,
  JsonObject,
  Message,
  Run,
  RunEvent,
  RunSummary,
  Workflow,
} from './types.ts';

export interface WaitOptions extends Omit<CallOptions, 'timeout'> {
  /** Maximum seconds to wait. Default: 300. The run continues after a timeout. */
  timeout?: number;
  /** Seconds between polls. Default: 0.5. */
  pollInterval?: number;
}

export interface RunOptions extends WaitOptions {
  /** Resolve only when the run is `success`, `failed` or `paused`. */
  wait?: boolean;
  /** Requests with the same key and input start one run. Default: a new key for each call. */
  idempotencyKey?: string;
}

export interface TriggerOptions extends CallOptions {
  idempotencyKey?: string;
}

export interface DecisionOptions extends CallOptions {
  /** The gate, when several are open. Default: the oldest. */
  nodeId?: string;
  /** Decides only this iteration of a loop, or this tool call. */
  stepKey?: string;
  reason?: string;
  /** Required for a tool call: its `digest`, so that exactly the call that was shown is decided. */
  digest?: string;
  /** Of an approved tool call: the arguments to send instead. */
  arguments?: JsonObject;
}

/** The format of workflow ids; other text is a name. */
const idLike = /^[\w-]{1,100}$/;
const MIN_POLL_SECONDS = 0.01;

export function runMethods(send: Send) {
  return {
    ...startMethods(send),
    ...listMethods(send),
    ...conversationMethods(send),
    ...changeMethods(send),
  };
}

/** Starts runs and waits for them. */
function startMethods(send: Send) {
  const triggerRun = (
    workflowId: string,
    input: JsonObject = {},
    { idempotencyKey = newKey(), ...options }: TriggerOptions = {},
  ): Promise<Run> =>
    send('POST /api/workflows/{id}/runs', [workflowId], {
      body: input,
      headers: { 'Idempotency-Key': headerValue('idempotencyKey', idempotencyKey) },
      options,
    });

  const getRun = (runId: string, options?: CallOptions): Promise<Run> =>
    send('GET /api/runs/{id}', [runId], { options });

  /** Polls a run until it is `success`, `failed` or `paused`. Throws a `WaitTimeoutError` with status 408. */
  async function waitForRun(
    runId: string,
    { timeout = 300, pollInterval = 0.5, signal }: WaitOptions = {},
  ): Promise<Run> {
    const end = performance.now() + timeout * 1000;
    const left = (): number => (end - performance.now()) / 1000;
    for (;;) {
      const run = await getRun(runId, { timeout: Math.max(left(), 0), signal }).catch(
        (error: unknown) => {
          const late = error instanceof ConnectionError && error.timedOut;
          throw late ? new WaitTimeoutError(runId, timeout) : error;
        },
      );
      if (run.status !== 'pending' && run.status !== 'running') return run;
      const delay = Math.max(pollInterval, MIN_POLL_SECONDS);
      if (delay >= left()) {
        await pause(Math.max(left(), 0) * 1000, signal);
        throw new WaitTimeoutError(runId, timeout);
      }
      await pause(delay * 1000, signal);
    }
  }

  /**
   * Starts a run of the workflow with this id, or else exactly this name, and waits for it if `wait` is set. One call
   * starts at most one run, including its retries.
   */
  async function run(
    workflow: string,
    input: JsonObject = {},
    { wait = false, idempotencyKey = newKey(), ...waiting }: RunOptions = {},
  ): Promise<Run> {
    const trigger = (id: string): Promise<Run> =>
      triggerRun(id, input, { idempotencyKey, signal: waiting.signal });
    const started = await triggerByIdOrName(send, workflow, trigger);
    return wait ? waitForRun(started.id, waiting) : started;
  }

  return {
    run,
    waitForRun,
    /** Starts a run of the workflow with this id. */
    triggerRun,
    getRun,
  };
}

async function triggerByIdOrName(
  send: Send,
  workflow: string,
  trigger: (id: string) => Promise<Run>,
): Promise<Run> {
  let unknown: unknown = new ApiError(404, 'Workflow not found');
  if (idLike.test(workflow)) {
    try {
      return await trigger(workflow);
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 404)) throw error;
      unknown = error;
    }
  }
  const [named, ...others] = await workflowsNamed(send, workflow);
  if (named === undefined) throw unknown;
  if (others.length > 0) {
    const ids = [named, ...others].map(({ id }) => id).join(', ');
    throw new ApiError(409, `Several workflows are called '${workflow}': ${ids}`);
  }
  return trigger(named.id);
}

async function workflowsNamed(send: Send, name: string): Promise<Workflow[]> {
  const workflows = await send('GET /api/workflows');
  return workflows.filter((workflow) => workflow.name === name);
}

/** Lists, page by page or as a whole. */
function listMethods(send: Send) {
  const listRuns = (query: QueryOf<'GET /api/runs'> = {}, options?: CallOptions) =>
    send('GET /api/runs', [], { query, options });

  const listWorkflowRuns = (
    workflowId: string,
    query: QueryOf<'GET /api/workflows/{id}/runs'> = {},
    options?: CallOptions,
  ) => send('GET /api/workflows/{id}/runs', [workflowId], { query, options });

  const listApprovals = (query: QueryOf<'GET /api/approvals'> = {}, options?: CallOptions) =>
    send('GET /api/approvals', [], { query, options });

  const listRunEvents = (
    runId: string,
    query: QueryOf<'GET /api/runs/{id}/events'> = {},
    options?: CallOptions,
  ) => send('GET /api/runs/{id}/events', [runId], { query, options });

  return {
    /** One page of runs, newest first. */
    listRuns,
    /** One page of a workflow's runs, newest first. */
    listWorkflowRuns,
    /** One page of open gates, oldest first. */
    listApprovals,
    /** One page of the frames of a run's stream, oldest first. */
    listRunEvents,

    /** All runs, newest first: `for await (const run of client.runs({status: 'failed'}))`. */
    runs: (
      query: Omit<QueryOf<'GET /api/runs'>, 'cursor'> = {},
    ): AsyncGenerator<RunSummary, void> =>
      byCursor(
        (cursor) => listRuns({ ...query, cursor }),
        (page) => page.runs,
      ),
    /** All runs of a workflow, newest first. */
    workflowRuns: (
      workflowId: string,
      query: Omit<QueryOf<'GET /api/workflows/{id}/runs'>, 'cursor'> = {},
    ): AsyncGenerator<RunSummary, void> =>
      byCursor(
        (cursor) => listWorkflowRuns(workflowId, { ...query, cursor }),
        (page) => page.runs,
      ),
    /** All open gates, oldest first. */
    approvals: (): AsyncGenerator<Approval, void> =>
      byCursor(
        (cursor) => listApprovals({ cursor }),
        (page) => page.approvals,
      ),

    /** All frames of a run's stream so far, oldest first; with `after`, those after that number. */
    runEvents: (
      runId: string,
      query: QueryOf<'GET /api/runs/{id}/events'> = {},
    ): AsyncGenerator<RunEvent, void> =>
      byCursor(
        (cursor) =>
          listRunEvents(runId, {
            ...query,
            ...(cursor === undefined ? {} : { after: Number(cursor) }),
          }),
        (page) => page.events,
      ),
  };
}

function conversationMethods(send: Send) {
  return {
    /** The conversation of an agent with tools so far, oldest message first. Throws 404 before its first turn. */
    listStepMessages: async (
      runId: string,
      stepKey: string,
      options?: CallOptions,
    ): Promise<Message[]> => {
      const route = 'GET /api/runs/{id}/steps/{step_key}/messages';
      return (await send(route, [runId, stepKey], { options })).messages;
    },
  };
}

/** Actions on a run that has started. */
function changeMethods(send: Send) {
  return {
    /** Approves or rejects a gate that a run waits at: the oldest open one, or the one that the options name. */
    approve: (
      runId: string,
      approved = true,
      input?: JsonObject,
      { nodeId, stepKey, reason, digest, arguments: edited, ...options }: DecisionOptions = {},
    ): Promise<Run> =>
      send('POST /api/runs/{id}/approve', [runId], {
        body: {
          approved,
          ...(input === undefined ? {} : { input }),
          ...(nodeId === undefined ? {} : { node_id: nodeId }),
          ...(stepKey === undefined ? {} : { step_key: stepKey }),
          ...(reason === undefined ? {} : { reason }),
          ...(digest === undefined ? {} : { digest }),
          ...(edited === undefined ? {} : { arguments: edited }),
        },
        options,
      }),
    /** Resumes a failed run; finished steps are not repeated. */
    resume: (runId: string, options?: CallOptions): Promise<Run> =>
      send('POST /api/runs/{id}/resume', [runId], { options }),
    cancel: (runId: string, options?: CallOptions): Promise<Run> =>
      send('POST /api/runs/{id}/cancel', [runId], { options }),
    /** Resumes a run that a budget has stopped. */
    overrideBudget: (
      runId: string,
      body: BodyOf<'POST /api/runs/{id}/budget-override'>,
      options?: CallOptions,
    ): Promise<Run> => send('POST /api/runs/{id}/budget-override', [runId], { body, options }),
  };
}

/** 128 random bits. `crypto.randomUUID` is missing on pages served over plain HTTP. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Throws a TypeError for an invalid header value. The error omits it, since errors are logged and keys are secret. */
export function headerValue(name: string, value: string): string {
  if (!/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value)) {
    throw new TypeError(`${name} must be printable ASCII text`);
  }
  return value;
}
