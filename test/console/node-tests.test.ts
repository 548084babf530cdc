import { beforeAll, expect, test } from '@jest/globals';
import { echo, edge, mock } from '#test/support/engine.ts';
import { obstacles } from './axe.ts';
import { describeConsole, type Stage } from './browser.ts';

describeConsole('tests of nodes in the console', (given) => {
  let stage: Stage;
  beforeAll(() => {
    stage = given();
  });

  test('a node of the draft is tested with a run, and its output pinned for the next one', async () => {
    const graph = (end: string) => ({
      nodes: [
        mock('read', { output: 'About {letter}', cost_usd: 0.2 }),
        echo('answer', `read + '${end}'`),
      ],
      edges: [edge('read', 'answer')],
    });
    const workflowId = await stage.engine.define(graph('!'), 'Answer a letter');
    const runId = await stage.engine.trigger(workflowId, { letter: 'tea' });
    await stage.engine.until(runId, ['success']);
    await stage.call('PUT', `/api/workflows/${workflowId}/draft`, { graph: graph('?') });

    const { page, context, problems } = await stage.open(`/workflows/${workflowId}/edit`);
    const choose = (id: string) =>
      page.getByRole('combobox', { name: 'Node', exact: true }).selectOption(id);
    const result = page.getByRole('region', { name: 'Result of the test' });
    await choose('answer');
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await result.getByText('About tea?').waitFor();
    expect(await obstacles(page)).toEqual([]);

    await choose('read');
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await result.getByText("allow 'agent' to execute it").waitFor();
    await page.getByRole('checkbox', { name: 'agent', exact: true }).check();
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await result.getByText('$0.20').waitFor();
    await page.getByRole('button', { name: 'Pin output', exact: true }).click();
    const card = page.locator('.react-flow__node[data-id="read"]');
    await card.getByText(/pinned/).waitFor();
    const output = page.getByRole('tabpanel', { name: 'Output' });
    await output.getByRole('heading', { name: 'Pinned output' }).waitFor();
    expect(await obstacles(page)).toEqual([]);

    await choose('answer');
    await page.getByRole('checkbox', { name: 'Use pinned outputs of read' }).waitFor();
    await choose('read');
    await page.getByRole('button', { name: 'Unpin' }).click();
    await card.getByText(/pinned/).waitFor({ state: 'detached' });
    expect((await stage.call('GET', `/api/workflows/${workflowId}/pins`)).body).toEqual({
      pins: [],
    });
    expect(problems).toEqual([]);
    await context.close();
  });
});
