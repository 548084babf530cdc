import { beforeAll, expect, test } from '@jest/globals';
import type { Json } from '#shared/json.ts';
import { echo, edge, mock } from '#test/support/engine.ts';
import { obstacles } from './axe.ts';
import { describeConsole, rewrite, type Stage } from './browser.ts';

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

    // Edited in its place, the next test uses it.
    await page.getByRole('button', { name: 'Edit output' }).click();
    const pinned = page.getByRole('textbox', { name: 'Pinned output' });
    await rewrite(pinned, '"About');
    await page.getByText(/^Invalid JSON: /).waitFor();
    const save = page.getByRole('button', { name: 'Pin edited output' });
    expect(await save.isDisabled()).toBe(true);
    await rewrite(pinned, '"About oil"');
    expect(await obstacles(page)).toEqual([]);
    await save.click();
    await output.getByText(/^Tests of other nodes use it. Edited and pinned/).waitFor();
    await output.getByText('About oil').waitFor();

    await choose('answer');
    await page.getByRole('checkbox', { name: 'Use pinned outputs of read' }).waitFor();
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await result.getByText('About oil?').waitFor();
    await choose('read');
    await page.getByRole('button', { name: 'Unpin' }).click();
    await card.getByText(/pinned/).waitFor({ state: 'detached' });
    expect((await stage.call('GET', `/api/workflows/${workflowId}/pins`)).body).toEqual({
      pins: [],
    });
    expect(problems).toEqual([]);
    await context.close();
  });

  test('starts with the state of the chosen run or item as the member has changed it', async () => {
    const graph = {
      nodes: [
        { id: 'each', kind: 'map', items: 'orders', on_item_error: 'collect' } as never,
        echo('price', 'each.item.amount * rate'),
      ],
      edges: [edge('each', 'price', 'true'), edge('price', 'each')],
    };
    const workflowId = await stage.engine.define(graph, 'Prices');
    const runs = [];
    for (const rate of [2, 3]) {
      const orders: Json[] = [{ amount: 5 }, { name: 'Bob' }, { amount: 7 }];
      runs.push(await stage.engine.trigger(workflowId, { rate, orders }));
    }
    for (const run of runs) await stage.engine.until(run, ['success']);
    const { page, context, problems } = await stage.open(
      `/workflows/${workflowId}/edit?node=price`,
    );
    const values = page.getByRole('combobox', { name: 'Values from' });
    await values.click();
    // Each option has the input of its run.
    const options = page.getByRole('listbox', { name: 'Values from' }).getByRole('option');
    await options.filter({ hasText: 'rate: 3' }).waitFor();
    await options.filter({ hasText: 'rate: 2' }).click();
    await page.getByText('Input: {"rate":2').waitFor();
    const items = page.getByRole('combobox', { name: 'Item', exact: true });
    await items.click();
    await page.getByRole('option', { name: '2 · failed {"name":"Bob"}' }).waitFor();
    await page.getByRole('option', { name: /^3 · success/ }).click();
    const value = page.getByRole('note', { name: 'Value of expression' });
    await value.getByText('14').waitFor();

    await page.getByRole('tab', { name: 'Input', exact: true }).click();
    await page.getByRole('button', { name: 'Edit state' }).click();
    const state = page.getByRole('textbox', { name: 'State', exact: true });
    const changed = { rate: 10, orders: [], each: { item: { amount: 7 }, index: 2 } };
    await rewrite(state, JSON.stringify(changed));
    const list = page.getByRole('group', { name: 'State changes' });
    await list.getByText('rate').waitFor();
    expect(await obstacles(page)).toEqual([]);
    await page.getByRole('button', { name: 'Done', exact: true }).click();
    await page.getByText(/^With your changes\./).waitFor();
    await page.getByRole('tab', { name: 'Settings', exact: true }).click();
    await value.getByText('70').waitFor();
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    const result = page.getByRole('region', { name: 'Result of the test' });
    await result.getByText('70', { exact: true }).waitFor();

    // Another item has its own state.
    await items.click();
    await page.getByRole('option', { name: /^1 · success/ }).click();
    await page.getByRole('tab', { name: 'Settings', exact: true }).click();
    await value.getByText('10', { exact: true }).waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });

  test('starts with a state that the member writes when no run has one', async () => {
    const graph = { nodes: [echo('double', 'amount * 2')], edges: [] };
    const workflowId = await stage.engine.define(graph, 'Without a run');
    const { page, context, problems } = await stage.open(
      `/workflows/${workflowId}/edit?node=double`,
    );
    const send = page.getByRole('button', { name: 'Test', exact: true });
    await send.waitFor();
    expect(await send.isDisabled()).toBe(true);
    await page.getByRole('tab', { name: 'Input', exact: true }).click();
    await page.getByRole('button', { name: 'Edit state' }).click();
    await rewrite(page.getByRole('textbox', { name: 'State', exact: true }), '{"amount": 21}');
    await send.click();
    const result = page.getByRole('region', { name: 'Result of the test' });
    await result.getByText('42', { exact: true }).waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });
});
