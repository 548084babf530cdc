import { chain, edge } from '#test/support/engine.ts';
import type { Outside, Service } from './drill.ts';

/** The kinds of states in which the runs of a drill are open, and the tools that each run calls until its end. */
export const states = {
  gate: ['before', 'after'],
  delay: ['before', 'after'],
  event: ['before', 'after'],
  callback: ['before', 'after'],
  retry: ['before', 'middle', 'after'],
  queue: ['middle', 'after'],
  child: ['before', 'after'],
  map: ['before', 'middle#1', 'middle#2', 'middle#3', 'after'],
} as const;
export type State = keyof typeof states;

export interface DrillRun {
  id: string;
  n: number;
  state: State;
}

const BUSY = { max_attempts: 100, initial_interval_seconds: 0.5, backoff: 1 };

/** The graph of each state. `url`: of the outside. */
function graphs(url: string): Record<State, object> {
  const call = (id: string, path = 'calm', body: object = {}) => ({
    ...{ id, kind: 'tool', tool_name: 'http_request' },
    params: { url: `${url}/${path}`, method: 'POST', body: { n: '{n}', ...body } },
    ...(path === 'busy' ? { retry: BUSY } : { retry: { max_attempts: 5 } }),
  });
  const between = (...middle: { id: string }[]) => chain(call('before'), ...middle, call('after'));
  const gate = { id: 'gate', kind: 'human_gate' };
  return {
    gate: between(gate),
    delay: between({
      id: 'rest',
      kind: 'tool',
      tool_name: 'delay',
      params: { seconds: 20 },
    } as never),
    event: between({
      ...{ id: 'paid', kind: 'wait' },
      event: { name: 'paid', match: 'event.data.n == n' },
    } as never),
    callback: chain(
      call('before', 'calm', { notify: '{callbacks.answer}' }),
      { id: 'answer', kind: 'wait', callback: true },
      call('after'),
    ),
    retry: between(call('middle', 'busy')),
    queue: chain(call('middle', 'busy'), call('after')),
    child: between({
      id: 'sub',
      kind: 'workflow',
      workflow: 'Drill: gate',
      input: { n: '{n}' },
    } as never),
    map: {
      nodes: [
        call('before'),
        { id: 'map', kind: 'map', items: 'list' },
        call('middle', 'busy'),
        call('after'),
      ],
      edges: [
        edge('before', 'map'),
        edge('map', 'middle', 'true'),
        edge('middle', 'map'),
        edge('map', 'after', 'false'),
      ],
    },
  };
}

/** Starts `each` runs in each state. */
export async function startRuns(
  service: Service,
  outside: Outside,
  each: number,
): Promise<DrillRun[]> {
  const runs: DrillRun[] = [];
  for (const [state, graph] of Object.entries(graphs(outside.url))) {
    const created = await service.ask<{ id: string }>('POST', '/workflows', {
      name: `Drill: ${state}`,
      graph,
    });
    if (created.status !== 201) throw new Error(JSON.stringify(created.body));
    const workflow = `/workflows/${created.body.id}`;
    if (state === 'queue') {
      const limits = { concurrency: { limit: 5, on_limit: 'queue' } };
      const set = await service.ask('PUT', `${workflow}/limits`, limits);
      if (set.status !== 200) throw new Error(JSON.stringify(set.body));
    }
    for (let i = 0; i < each; i += 1) {
      const n = runs.length;
      const input = { n, list: [1, 2, 3] };
      const { status, body } = await service.ask<{ id: string }>('POST', `${workflow}/runs`, input);
      if (status !== 201) throw new Error(JSON.stringify(body));
      runs.push({ id: body.id, n, state: state as State });
    }
  }
  return runs;
}

/** Gives runs what they wait for: decisions, events and callbacks. A part of it can have come before. */
export async function giveWhatTheyWaitFor(
  service: Service,
  outside: Outside,
  runs: readonly DrillRun[],
): Promise<void> {
  const waiting = await service.query<{ run_id: string }>(
    "SELECT run_id FROM run_waits WHERE status = 'open'",
  );
  const waits = new Set(waiting.map(({ run_id }) => run_id));
  const paused = await service.query<{ id: string; root: string }>(
    "SELECT id, coalesce(parent_run_id, id) AS root FROM runs WHERE status = 'paused'",
  );
  const given = new Set(runs.map(({ id }) => id));
  for (const { id, root } of paused) {
    if (given.has(root)) await service.ask('POST', `/runs/${id}/approve`, { approved: true });
  }
  for (const { id, n, state } of runs) {
    if (!waits.has(id)) continue;
    if (state === 'event') await service.ask('POST', '/events', { name: 'paid', data: { n } });
    const path = outside.callbacks.get(n);
    if (state === 'callback' && path !== undefined) {
      await service.ask('POST', path.replace('/api', ''), { ok: true });
    }
  }
}
