import { beforeAll, expect, test } from '@jest/globals';
import { obstacles } from './axe.ts';
import { describeConsole, personOf, type Stage } from './browser.ts';
import { startAgent, turnOf } from './runs/agent-runs.ts';

describeConsole('decided approvals', (given) => {
  let stage: Stage;
  beforeAll(() => {
    stage = given();
  });

  test('are a tab beside those that wait, with who decided, when and how', async () => {
    const runId = await startAgent(stage, [turnOf('20 + 1'), { output: 'done' }]);
    await stage.engine.until(runId, ['paused']);
    const { page, context, problems } = await stage.open(`/approvals/${runId}/triage`);
    const tabs = page.getByRole('navigation', { name: 'Approvals' });
    await tabs.getByRole('link', { name: 'Decided' }).click();
    await page.getByText('No decisions yet').waitFor();
    await tabs.getByRole('link', { name: 'Waiting' }).click();

    const form = page.getByRole('form', { name: 'Decision' });
    await form.getByRole('button', { name: 'Edit expression' }).click();
    await page.keyboard.type('6 * 7');
    await form.getByLabel('Reason').fill('rounded');
    await form.getByRole('button', { name: 'Approve with 1 change' }).click();
    await page.getByRole('button', { name: 'Send now' }).click();
    await stage.engine.until(runId, ['success']);
    // The page of the gate says that it was the reader, and what they changed.
    await page.getByText('You approved this with 1 change').waitFor();
    const changes = page.getByRole('group', { name: 'Changes' });
    await changes.locator('del').getByText('"20 + 1"').waitFor();
    await changes.locator('ins').getByText('"6 * 7"').waitFor();
    expect(await obstacles(page)).toEqual([]);

    await tabs.getByRole('link', { name: 'Decided' }).click();
    const row = page.getByRole('row').filter({ hasText: 'json_transform' });
    await row.getByText('Approved with changes').waitFor();
    await row.getByText('Owner (you)').waitFor();
    await row.getByText('rounded').waitFor();
    expect(await obstacles(page)).toEqual([]);
    await row.getByRole('link', { name: 'json_transform' }).click();
    await page.getByText('You approved this with 1 change').waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });

  test('name another decider on the page of the gate', async () => {
    const runId = await startAgent(stage, [turnOf('1'), { output: 'done' }]);
    await stage.engine.until(runId, ['paused']);
    const { digest } = (await stage.call('GET', `/api/runs/${runId}/gates/triage%2F1.1`)).body;
    const ann = await personOf(stage, { name: 'Ann', role: 'editor' });
    const answer = { step_key: 'triage/1.1', approved: false, digest };
    const decided = await stage.call('POST', `/api/runs/${runId}/approve`, answer, ann.token);
    expect(decided.status).toBe(200);
    const { page, context } = await stage.open(`/approvals/${runId}/triage?step=triage%2F1.1`);
    await page.getByText('Already rejected').waitFor();
    await page.getByText(/^Decided by Ann/).waitFor();
    await context.close();
  });
});
