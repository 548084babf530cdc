import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { sql } from '../../shared/db/pool.ts';
import { rememberSignature } from '../../shared/db/webhooks.ts';
import { eventually } from '../support/engine.ts';
import { oneStep, startTestApi, type TestApi } from './test-api.ts';

// What is written about something that is deleted at the same moment: its foreign key waits for the deletion.

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(async () => api.stop());

const create = async (path: string, body: object) => (await api.call('POST', path, body)).body.id;
const newWorkflow = () => create('/api/workflows', { name: 'x', graph: oneStep });

/** Sessions of this test's database that wait for a lock. */
const waiting = (): Promise<number> =>
  api.db.oneFirst(sql.type(z.object({ n: z.number() }))`
    SELECT count(*) AS n FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`);

/** Begins to delete the row, lets the act wait for it, and commits. */
async function whileDeleted<T>(table: string, id: string, act: () => Promise<T>): Promise<T> {
  const held = Promise.withResolvers<undefined>();
  const release = Promise.withResolvers<undefined>();
  const deletion = api.db.transaction(async (tx) => {
    await tx.query(sql.type(z.object({}))`
      DELETE FROM ${sql.identifier([table])} WHERE id = ${id}`);
    held.resolve(undefined);
    await release.promise;
  });
  await held.promise;
  const acted = act();
  await eventually(async () => (await waiting()) > 0);
  release.resolve(undefined);
  await deletion;
  return acted;
}

// Nothing is reserved in a budget without an estimate, so triggers do not wait for each other there.
test('a run is admitted while a budget without an estimate is deleted', async () => {
  const workflowId = await newWorkflow();
  const gone = await create('/api/budgets', { name: 'Gone', limit_usd: 1 });
  const kept = await create('/api/budgets', { name: 'Kept', limit_usd: 1 });
  const { status, body } = await whileDeleted('budgets', gone, () =>
    api.call('POST', `/api/workflows/${workflowId}/runs`, {}),
  );
  expect([status, body.status]).toEqual([201, 'pending']);
  const holds = await api.db.anyFirst(sql.type(z.object({ budget_id: z.string() }))`
    SELECT budget_id FROM budget_holds WHERE run_id = ${body.id}`);
  expect(holds).toEqual([kept]);
});

test('a budget is refused while its workflow is deleted', async () => {
  const workflowId = await newWorkflow();
  const body = { name: 'B', limit_usd: 1, scope: 'workflow', workflow_id: workflowId };
  const answer = await whileDeleted('workflows', workflowId, () =>
    api.call('POST', '/api/budgets', body),
  );
  expect([answer.status, answer.body]).toEqual([404, { detail: 'Workflow not found' }]);
});

test('the signature of an event is not remembered while its workflow is deleted', async () => {
  const workflowId = await newWorkflow();
  const mark = { hash: Buffer.alloc(32), signedAt: 1 };
  await whileDeleted('workflows', workflowId, () =>
    rememberSignature(api.db, workflowId, mark, 'run_x'),
  );
  const remembered = await api.db.oneFirst(sql.type(z.object({ n: z.number() }))`
    SELECT count(*) AS n FROM webhook_signatures WHERE workflow_id = ${workflowId}`);
  expect(remembered).toBe(0);
});
