import { expect } from '@jest/globals';
import type { Stage } from '#test/console/browser.ts';

/** Starts a run of a workflow with one agent, `triage`, whose mock model plays these turns. */
export async function startAgent(
  { call }: Stage,
  turns: unknown[],
  tools: unknown[] = [{ name: 'json_transform', approval: 'always' }],
): Promise<string> {
  const triage = {
    id: 'triage',
    kind: 'agent',
    label: 'Triage',
    system_prompt: 'You handle tickets',
    prompt: 'Handle <b>this</b> ticket',
    tools,
    mock: { turns },
  };
  const graph = { nodes: [triage], edges: [] };
  const workflow = await call('POST', '/api/workflows', { name: 'Tickets', graph });
  expect(workflow).toMatchObject({ status: 201 });
  const run = await call('POST', `/api/workflows/${workflow.body.id}/runs`, {});
  expect(run).toMatchObject({ status: 201 });
  return run.body.id;
}

/** A turn that calls `json_transform` once with each expression. */
export const turnOf = (...expressions: string[]) => ({
  calls: expressions.map((expression) => ({ tool: 'json_transform', arguments: { expression } })),
  cost_usd: 0.01,
});
