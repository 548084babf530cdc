import { expect, test } from '@jest/globals';
import { echo, edge, mock } from '#test/support/engine.ts';
import { obstacles } from './axe.ts';
import { describeConsole, placeOf } from './browser.ts';

describeConsole('the panel of a node', (stage) => {
  const opened = async (scheme: 'light' | 'dark' = 'light') => {
    const { engine, open } = stage();
    const graph = {
      nodes: [
        mock('read', { output: { topic: 'tea', pages: [1, 2] } }),
        mock('answer', { output: 'Fine' }, { prompt: 'Write about ' }),
        echo('count', 'len(read.pages)'),
      ],
      edges: [edge('read', 'answer'), edge('answer', 'count')],
    };
    const workflowId = await engine.define(graph, 'Panel');
    const runId = await engine.trigger(workflowId, { ticket: 'Where is it?' });
    await engine.until(runId, ['success']);
    return open(`/workflows/${workflowId}/edit?node=answer`, { height: 720, scheme });
  };

  test('inserts a value of the state where the member wrote last, as the field writes it', async () => {
    const { page, context, problems } = await opened();
    await page.getByText('Input: {"ticket":"Where is it?"}').waitFor();
    const prompt = page.getByRole('textbox', { name: 'Prompt', exact: true });
    await prompt.click();
    await page.keyboard.press('Control+End');
    await page.getByRole('tab', { name: 'Input', exact: true }).click();
    const state = page.getByRole('tree', { name: 'the state before the node' });
    await state.getByRole('treeitem', { name: /^topic: / }).waitFor();
    expect(await page.getByText('or drag it there.').count()).toBe(0);
    expect(await obstacles(page)).toEqual([]);
    await state.getByRole('treeitem', { name: /^topic: / }).click();
    await prompt.getByText('Write about {read.topic}').waitFor();
    await page.getByRole('note', { name: 'Value of Prompt' }).getByText('tea').waitFor();

    // By the keyboard, into an expression: without braces.
    await page.getByRole('combobox', { name: 'Node', exact: true }).selectOption('count');
    const expression = page.getByRole('textbox', { name: 'expression' });
    await expression.press('Control+A');
    await expression.press('Delete');
    await page.getByRole('tab', { name: 'Input', exact: true }).click();
    await page.getByRole('textbox', { name: /^Search in/ }).fill('ticket');
    await state.focus();
    await page.keyboard.press('End');
    await page.getByRole('button', { name: 'Insert the selected value' }).press('Enter');
    await expression.getByText('ticket', { exact: true }).waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });

  test('keeps its width, and has the state beside the fields when it is wide', async () => {
    const { page, context, problems } = await opened('dark');
    const handle = page.getByRole('separator', { name: 'Width of the panel' });
    const panel = page.locator('.editor-panels');
    expect((await placeOf(panel)).width).toBeLessThan(560);
    await handle.focus();
    for (let press = 0; press < 5; press += 1) await page.keyboard.press('Shift+ArrowLeft');
    const beside = page.getByRole('region', { name: 'Input' });
    const line = beside.getByRole('treeitem', { name: /^topic: / });
    await line.waitFor();
    await beside.getByText('or drag it there.').waitFor();
    const { width } = await placeOf(panel);
    expect(width).toBeLessThanOrEqual(641);
    expect(width).toBeGreaterThan(560);
    expect(await obstacles(page)).toEqual([]);
    const prompt = page.getByRole('textbox', { name: 'Prompt', exact: true });
    await line.dragTo(prompt);
    await prompt.getByText('{read.topic}').waitFor();
    await page.reload();
    await line.waitFor();
    expect((await placeOf(panel)).width).toBeCloseTo(width, 0);
    expect(problems).toEqual([]);
    await context.close();
  });

  test('has the test in view, also at the end of a long form, and saves before it', async () => {
    const { page, context, problems } = await opened();
    await page.getByLabel('Label', { exact: true }).fill('Reply');
    await page.getByRole('button', { name: 'Connect', exact: true }).scrollIntoViewIfNeeded();
    const send = page.getByRole('button', { name: 'Test', exact: true });
    const { y } = await placeOf(send);
    expect(y).toBeGreaterThan(0);
    expect(y).toBeLessThan(400);
    await send.click();
    const output = page.getByRole('tabpanel', { name: 'Output' });
    await output.getByText("allow 'agent' to execute it").waitFor();
    await page.getByText('Saved', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'More actions for the node' }).click();
    await page.getByRole('menuitem', { name: 'Delete node' }).click();
    await page.locator('.react-flow__node[data-id="answer"]').waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
    await context.close();
  });
});
