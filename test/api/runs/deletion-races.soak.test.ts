import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { sql } from '#shared/db/pool.ts';
import { rememberSignature } from '#shared/db/inbound/webhooks.ts';
import { beside } from '#test/support/lock-waits.ts';
import { oneStep, useTestApi } from '#test/api/test-api.ts';

// Writes that refer to a row that is being deleted: the foreign key check waits for the deletion.

const api = useTestApi();

const create = async (path: string, body: object) => (await api.call('POST', path, body)).body.id;
const newWorkflow = () => create('/api/workflows', { name: 'x', graph: oneStep });

/** Deletes the row, waits until the action is blocked by it, and commits. */
const whileDeleted = <T>(table: string, id: string, act: () => Promise<T>): Promise<T> =>
  beside(api.db, sql.fragment`DELETE FROM ${sql.identifier([table])} WHERE id = ${id}`, act);

// A budget without an estimate reserves nothing, so triggers do not wait for each other there.
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

test('the signature of an event is not stored while its workflow is deleted', async () => {
  const workflowId = await newWorkflow();
  const mark = { hash: Buffer.alloc(32), signedAt: 1 };
  await whileDeleted('workflows', workflowId, () =>
    rememberSignature(api.db, workflowId, mark, 'run_x'),
  );
  const remembered = await api.db.oneFirst(sql.type(z.object({ n: z.number() }))`
    SELECT count(*) AS n FROM webhook_signatures WHERE workflow_id = ${workflowId}`);
  expect(remembered).toBe(0);
});
