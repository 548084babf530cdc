import { beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { newId } from '../../shared/crypto/ids.ts';
import { sql } from '../../shared/db/pool.ts';
import { decideGate } from '../../shared/operations/runs/runs.ts';
import { obstacles } from './axe.ts';
import { describeConsole, type Stage } from './browser.ts';

describeConsole('a gate with rules and an input schema', (given) => {
  let stage: Stage;
  beforeAll(() => {
    stage = given();
  });

  /** Another member, who has already approved. */
  async function approvedByAnother(runId: string): Promise<void> {
    const { actor, db, deps } = stage.engine;
    const id = newId('member');
    await db.query(sql.type(z.object({}))`
      INSERT INTO members (id, workspace_id, name, email, role, status)
      VALUES (${id}, ${actor.workspaceId}, 'Ben', ${`${id}@example.com`}, 'editor', 'active')`);
    const ben = { ...actor, id, name: 'Ben' };
    await decideGate(deps, { actor: ben, runId, approved: true, input: { amount: 4 } });
  }

  test('is a form that shows who has approved, and where an input does not fit', async () => {
    const node = {
      ...{ id: 'release', kind: 'human_gate', prompt: 'Release the payment?', required: 3 },
      ...{ timeout_seconds: 3600, on_timeout: 'reject' },
      input_schema: {
        type: 'object',
        required: ['amount'],
        properties: {
          amount: { type: 'integer', title: 'Amount', description: 'In euros', maximum: 100 },
          method: { enum: ['card', 'bank'], default: 'bank' },
          urgent: { type: 'boolean' },
        },
      },
    };
    const workflowId = await stage.engine.define({ nodes: [node as never], edges: [] });
    const runId = await stage.engine.trigger(workflowId);
    await stage.engine.until(runId, ['paused']);
    await approvedByAnother(runId);
    const { page, context, problems } = await stage.open(`/runs/${runId}`);
    const rules = page.getByRole('group', { name: 'Approval rules' });
    await rules.getByText('1 of 3 approved').waitFor();
    await rules.getByText('Approved by Ben').waitFor();
    await rules.getByText(/^Deadline .* then the gate is rejected\.$/).waitFor();

    await page.getByRole('button', { name: 'Approve' }).click();
    const form = page.getByRole('form', { name: 'Approve' });
    await form.getByText('The run continues after 2 more approvals, including yours.').waitFor();
    await form.getByLabel('Amount').hover();
    expect(await obstacles(page)).toEqual([]);
    expect(await form.getByLabel('method').inputValue()).toBe('1');
    await form.getByRole('button', { name: 'Send approval' }).click();
    await form.getByText('This field is required').waitFor();
    await form.getByLabel('Amount').fill('101');
    await form.getByRole('button', { name: 'Send approval' }).click();
    await form.getByText('amount must be <= 100', { exact: true }).waitFor();
    await form.getByLabel('Amount').fill('7');
    await form.getByLabel('urgent').check();
    await form.getByRole('button', { name: 'Send approval' }).click();
    await rules.getByText('2 of 3 approved').waitFor();
    expect((await stage.engine.run(runId)).pending_gate?.decisions?.[1]).toMatchObject({
      input: { amount: 7, method: 'bank', urgent: true },
    });
    // The two refusals.
    expect(problems.filter((problem) => !problem.includes('400'))).toEqual([]);
    await context.close();
  });
});
