import { request, Agent } from 'undici';
import type { Client } from '@temporalio/client';
import { WebSocket } from 'ws';
import type { GraphInput } from '../shared/contract/graph.ts';
import type { Run } from '../shared/contract/run.ts';
import type { StreamFrame } from '../shared/contract/stream.ts';

/** Our service as its users see it: over HTTP and its WebSocket. */
export interface Service {
  define(name: string, graph: GraphInput): Promise<string>;
  trigger(workflowId: string): Promise<string>;
  /** The same as a tool of `/api/mcp`, over the same connections. */
  triggerAsTool(workflowId: string): Promise<string>;
  read(runId: string): Promise<Run>;
  approve(runId: string): Promise<void>;
  /** Resolves with the frame that says so, or at once when it is so already. */
  until(runId: string, what: 'ended' | 'paused', timeoutMs?: number): Promise<void>;
  /** Triggers a run and awaits its good end; returns its id. */
  run(workflowId: string): Promise<string>;
  /** A budget of one workflow that is never used up, with an estimate; returns its id. */
  budget(workflowId: string): Promise<string>;
  removeBudget(budgetId: string): Promise<void>;
  /** Deletes a workflow with its runs. */
  remove(workflowId: string): Promise<void>;
  /** Events in the histories of a run's executions; a resumed run has several. */
  historyEvents(runId: string): Promise<number>;
}

/** Several times what a run of a few steps takes. */
const SILENCE_MS = 100;

const terminal = new Set<StreamFrame['type']>(['run_completed', 'run_failed']);

type Call = <T>(method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown) => Promise<T>;

export function serviceClient(url: string, temporal: Client): Service {
  const call = createCall(url);
  const read: Service['read'] = (runId) => call<Run>('GET', `/api/runs/${runId}`);
  const until = createUntil(url, read);
  const trigger: Service['trigger'] = async (workflowId) => {
    const { run_id } = await call<Run>('POST', `/api/workflows/${workflowId}/runs`, {});
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
      countEvents(temporal, runId, (await read(runId)).temporal.run_id ?? undefined),
  };
}

/** Calls the API over connections that stay open; throws for an answer of 300 or more. */
function createCall(url: string): Call {
  const dispatcher = new Agent({ connections: 64, keepAliveTimeout: 60_000 });
  return async <T>(method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown) => {
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
 * The stream sends events from after its connection. Earlier ones are read once, after a silence on the stream: the
 * baseline's client makes no such read, and most runs end sooner.
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
      let look: NodeJS.Timeout | undefined;
      // Not before: what comes between an earlier read and the stream would be seen by neither.
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

/** Events of this execution and of those that it continues. */
async function countEvents(
  temporal: Client,
  workflowId: string,
  execution: string | undefined,
): Promise<number> {
  let events = 0;
  let next = execution;
  // A continued execution names the one before it in its first event.
  while (next !== undefined && next !== '') {
    const history = await temporal.workflow.getHandle(workflowId, next).fetchHistory();
    events += history.events?.length ?? 0;
    next =
      history.events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId ??
      undefined;
  }
  return events;
}
