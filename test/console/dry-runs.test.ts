import { beforeAll, expect, test } from '@jest/globals';
import { mock } from '#test/support/engine.ts';
import { soakTest } from '#test/support/soak.ts';
import { obstacles } from './axe.ts';
import { describeConsole, rewrite, type Stage } from './browser.ts';

describeConsole('the dry run in the console', (given) => {
  let stage: Stage;
  beforeAll(() => {
    stage = given();
  });

  async function define(name: string) {
    return stage.engine.define(
      {
        nodes: [
          { id: 'each', kind: 'map', items: 'orders' },
          mock('price', { cost_usd: 0.25, output: 1 }),
          { id: 'ok', kind: 'human_gate', label: 'Check the prices' },
          mock('post', { output: 1 }),
        ] as never,
        edges: [
          { source: 'each', target: 'price', condition_value: 'true' },
          { source: 'price', target: 'each' },
          { source: 'each', target: 'ok' },
          { source: 'ok', target: 'post', condition_value: 'true' },
        ],
      },
      name,
    );
  }

  test('bounds, gates and budgets follow the input, in the dialog that starts a run', async () => {
    const workflowId = await define('Price the orders');
    await stage.call('POST', '/api/budgets', {
      ...{ name: 'Tiny', window: 'total', limit_usd: 1, reservation_estimate_usd: 2 },
      ...{ scope: 'workflow', workflow_id: workflowId },
    });
    const { page, context, problems } = await stage.open(`/workflows/${workflowId}`);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Run workflow' });
    const estimate = dialog.getByRole('region', { name: 'Dry run' });
    const input = dialog.getByRole('textbox', { name: 'Input' });
    await rewrite(input, '{"orders": [1, 2]}');
    await estimate.getByText('$0.50', { exact: true }).waitFor();
    await rewrite(input, '{"orders": [1, 2, 3]}');
    await estimate.getByText('$0.75', { exact: true }).waitFor();
    await estimate.getByText('No upper limit, because of Check the prices.').waitFor();
    await estimate.getByText(/Can wait for a person at Check the prices\. /).waitFor();
    await estimate.getByText('Budget “Tiny” has no room for $2.00: $1.00 available.').waitFor();
    expect(await obstacles(page)).toEqual([]);
    expect(problems).toEqual([]);
    await context.close();
  });

  soakTest('a dry run that fails does not keep anyone from starting the run', async () => {
    const workflowId = await define('Price others');
    const { page, context } = await stage.open(`/workflows/${workflowId}`);
    await page.route('**/dry-run', (route) => route.abort());
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Run workflow' });
    await dialog.getByText(/No estimate with this input\./).waitFor();
    await rewrite(dialog.getByRole('textbox', { name: 'Input' }), '{"orders": [1]}');
    await dialog.getByRole('button', { name: 'Run', exact: true }).click();
    await page.waitForURL(/\/runs\//);
    await context.close();
  });
});
