import { request, Agent } from 'undici';
import type { Client } from '@temporalio/client';
import { WebSocket } from 'ws';
import type { GraphInput } from '#shared/contract/workflows/graph.ts';
import type { Run } from '#shared/contract/runs/run.ts';
import type { JsonObject } from '#shared/json.ts';
import type { StreamFrame } from '#shared/contract/runs/stream.ts';

/** The service as users call it: over HTTP and its WebSocket. */
export interface Service {
  define(name: string, graph: GraphInput): Promise<string>;
  trigger(workflowId: string, input?: JsonObject): Promise<string>;
  /** Like `trigger`, as a tool call of `/api/mcp` over the same connections. */
  triggerAsTool(workflowId: string): Promise<string>;
  read(runId: string): Promise<Run>;
  approve(runId: string): Promise<void>;
  /** Resolves with the frame that reports it, or immediately if it is already true. */
  until(runId: string, what: 'ended' | 'paused', timeoutMs?: number): Promise<void>;
  /** Triggers a run and waits for its success; returns its id. */
  run(workflowId: string): Promise<string>;
  /** Creates a budget for one workflow, with an estimate, too large to exhaust; returns its id. */
  budget(workflowId: string): Promise<string>;
  removeBudget(budgetId: string): Promise<void>;
  /** Deletes a workflow with its runs. */
  remove(workflowId: string): Promise<void>;
  /** Events in the histories of all executions of a run; a resumed run has several. */
  historyEvents(runId: string): Promise<number>;
  /** Events in the longest history of its executions. */
  longestHistory(runId: string): Promise<number>;
}

/** Several times the duration of a run with a few steps. */
const SILENCE_MS = 100;

const terminal = new Set<StreamFrame['type']>(['run_completed', 'run_failed']);

export type Call = <T>(
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  body?: unknown,
) => Promise<T>;

export function serviceClient(url: string, temporal: Client): Service {
  const call = createCall(url);
  const read: Service['read'] = (runId) => call<Run>('GET', `/api/runs/${runId}`);
  const until = createUntil(url, read);
  const newestOf = async (runId: string) => (await read(runId)).temporal.run_id ?? undefined;
  const trigger: Service['trigger'] = async (workflowId, input = {}) => {
    const path = `/api/workflows/${workflowId}/runs`;
    const { run_id } = await call<Run>('POST', path, input);
    return run_id;
  };
  return {
    ...definitions(call),
    trigger,
    triggerAsTool: async (workflow) => {
      const { result } = await call<{ result: { structuredContent: { id: string } } }>(
        'POST',
        '/api/mcp',
        {
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name: 'run_workflow', arguments: { workflow } },
        },
      );
      return result.structuredContent.id;
    },
    read,
    until,
    approve: async (runId) => {
      await call('POST', `/api/runs/${runId}/approve`, {});
    },
    run: async (workflowId) => {
      const runId = await trigger(workflowId);
      await until(runId, 'ended');
      return runId;
    },
    historyEvents: async (runId) =>
      sumOf(await eventCounts(temporal, runId, await newestOf(runId))),
    longestHistory: async (runId) =>
      Math.max(...(await eventCounts(temporal, runId, await newestOf(runId)))),
  };
}

/** Calls the API over keep-alive connections; throws for a status of 300 or more. */
export function createCall(url: string): Call {
  const dispatcher = new Agent({ connections: 64, keepAliveTimeout: 60_000 });
  return async <T>(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown) => {
    const response = await request(`${url}${path}`, {
      dispatcher,
      method,
      ...(body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    const text = await response.body.text();
    if (response.statusCode >= 300) {
      throw new Error(`${method} ${path} answered ${response.statusCode}: ${text}`);
    }
    return (text === '' ? undefined : JSON.parse(text)) as T;
  };
}

function definitions(call: Call): Pick<Service, 'define' | 'budget' | 'removeBudget' | 'remove'> {
  return {
    define: async (name, graph) => {
      const { id } = await call<{ id: string }>('POST', '/api/workflows', { name, graph });
      return id;
    },
    budget: async (workflowId) => {
      const { id } = await call<{ id: string }>('POST', '/api/budgets', {
        name: 'Bench',
        scope: 'workflow',
        workflow_id: workflowId,
        limit_usd: 1_000_000,
        reservation_estimate_usd: 0.01,
      });
      return id;
    },
    removeBudget: async (budgetId) => call('DELETE', `/api/budgets/${budgetId}`),
    remove: async (workflowId) => call('DELETE', `/api/workflows/${workflowId}`),
  };
}

/**
 * The stream only sends events after its connection. To find earlier ones, the run is read once when the stream has
 * been silent. The baseline's client does not do this, and most runs end sooner.
 */
function createUntil(url: string, read: Service['read']): Service['until'] {
  return (runId, what, timeoutMs = 120_000) =>
    new Promise((resolve, reject) => {
      const socket = new WebSocket(`${url.replace('http', 'ws')}/api/runs/${runId}/stream`, {
        perMessageDeflate: false,
      });
      const end = (error?: unknown): void => {
        clearTimeout(timer);
        clearTimeout(look);
        socket.close();
        if (error === undefined) resolve();
        else reject(error instanceof Error ? error : new Error(JSON.stringify(error)));
      };
      const timer = setTimeout(
        () => end(new Error(`run ${runId} was not ${what} within ${timeoutMs} ms`)),
        timeoutMs,
      );
      const failed = (error: string | null): Error =>
        new Error(`run ${runId} failed: ${error ?? ''}`);
      socket.on('error', end);
      socket.on('close', (code) =>
        end(new Error(`the stream of ${runId} was closed with ${code}`)),
      );
      let look: NodeJS.Timeout | undefined;
      // An earlier read would miss events between the read and the start of the stream.
      socket.on('open', () => {
        look = setTimeout(() => {
          read(runId).then((run) => {
            if (run.status === 'failed') end(failed(run.error));
            else if (run.status === (what === 'ended' ? 'success' : 'paused')) end();
          }, end);
        }, SILENCE_MS);
      });
      socket.on('message', (data: Buffer) => {
        const frame = JSON.parse(data.toString('utf8')) as StreamFrame;
        if (frame.type === 'run_failed') end(failed(frame.error));
        else if (what === 'ended' ? terminal.has(frame.type) : frame.type === 'run_paused') end();
      });
    });
}

/** Counts the events of this execution and of those that it continues. */
const sumOf = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0);

/** Of each execution, newest first. */
async function eventCounts(
  temporal: Client,
  workflowId: string,
  execution: string | undefined,
): Promise<number[]> {
  const counts: number[] = [];
  let next = execution;
  // The first event of a continued execution names the previous execution.
  while (next !== undefined && next !== '') {
    const history = await temporal.workflow.getHandle(workflowId, next).fetchHistory();
    counts.push(history.events?.length ?? 0);
    next =
      history.events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId ??
      undefined;
  }
  return counts;
}
