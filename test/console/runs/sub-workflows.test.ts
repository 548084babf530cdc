import { beforeAll, expect, test } from '@jest/globals';
import { echo, eventually } from '#test/support/engine.ts';
import { call, childrenOf } from '#test/support/sub-workflows.ts';
import { obstacles } from '#test/console/axe.ts';
import { describeConsole, type Stage } from '#test/console/browser.ts';

describeConsole('sub-workflows in the console', (given) => {
  let stage: Stage;
  beforeAll(() => {
    stage = given();
  });

  test('a node can have one of the workflows, any other text, and a version', async () => {
    const graph = { nodes: [echo('a')], edges: [] };
    const scored = await stage.engine.define(graph, 'Score a lead');
    const other = { nodes: [echo('b')], edges: [] };
    await stage.call('PUT', `/api/workflows/${scored}`, { graph: other });
    const twins = [
      await stage.engine.define(graph, 'Twin of a lead'),
      await stage.engine.define(graph, 'Twin of a lead'),
    ];
    const workflowId = await stage.engine.define({ nodes: [call('sub', 'x')], edges: [] }, 'Calls');
    const { page, context } = await stage.open(`/workflows/${workflowId}/edit`);
    await page.locator('.react-flow__node[data-id="sub"]').click();
    const workflow = page.getByRole('combobox', { name: 'Workflow', exact: true });
    // A name that two have is offered by its ids.
    await workflow.fill('wf_');
    for (const id of twins) await page.getByRole('option', { name: id }).waitFor();
    await workflow.fill('lead');
    await page.getByRole('option', { name: 'Score a lead' }).click();
    expect(await workflow.inputValue()).toBe('Score a lead');
    await page.getByRole('combobox', { name: 'Version' }).click();
    await page.getByRole('option', { name: '1', exact: true }).click();
    expect(await obstacles(page)).toEqual([]);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const saved = async () =>
      (await stage.call('GET', `/api/workflows/${workflowId}/draft`)).body.graph?.nodes[0];
    await eventually(async () => (await saved()) !== undefined);
    expect(await saved()).toMatchObject({ workflow: 'Score a lead', version: 1 });
    await workflow.fill('Created later');
    await page.getByRole('textbox', { name: 'Version' }).waitFor();
    expect(await workflow.inputValue()).toBe('Created later');
    await context.close();
  });

  test('the input of a workflow with a schema is a form', async () => {
    const child = await stage.call('POST', '/api/workflows', {
      ...{ name: 'Pay a bill', graph: { nodes: [echo('a')], edges: [] } },
      input_schema: {
        type: 'object',
        properties: {
          amount: { type: 'number', description: 'In euros' },
          note: { type: 'string' },
        },
        required: ['amount'],
      },
    });
    expect(child.status).toBe(201);
    const nodes = [{ id: 'pay', kind: 'workflow', workflow: 'Pay a bill' }];
    const { body } = await stage.call('POST', '/api/workflows', {
      ...{ name: 'Pays', graph: { nodes, edges: [] } },
    });
    const { page, context, problems } = await stage.open(`/workflows/${body.id}/edit?node=pay`);
    const form = page.getByRole('group', { name: 'Input' });
    await form.getByText('Required. In euros').waitFor();
    await form.getByRole('textbox', { name: 'amount' }).click();
    await page.keyboard.insertText('{total}');
    expect(await obstacles(page)).toEqual([]);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Draft saved').waitFor();
    const { body: draft } = await stage.call('GET', `/api/workflows/${body.id}/draft`);
    expect(draft.graph.nodes[0].input).toEqual({ amount: '{total}' });
    expect(problems).toEqual([]);
    await context.close();
  });

  test("the page of a run links to its child, and the child's page back", async () => {
    const { engine, open } = stage;
    const child = await engine.define({ nodes: [echo('a')], edges: [] }, 'Child of the page');
    const parent = await engine.define({ nodes: [call('sub', child)], edges: [] }, 'Its parent');
    const runId = await engine.trigger(parent);
    await engine.until(runId, ['success']);
    const [started] = await childrenOf(engine, runId);
    const { page, context, problems } = await open(`/runs/${runId}`);
    await page.getByRole('link', { name: started!.id }).first().click();
    await page.getByRole('heading', { name: 'Child of the page' }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/runs/${started!.id}`);
    await page.locator(`a[href^="/runs/${runId}"]`).first().click();
    await page.getByRole('heading', { name: 'Its parent' }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/runs/${runId}`);
    expect(problems).toEqual([]);
    await context.close();
  });
});
