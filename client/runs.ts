import { ApiError, ConnectionError, RunSkippedError, WaitTimeoutError } from './errors.ts';
import { newKey, onceOf, type TriggerOptions } from './idempotency.ts';
import { byCursor } from './pages.ts';
import { type CallOptions, type Send, pause } from './request.ts';
import type { BodyOf, QueryOf, Route } from './routes.ts';
import type {
  DryRun,
  Fork,
  JsonObject,
  ListedRun,
  Message,
  Run,
  RunEvent,
  RunView,
  Step,
  Workflow,
} from './types.ts';

export interface WaitOptions extends Omit<CallOptions, 'timeout'> {
  /** Maximum seconds to wait. Default: 300. The run continues after a timeout. */
  timeout?: number;
  /** Seconds between polls. Default: 0.5. */
  pollInterval?: number;
}

export interface RunOptions extends WaitOptions {
  /** Resolves only when the run is `success`, `failed` or `paused`. */
  wait?: boolean;
  /** Requests with the same key and input start one run. Default: a new key for each call. */
  idempotencyKey?: string;
  /** Runs the workflow's draft instead of its current version. */
  draft?: boolean;
}

export interface StartOptions extends TriggerOptions {
  /** Runs the workflow's draft instead of its current version. */
  draft?: boolean;
}

/** What a run has in common with the run it starts from, unless the options give another value. */
export type RerunOptions = TriggerOptions & NonNullable<BodyOf<'POST /api/runs/{id}/rerun'>>;

export type ForkOptions = TriggerOptions & Omit<BodyOf<'POST /api/runs/{id}/fork'>, 'from_step'>;

export type DryRunOptions = CallOptions &
  Omit<NonNullable<BodyOf<'POST /api/workflows/{id}/dry-run'>>, 'input'>;

type Listing = Extract<Route, 'GET /api/runs' | 'GET /api/workflows/{id}/runs'>;
type RunsQuery<R extends Listing> = Omit<QueryOf<R>, 'status'> & {
  /** One status, or several. */
  status?: Run['status'] | Run['status'][] | undefined;
};

/** The filters of a list of runs. */
export type RunQuery = RunsQuery<'GET /api/runs'>;

const sent = <R extends Listing>({ status, ...query }: RunsQuery<R>): QueryOf<R> =>
  ({ ...query, ...(status === undefined ? {} : { status: [status].flat() }) }) as QueryOf<R>;

/** The format of workflow ids. Other text is a name. */
const idLike = /^[\w-]{1,100}$/;
/** The service ends an export after two minutes. */
const EXPORT_SECONDS = 150;
const MIN_POLL_SECONDS = 0.01;

export function runMethods(send: Send) {
  return {
    ...startMethods(send),
    ...dryRunMethods(send),
    ...listMethods(send),
    ...viewMethods(send),
    ...stepMethods(send),
    ...conversationMethods(send),
    ...changeMethods(send),
    ...forkMethods(send),
  };
}

