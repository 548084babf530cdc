import { beforeAll, expect, test } from '@jest/globals';
import { unrestricted } from '#shared/contract/policies/policy.ts';
import { echo, edge, mock } from '#test/support/engine.ts';
import { pastRuns, pastWorkflow } from '#test/support/backtests.ts';
import { soakTest } from '#test/support/soak.ts';
import { obstacles } from './axe.ts';
import { describeConsole, personOf, type Stage } from './browser.ts';

describeConsole('policies that are tried on history', (given) => {
  let stage: Stage;
  beforeAll(() => {
    stage = given();
  });

  async function history(): Promise<string[]> {
    const nodes = [
      mock('read', { output: 'About {letter}' }, { prompt: 'Answer {letter}' }),
      echo('answer', 'read'),
    ];
    const graph = { nodes, edges: [edge('read', 'answer')] };
    const workflowId = await stage.engine.define(graph, 'Answer a letter');
    const runs = [];
    for (const letter of ['to ann@example.com', 'tea']) {
      const runId = await stage.engine.trigger(workflowId, { letter });
      await stage.engine.until(runId, ['success']);
      runs.push(runId);
    }
    return runs;
  }

  test('unsaved rules are tried, and the steps lead to their runs', async () => {
    const [withAddress = ''] = await history();
    const { page, context, problems } = await stage.open('/policies');
    await page.getByLabel('Email addresses').check();
    await page.getByRole('button', { name: 'Add tool', exact: true }).click();
    const rules = page.getByRole('group', { name: /^Rules for/ });
    await rules.getByLabel(/^Tool/).fill('json_transform');
    await page.keyboard.press('Escape');
    await rules.getByRole('switch', { name: 'Limit to selected workflows' }).check();
    await page.getByRole('combobox', { name: 'Runs of' }).selectOption('Last hour');
    await page.getByRole('button', { name: 'Try on history', exact: true }).first().click();
    const result = page.getByRole('region', { name: 'Result of the trial' });
    await result.getByText('2 steps would be blocked.').waitFor();
    await result.getByText('1 step would have data redacted that was sent.').waitFor();
    await result.getByText('4 steps were judged.').waitFor();
    const table = result.getByRole('table', { name: 'Differences' });
    await table.getByRole('row').nth(3).waitFor();
    await result.getByRole('combobox', { name: 'Steps' }).selectOption('Would be redacted');
    await table.getByText('Allowed → redacted').waitFor();
    expect(await table.getByRole('row').count()).toBe(2);
    expect(await obstacles(page)).toEqual([]);
    // Nothing is saved by a trial.
    expect((await stage.call('GET', '/api/workspace/policies')).body).toEqual(unrestricted);
    page.once('dialog', (dialog) => void dialog.accept());
    await table.getByRole('link', { name: 'read' }).click();
    await page.waitForURL((url) => url.pathname.endsWith(withAddress));
    expect(problems).toEqual([]);
    await context.close();
  });

  soakTest(
    'the newest trial is shown again, and rules that cannot be saved are refused',
    async () => {
      const { page, context } = await stage.open('/policies');
      await page.getByText('2 steps would be blocked.').waitFor();
      await page.getByRole('button', { name: 'Add tool', exact: true }).click();
      await page
        .getByRole('group', { name: /^Rules for/ })
        .getByLabel(/^Tool/)
        .fill('delay');
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Try on history', exact: true }).first().click();
      await page.getByText(/'delay' only waits inside the run and is never refused/).waitFor();
      await context.close();
    },
  );

  soakTest('a long trial shows its progress, and is cancelled', async () => {
    const workflowId = await pastWorkflow(stage.engine);
    await pastRuns(stage.engine, workflowId, { runs: 200, steps: 1_000 });
    const { page, context, problems } = await stage.open('/policies');
    await page.getByLabel('Email addresses').check();
    await page.getByRole('button', { name: 'Try on history', exact: true }).first().click();
    const result = page.getByRole('region', { name: 'Result of the trial' });
    await result
      .getByRole('status')
      .getByText(/^[1-9][\d,]* of 200,\d+ steps$/)
      .waitFor();
    await result.getByRole('button', { name: 'Cancel trial' }).click();
    await result.getByText('The trial was cancelled').waitFor();
    await result.getByText(/steps would have data redacted that was sent/).waitFor();
    expect(await obstacles(page)).toEqual([]);
    expect(problems).toEqual([]);
    await context.close();
  });

  soakTest('a viewer sees the newest trial, and cannot start one', async () => {
    const newest = (await stage.call('GET', '/api/workspace/policies/backtest?limit=1')).body;
    expect(newest.backtests).toHaveLength(1);
    const viewer = await personOf(stage, { role: 'viewer' });
    const { page, context, problems } = await stage.open('/policies', { token: viewer.token });
    await page.getByRole('heading', { name: 'Tried on history' }).waitFor();
    await page.getByText('The trial was cancelled').waitFor();
    expect(await page.getByRole('button', { name: 'Try on history' }).count()).toBe(0);
    expect(problems).toEqual([]);
    await context.close();
  });
});
