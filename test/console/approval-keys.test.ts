import { beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { describeConsole, type Stage } from './browser.ts';
import { startAgent, turnOf } from './runs/agent-runs.ts';

describeConsole('approvals by keyboard', (given) => {
  let stage: Stage;
  beforeAll(() => {
    stage = given();
  });

  const form = (page: Page) => page.getByRole('form', { name: 'Decision' });
  const undoBar = (page: Page) => page.getByRole('group', { name: 'Decision not sent yet' });
  /** The name of the field or button with the focus. */
  const focused = (page: Page): Promise<string> =>
    page.evaluate(
      `(() => { const { activeElement: at } = document;
        return at.getAttribute('aria-label') ?? at.labels?.[0]?.textContent ?? at.textContent; })()`,
    );
  const focusIsOn = (page: Page, selector: string) =>
    page.locator(`${selector}:focus`).first().waitFor();
  const agentAsks = async (...expressions: string[]): Promise<string> => {
    const runId = await startAgent(stage, [turnOf(...expressions), { output: 'done' }]);
    await stage.engine.until(runId, ['paused']);
    return runId;
  };
  const decisionOf = async (runId: string, stepKey: string) =>
    (await stage.engine.run(runId)).steps.find(({ step_key }) => step_key === stepKey)?.decision;

  test('reject with a reason in four keys and its text, and never approve from the reason', async () => {
    const runId = await agentAsks('20 + 1', '2 + 2');
    const { page, context, problems } = await stage.open(`/approvals/${runId}/triage`);
    await page.getByLabel('the arguments of json_transform').getByText('20 + 1').waitFor();

    // A text alone does not say which answer it is for.
    await form(page).getByLabel('Reason').fill('Wrong amount');
    await page.keyboard.press('Control+Enter');
    await form(page).getByText('Optional. The agent reads the reason of a rejection.').waitFor();
    await page.keyboard.press('Escape');

    await page.keyboard.press('r');
    expect(await focused(page)).toBe('Reason');
    await form(page).getByText('Ctrl+Enter rejects with this reason.').waitFor();
    await page.keyboard.press('End');
    await page.keyboard.type(': see the invoice');
    await page.keyboard.press('Control+Enter');
    // The next call is selected, and the first can still be undone.
    await page.getByLabel('the arguments of json_transform').getByText('2 + 2').waitFor();
    await undoBar(page).getByText('Rejected: json_transform').waitFor();
    const list = page.getByRole('navigation', { name: 'Pending approvals' });
    await list.getByText('Rejected', { exact: true }).waitFor();
    await page.keyboard.press('z');
    await page.getByLabel('the arguments of json_transform').getByText('20 + 1').waitFor();

    // Leaving the reason takes that back.
    await page.keyboard.press('r');
    await page.keyboard.press('Tab');
    await form(page).getByText('Optional. The agent reads the reason of a rejection.').waitFor();
    await form(page).getByLabel('Reason').press('Control+Enter');
    await page.keyboard.press('Escape');
    await page.keyboard.press('r');
    await page.keyboard.press('Control+Enter');
    await undoBar(page).getByRole('button', { name: 'Send now' }).click();
    await page.keyboard.press('a');
    await undoBar(page).getByRole('button', { name: 'Send now' }).click();
    await stage.engine.until(runId, ['success']);
    expect(await decisionOf(runId, 'triage/1.1')).toMatchObject({
      approved: false,
      reason: 'Wrong amount: see the invoice',
    });
    expect(await decisionOf(runId, 'triage/1.2')).toMatchObject({ approved: true, reason: null });
    expect(problems).toEqual([]);
    await context.close();
  });

  test('edit the arguments and approve from their fields, but not by Enter alone', async () => {
    const runId = await agentAsks('20 + 1');
    const { page, context, problems } = await stage.open(`/approvals/${runId}/triage`);
    await form(page).getByRole('button', { name: 'Edit arguments' }).waitFor();
    await page.keyboard.press('e');
    await focusIsOn(page, 'textarea');
    expect(await focused(page)).toMatch(/^expression/);
    await page.keyboard.press('Control+A');
    await page.keyboard.type('6 * 7');
    await page.keyboard.press('Control+Enter');
    await undoBar(page).waitFor();
    // What replaced the form has the focus, not the start of the page.
    expect(await focused(page)).toBe('Decision not sent yet');
    await page.keyboard.press('z');
    await form(page).waitFor();
    expect(await focused(page)).toBe('Gate json_transform');
    await page.keyboard.press('a');
    await undoBar(page).getByRole('button', { name: 'Send now' }).click();
    await stage.engine.until(runId, ['success']);
    await page.getByText(/^You approved this/).waitFor();
    await focusIsOn(page, ':not(body)');
    const { steps } = await stage.engine.run(runId);
    expect(steps.find(({ step_key }) => step_key === 'triage/1.1')).toMatchObject({ output: 42 });
    expect(problems).toEqual([]);
    await context.close();
  });

  test('fill in a form, whose single-line fields do not approve by Enter', async () => {
    const node = {
      ...{ id: 'pay', kind: 'human_gate', prompt: 'Pay?' },
      input_schema: {
        type: 'object',
        properties: { amount: { type: 'integer' }, until: { type: 'string', format: 'date' } },
      },
    };
    const runId = await stage.engine.trigger(
      await stage.engine.define({ nodes: [node as never], edges: [] }),
    );
    await stage.engine.until(runId, ['paused']);
    const { page, context, problems } = await stage.open(`/approvals/${runId}/pay`);
    await form(page).getByLabel('amount').waitFor();
    await page.keyboard.press('e');
    expect(await focused(page)).toMatch(/^amount/);
    await page.keyboard.type('7');
    await page.keyboard.press('Enter');
    await page.keyboard.type('1');
    // What follows from the input is on the screen.
    await form(page).locator('button:enabled', { hasText: 'Approve' }).waitFor();
    await page.keyboard.press('Control+Enter');
    await undoBar(page).getByRole('button', { name: 'Send now' }).click();
    await stage.engine.until(runId, ['success']);
    expect((await stage.engine.run(runId)).state).toMatchObject({ amount: 71 });
    expect(problems).toEqual([]);
    await context.close();
  });

  test('move the focus to what an action opens in the place of its button', async () => {
    const { engine } = stage;
    const node = { id: 'ask', kind: 'human_gate', prompt: 'Go on?' };
    const plain = await engine.trigger(await engine.define({ nodes: [node as never], edges: [] }));
    await engine.until(plain, ['paused']);
    const { page, context, problems } = await stage.open(`/approvals/${plain}/ask`);
    await form(page).getByRole('button', { name: 'Add input' }).press('Enter');
    await focusIsOn(page, '[contenteditable]');
    await stage.call('POST', `/api/runs/${plain}/cancel`);

    const runId = await agentAsks('20 + 1');
    await page.goto(`${stage.url}/approvals/${runId}/triage`);
    const press = (name: string) => form(page).getByRole('button', { name }).press('Enter');
    await press('Edit arguments');
    await focusIsOn(page, 'textarea');
    await press('Edit as JSON');
    await form(page).getByRole('textbox', { name: 'Arguments to send' }).waitFor();
    expect(await focused(page)).toBe('Edit as table');
    await press('Edit as table');
    await form(page).getByRole('textbox', { name: 'expression' }).waitFor();
    expect(await focused(page)).toBe('Edit as JSON');
    await press('Discard changes');
    await focusIsOn(page, 'button');
    expect(await focused(page)).toBe('Edit arguments');
    expect(problems).toEqual([]);
    await context.close();
    await stage.call('POST', `/api/runs/${runId}/cancel`);
  });

  test('are all on the sheet of shortcuts', async () => {
    const { page, context } = await stage.open('/approvals');
    await page.getByRole('heading', { name: 'Approvals', level: 1 }).waitFor();
    await page.keyboard.press('?');
    const sheet = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await sheet.getByText('Give a reason and reject').waitFor();
    const lines = (await sheet.innerText()).replaceAll(/\s+/g, ' ');
    for (const line of [
      'Edit the arguments or the input e',
      'Give a reason and reject r',
      'In a field of the form or the arguments: approve Ctrl Enter',
      'In the reason, after r: reject Ctrl Enter',
      'Leave a field Escape',
      'Undo the decision z',
    ]) {
      expect(lines).toContain(line);
    }
    await context.close();
  });
});
