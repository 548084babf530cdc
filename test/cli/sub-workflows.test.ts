import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Service, startService } from '#test/support/served-api.ts';
import { createOps, type Ops } from './ops.ts';

let service: Service;
let ops: Ops;
beforeAll(async () => {
  service = await startService();
  ops = await createOps({ OPS_API_URL: service.apiUrl });
  await apply('Child', { id: 'paid', kind: 'agent', mock: { output: 'yes', cost_usd: 0.25 } });
  await apply('Parent', { id: 'sub', kind: 'workflow', workflow: 'Child' });
});
afterAll(() => service.close());

async function apply(name: string, node: object): Promise<void> {
  const file = join(ops.configFolder, `${name}.json`);
  await writeFile(file, JSON.stringify({ name, graph: { nodes: [node], edges: [] } }));
  expect(await ops(['workflows', 'apply', '-f', file])).toMatchObject({ code: 0 });
}

const get = async (path: string): Promise<any> => (await fetch(`${service.apiUrl}${path}`)).json();

test('the runs that a run started are shown and listed, by every interface', async () => {
  const started = await ops(['run', 'Parent', '--wait', '-o', 'json']);
  expect(started.code).toBe(0);
  const parent = started.json() as any;
  const shown = (await ops(['runs', 'show', parent.id, '-o', 'table'])).stdout;
  const [{ child_run_id: childId }] = parent.steps;
  expect(shown).toContain(childId);
  expect(shown).toMatch(/children_cost.*0\.25/);
  const listed = await ops(['runs', 'list', '--parent', parent.id, '-o', 'json']);
  expect((listed.json() as any[]).map(({ id }) => id)).toEqual([childId]);
  expect((await ops(['runs', 'show', childId, '-o', 'table'])).stdout).toContain(
    `${parent.id}, step sub`,
  );

  const { workflow_id: child } = await get(`/api/runs/${childId}`);
  const ofChild = await get(`/api/workflows/${child}/runs?parent_run_id=${parent.id}`);
  expect(ofChild.runs).toMatchObject([{ id: childId, trigger: 'workflow' }]);
  expect((await get(`/api/workflows/${child}/runs?parent_run_id=${childId}`)).runs).toEqual([]);
  expect((await get('/api/runs?trigger=workflow')).runs).toMatchObject([{ id: childId }]);

  const answer = await fetch(`${service.apiUrl}/api/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
      params: { name: 'list_runs', arguments: { parent_run_id: parent.id } },
    }),
  });
  const { result } = (await answer.json()) as any;
  expect(result.structuredContent.runs).toMatchObject([{ id: childId, parent_step_key: 'sub' }]);
});
