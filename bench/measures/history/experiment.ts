import { createCall } from '#bench/api-client.ts';
import { chained, waitingAgent } from '#bench/graphs.ts';
import { atMost, compare, type Result, single } from '#bench/result.ts';
import type { Stack } from '#bench/stack.ts';
import { flood, pause, timed } from '#bench/statistics.ts';

const runs = 500;
const ids = Array.from({ length: 10 }, (_, at) => `n${at + 1}`);
const inFlight = 20;
const MAX_SECONDS = 60;
const MAX_PAGE_MS = 1_000;

/** A computed step, then nine agents whose answers come from the record, even when the first step has changed. */
const graph = (expression: string) => ({
  nodes: [
    { id: 'n1', kind: 'tool', tool_name: 'json_transform', params: { expression } } as const,
    ...ids.slice(1).map((id) => waitingAgent(id, 1)),
  ],
  edges: chained(ids),
});

interface Page {
  status: string;
  summary: { equal: number };
}

/**
 * An experiment over 500 runs of ten steps with a draft that changes the first step, so that none of the others is
 * known in advance. Then one page of its results.
 */
export async function experiment({ service, apiUrl }: Stack): Promise<Result[]> {
  const call = createCall(apiUrl);
  const workflowId = await service.define('Tried', graph('1'));
  await flood(runs, inFlight, () => service.run(workflowId));
  await call('PUT', `/api/workflows/${workflowId}/draft`, { graph: graph('0 + 1') });
  const read = (id: string, limit: number) =>
    call<Page>('GET', `/api/experiments/${id}?limit=${limit}`);
  let id = '';
  let last: Page | undefined;
  const ms = await timed(async () => {
    const body = { candidate: 'draft', runs: { last: runs } };
    ({ id } = await call<{ id: string }>('POST', `/api/workflows/${workflowId}/experiments`, body));
    do {
      await pause(500);
      last = await read(id, 1);
    } while (last.status === 'running');
  });
  if (last?.summary.equal !== runs) {
    throw new Error(`the experiment is ${last?.status}, with ${JSON.stringify(last?.summary)}`);
  }
  const pageMs = await timed(() => read(id, 200));
  return [
    compare({
      measure: `experiment over ${runs} runs of ${ids.length} steps`,
      unit: 's',
      ours: single(ms / 1_000),
      bound: atMost(MAX_SECONDS),
    }),
    compare({
      measure: 'page of 200 runs of its result',
      unit: 'ms',
      ours: single(pageMs),
      bound: atMost(MAX_PAGE_MS),
    }),
  ];
}
