import { expect, test } from '@jest/globals';
import { edge, mock } from '#test/support/engine.ts';
import { obstacles } from './axe.ts';
import { describeConsole } from './browser.ts';

describeConsole('a code node', (given) => {
  test('is written with the keys of the state, is checked by the service, and is tested with a past run', async () => {
    const stage = given();
    const graph = {
      nodes: [
        mock('classify', { output: { topic: 'billing', score: 0.9 } }),
        {
          ...{ id: 'sum', kind: 'code' as const, language: 'typescript' as const },
          source:
            '// Adds up\nexport default (state) => {\n  console.log("adding");\n  return 1;\n};',
        },
      ],
      edges: [edge('classify', 'sum')],
    };
    const workflowId = await stage.engine.define(graph, 'Add up');
    const runId = await stage.engine.trigger(workflowId, { items: [1, 2] });
    await stage.engine.until(runId, ['success']);
    const { page, context, problems } = await stage.open(`/workflows/${workflowId}/edit`);
    await page.getByText('Adds up', { exact: true }).first().waitFor();
    await page.getByRole('combobox', { name: 'Node', exact: true }).selectOption('sum');
    const source = page.getByRole('textbox', { name: 'Code', exact: true });
    await source.waitFor();
    await page.getByRole('combobox', { name: 'Values from' }).waitFor();

    await source.focus();
    await page.keyboard.press('Control+A');
    await page.keyboard.press('Delete');
    await page.keyboard.type('export default (state) => state.classify.');
    const offers = page.getByRole('listbox', { name: 'Completions' });
    await offers.getByRole('option', { name: /^topic text "billing"/ }).waitFor();
    expect(await obstacles(page)).toEqual([]);
    await page.keyboard.type('to');
    await offers.getByRole('option', { name: /^score/ }).waitFor({ state: 'detached' });
    await page.keyboard.press('Enter');
    await offers.waitFor({ state: 'detached' });
    expect(await source.innerText()).toBe('export default (state) => state.classify.topic');

    await page.keyboard.type(' + ;');
    await page
      .getByText(/Expression expected \(line 1, column \d+\)/)
      .first()
      .waitFor();
    await page.locator('.cm-lintRange-error').first().waitFor();
    expect(await obstacles(page)).toEqual([]);
    for (let n = 0; n < 4; n += 1) await page.keyboard.press('Backspace');
    await page.locator('.cm-lintRange-error').first().waitFor({ state: 'detached' });

    await page.goto(new URL(`/runs/${runId}?step=sum`, page.url()).href);
    await page.getByRole('tab', { name: 'Log', exact: true }).click();
    await page.getByRole('tabpanel', { name: 'Log', exact: true }).getByText('adding').waitFor();
    expect(await obstacles(page)).toEqual([]);
    expect(problems).toEqual([]);
    await context.close();
  });
});