/** Starts runs and waits for them. */
function startMethods(send: Send) {
  /** Throws a `RunSkippedError` if the limit of the workflow skips the run. */
  const triggerRun = async (
    workflowId: string,
    input: JsonObject = {},
    { draft, ...options }: StartOptions = {},
  ): Promise<Run> => {
    const answer = await send('POST /api/workflows/{id}/runs', [workflowId], {
      ...(draft === true && { query: { draft: 'true' } }),
      body: input,
      ...onceOf(options),
    });
    if (answer.run_id === null) throw new RunSkippedError(answer.detail);
    return answer;
  };

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
   * Starts a run of the workflow with this id or, if there is none, exactly this name, and waits for it if `wait` is
   * set. One call starts at most one run, including its retries.
   */
  async function run(
    workflow: string,
    input: JsonObject = {},
    { wait = false, idempotencyKey = newKey(), draft = false, ...waiting }: RunOptions = {},
  ): Promise<Run> {
    const trigger = (id: string): Promise<Run> =>
      triggerRun(id, input, { idempotencyKey, draft, signal: waiting.signal });
    const started = await triggerByIdOrName(send, workflow, trigger);
    return wait ? waitForRun(started.id, waiting) : started;
  }

  return {
    run,
    waitForRun,
    /** Starts a run of the workflow with this id, or of its draft. */
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
  const listRuns = (query: RunQuery = {}, options?: CallOptions) =>
    send('GET /api/runs', [], { query: sent(query), options });

  const listWorkflowRuns = (
    workflowId: string,
    query: RunsQuery<'GET /api/workflows/{id}/runs'> = {},
    options?: CallOptions,
  ) => send('GET /api/workflows/{id}/runs', [workflowId], { query: sent(query), options });

  const listRunEvents = (
    runId: string,
    query: QueryOf<'GET /api/runs/{id}/events'> = {},
    options?: CallOptions,
  ) => send('GET /api/runs/{id}/events', [runId], { query, options });

  return {
    /** A token for a page that follows one run. It expires after `expires_in` seconds (default: 300). */
    createStreamToken: (
      runId: string,
      body: BodyOf<'POST /api/runs/{id}/stream-token'> = {},
      options?: CallOptions,
    ) => send('POST /api/runs/{id}/stream-token', [runId], { body, options }),
    /** One page of runs, newest first. */
    listRuns,
    /** One page of a workflow's runs, newest first. */
    listWorkflowRuns,
    /** One page of the frames of a run's stream, oldest first. */
    listRunEvents,

    /** All runs, newest first: `for await (const run of client.runs({status: 'failed'}))`. */
    runs: (query: Omit<RunQuery, 'cursor'> = {}): AsyncGenerator<ListedRun, void> =>
      byCursor(
        (cursor) => listRuns({ ...query, cursor }),
        (page) => page.runs,
      ),
    /** The matching runs, newest first, as the text of a file: CSV with a header row, or one JSON object per line. */
    exportRuns: async (
      query: Omit<RunQuery, 'cursor' | 'limit'> = {},
      format: 'csv' | 'ndjson' = 'csv',
      options?: CallOptions,
    ): Promise<string> =>
      String(
        (await send('GET /api/runs/export', [], {
          query: { ...sent(query), format },
          options: { timeout: EXPORT_SECONDS, ...options },
        })) as unknown,
      ),
    /** The evidence of a run as the text of a file: one JSON object per line. `ops evidence verify` verifies it. */
    exportEvidence: async (
      runId: string,
      { contents = false, ...options }: CallOptions & { contents?: boolean } = {},
    ): Promise<string> =>
      String(
        (await send('GET /api/runs/{id}/evidence', [runId], {
          query: { contents: contents ? 'true' : 'false' },
          options: { timeout: EXPORT_SECONDS, ...options },
        })) as unknown,
      ),
    /** All runs of a workflow, newest first. */
    workflowRuns: (
      workflowId: string,
      query: Omit<RunsQuery<'GET /api/workflows/{id}/runs'>, 'cursor'> = {},
    ): AsyncGenerator<ListedRun, void> =>
      byCursor(
        (cursor) => listWorkflowRuns(workflowId, { ...query, cursor }),
        (page) => page.runs,
      ),

    /** All frames of a run's stream so far, oldest first; with `after`, those with a higher number. */
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

/** Filters of the list of runs, saved under a name. */
function viewMethods(send: Send) {
  return {
    /** Your views, by name. */
    listRunViews: async (options?: CallOptions): Promise<RunView[]> =>
      (await send('GET /api/run-views', [], { options })).views,
    /** `filter` is the query of `GET /api/runs`, such as `status=failed&min_cost_usd=2`. */
    saveRunView: (name: string, filter: string, options?: CallOptions): Promise<RunView> =>
      send('PUT /api/run-views/{name}', [name], { body: { filter }, options }),
    removeRunView: (name: string, options?: CallOptions): Promise<void> =>
      send('DELETE /api/run-views/{name}', [name], { options }),
  };
}

function stepMethods(send: Send) {
  const listRunSteps = (
    runId: string,
    query: QueryOf<'GET /api/runs/{id}/steps'> = {},
    options?: CallOptions,
  ) => send('GET /api/runs/{id}/steps', [runId], { query, options });

  return {
    /** One page of a run's steps: those outside of loops and maps, then those in them. */
    listRunSteps,
    /** All steps of a run, even if there are more than its record contains. */
    runSteps: (
      runId: string,
      query: Omit<QueryOf<'GET /api/runs/{id}/steps'>, 'cursor'> = {},
    ): AsyncGenerator<Step, void> =>
      byCursor(
        (cursor) => listRunSteps(runId, { ...query, cursor }),
        (page) => page.steps,
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

/** What a run would do, without starting it. */
function dryRunMethods(send: Send) {
  return {
    /** What a run of the workflow with this id would do. Without an input, what any run could do. */
    dryRun: (
      workflowId: string,
      input?: JsonObject,
      { version, draft, ...options }: DryRunOptions = {},
    ): Promise<DryRun> =>
      send('POST /api/workflows/{id}/dry-run', [workflowId], {
        body: { input, version, draft },
        options,
      }),
  };
}

/** Runs that start from another run. */
function forkMethods(send: Send) {
  return {
    /**
     * Starts a run with the same input and version, unless others are given. With mode `recorded`, it is a rehearsal:
     * steps take their results from the record, and nothing has an effect.
     */
    rerun: (runId: string, given: RerunOptions = {}): Promise<Fork> => {
      const { body, headers, options } = startOf(given);
      return send('POST /api/runs/{id}/rerun', [runId], { body, headers, options });
    },
    /** Starts a run from a step, and reuses what was finished before it. With mode `recorded`, it is a rehearsal. */
    fork: (runId: string, fromStep: string, given: ForkOptions = {}): Promise<Fork> => {
      const { state, ...rest } = given;
      const { body, headers, options } = startOf(rest);
      return send('POST /api/runs/{id}/fork', [runId], {
        body: { from_step: fromStep, state, ...body },
        headers,
        options,
      });
    },
  };
}

/** The body and headers of a request that starts a run from another run. */
function startOf(given: RerunOptions) {
  const { input, version, draft, mode, allow, failures, decisions, pins, ...options } = given;
  return {
    body: { input, version, draft, mode, allow, failures, decisions, pins },
    ...onceOf(options),
  };
}
