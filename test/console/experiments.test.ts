import { beforeAll, expect, test } from '@jest/globals';
import { replaceChecks } from '#shared/db/workflows/workflows.ts';
import { echo, edge, mock } from '#test/support/engine.ts';
import { redraft } from '#test/support/experiments.ts';
import { soakTest } from '#test/support/soak.ts';
import { obstacles } from './axe.ts';
import { describeConsole, type Stage } from './browser.ts';

describeConsole('experiments in the console', (given) => {
  let stage: Stage;
  let workflowId: string;
  const graph = (expression: string) => ({
    nodes: [mock('read', { output: 'About {letter}', cost_usd: 0.2 }), echo('answer', expression)],
    edges: [edge('read', 'answer')],
  });
  beforeAll(async () => {
    stage = given();
    const { engine } = stage;
    workflowId = await engine.define(graph('read'), 'Read letters');
    const checks = [{ name: 'says about', type: 'contains', value: 'About' }] as never;
    await replaceChecks(engine.db, engine.actor, workflowId, checks);
    for (const letter of ['tea', 'oil', 'ink']) {
      const input = { letter, other: letter === 'oil' ? 'Nothing' : `About ${letter}` };
      await engine.until(await engine.trigger(workflowId, input), ['success']);
    }
    await redraft(engine, workflowId, graph('other'));
  });

  test('a draft is tried on past runs, and the worst run comes first, with its changes', async () => {
    const { page, context, problems } = await stage.open(
      `/workflows/${workflowId}?tab=experiments`,
    );
    await page.getByText('No experiments yet').waitFor();
    await page.getByRole('button', { name: 'Try on past runs' }).click();
    const dialog = page.getByRole('dialog', { name: 'Try on past runs' });
    await dialog.getByRole('textbox', { name: 'Runs' }).fill('10');
    await dialog.getByRole('checkbox', { name: /Ask models/ }).check();
    await dialog.getByRole('textbox', { name: 'Budget (USD)' }).fill('1');
    expect(await obstacles(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Start experiment' }).click();
    await page.getByRole('heading', { name: 'Experiment: Draft' }).waitFor();
    await page.getByText('says about: lost').waitFor();
    await page.getByText('Done', { exact: true }).waitFor();

    const runs = page.getByRole('listitem');
    expect(await runs.count()).toBe(3);
    const worst = runs.first();
    await worst.getByText('Changed', { exact: true }).waitFor();
    await worst.getByRole('button', { name: 'Show 1 change' }).click();
    await worst.getByLabel('answer before').getByText('About oil').waitFor();
    await worst.getByLabel('answer with the candidate').getByText('Nothing').waitFor();
    await page.getByText('$0.00 of $1.00').waitFor();
    expect(await obstacles(page)).toEqual([]);

    await worst.getByRole('link', { name: /^run_/ }).waitFor();
    await worst.getByRole('link', { name: 'Rehearsal' }).click();
    await page.getByRole('link', { name: 'Another run' }).waitFor();
    await page.goBack();
    await page.getByRole('link', { name: 'Read letters' }).click();
    await page.getByRole('table', { name: 'Experiments of the workflow' }).waitFor();
    expect(await obstacles(page)).toEqual([]);
    expect(problems).toEqual([]);
    await context.close();
  });

  soakTest(
    'a workflow that asks for an experiment says so when its draft is published',
    async () => {
      const { page, context } = await stage.open(`/workflows/${workflowId}?tab=settings`);
      await page.getByRole('switch', { name: 'Publish only after an experiment' }).click();
      await page.getByRole('button', { name: 'Save changes' }).click();
      await page.getByText('Settings saved').waitFor();
      await page.goto(page.url().replace(/\?.*/, '/edit'));
      await page.getByRole('button', { name: 'Try on past runs' }).waitFor();
      await page.getByRole('button', { name: 'Publish', exact: true }).click();
      await page.getByRole('button', { name: 'Publish draft' }).click();
      await page.getByText('published only after an experiment without lost checks').waitFor();
      await context.close();
    },
  );
});
