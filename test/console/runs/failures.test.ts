import { beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { z } from 'zod';
import type { JsonObject } from '#shared/json.ts';
import { sql } from '#shared/db/pool.ts';
import { obstacles } from '#test/console/axe.ts';
import { echo, edge } from '#test/support/engine.ts';
import { describeConsole, type Stage } from '#test/console/browser.ts';

/** A map whose items are doubled. Items without an amount fail. */
const doubling = (more: Record<string, unknown> = {}) => ({
  nodes: [
    { id: 'all', kind: 'map', items: 'list', output_key: 'doubled', ...more } as never,
    echo('double', 'all.item.amount * 2'),
    echo('after'),
  ],
  edges: [edge('all', 'double', 'true'), edge('double', 'all'), edge('all', 'after', 'false')],
});
const list: JsonObject[] = [{ amount: 2 }, { name: 'Bob' }, { amount: 5 }];

describeConsole('failures in maps and loops', (given) => {
  let stage: Stage;
  beforeAll(() => {
    stage = given();
  });

  const card = (page: Page, id: string) => page.locator(`.react-flow__node[data-id="${id}"]`);
  const selected = (page: Page): string | null => new URL(page.url()).searchParams.get('step');
  const showView = (page: Page, name: string) => page.getByRole('tab', { name }).click();
  const row = (page: Page, name: RegExp) =>
    page.getByRole('treegrid', { name: 'Steps' }).getByRole('row', { name });

  test('show at the cards, the rows and the error of the run', async () => {
    const { engine } = stage;
    // The last item fails, so that all of them have started.
    const runId = await engine.start(doubling(), { list: [{ amount: 2 }, { amount: 5 }, {}] });
    await engine.until(runId, ['failed']);
    const { page, context, problems } = await stage.open(`/runs/${runId}`);
    await page.getByRole('alert').getByText('Failed: double, item 3 of 3').waitFor();
    await showView(page, 'Graph');
    for (const id of ['all', 'double']) {
      await card(page, id).getByText('1 failed', { exact: true }).waitFor();
    }
    await card(page, 'all').getByText('3 items').waitFor();
    await showView(page, 'Steps');
    await row(page, /all 3 items 1 failed/).waitFor();
    expect(selected(page)).toBe('double#3');
    // The failed item comes first.
    await row(page, /^double #3 Failed/).waitFor();
    const names = await page.getByRole('treegrid').getByRole('row').allInnerTexts();
    expect(names.map((name) => /#\d/.exec(name)?.[0]).filter(Boolean)[0]).toBe('#3');
    expect(await obstacles(page)).toEqual([]);
    expect(problems).toEqual([]);
    await context.close();
  });

  test('lead in two clicks from the list to the value of the failed item in the editor', async () => {
    const { engine } = stage;
    const runId = await engine.start(doubling(), { list });
    await engine.until(runId, ['failed']);
    const { page, context, problems } = await stage.open(`/runs?q=${runId}`);
    await page.getByRole('table').getByRole('link').first().waitFor();
    await page.locator(`a[href*="${runId}"]`).first().click();
    await page.getByRole('link', { name: 'Fix in the editor' }).click();
    const item = page.getByRole('combobox', { name: 'Item' });
    await item.waitFor();
    expect(await item.inputValue()).toBe('2 · failed');
    await page.getByText('cannot compute null * number').first().waitFor();
    await page
      .getByRole('region', { name: 'What this node did in the run' })
      .getByText('Failed')
      .waitFor();

    await item.click();
    // The one after the failed item may not have begun.
    await page.getByRole('option', { name: '1 · success' }).click();
    await page.getByText('4', { exact: true }).first().waitFor();
    expect(await obstacles(page)).toEqual([]);
    expect(problems).toEqual([]);
    await context.close();
  });

  test('show although the map collects errors, and a click leads to the first of them', async () => {
    const { engine } = stage;
    const runId = await engine.start(doubling({ on_item_error: 'collect' }), { list });
    await engine.until(runId, ['success']);
    const { page, context } = await stage.open(`/runs/${runId}?tab=graph`);
    await card(page, 'double').getByText('1 failed', { exact: true }).waitFor();
    expect(await card(page, 'double').textContent()).toContain('3 items');
    await card(page, 'double').click();
    await page.waitForURL(/step=double%232/);
    const detail = page.getByRole('complementary', { name: 'Selected step' });
    await detail.getByText('item 2 of 3').waitFor();
    await detail.getByText('The map collects errors').waitFor();
    expect(await page.getByText('error path').count()).toBe(0);

    await showView(page, 'Steps');
    await row(page, /all 3 items/)
      .getByText('all', { exact: true })
      .click();
    await page.waitForURL(/step=all/);
    await row(page, /all 3 items/)
      .getByRole('button', { name: '1 failed' })
      .click();
    await page.waitForURL(/step=double%232/);
    await page.getByRole('button', { name: 'Close step' }).click();
    await showView(page, 'Graph');
    await card(page, 'all').click();
    await page.waitForURL(/step=double%232/);
    await context.close();
  });

  test('show in a run with more steps than its record contains', async () => {
    const { engine } = stage;
    const items = 1_200;
    const runId = await engine.start(doubling({ on_item_error: 'collect' }), { list: [] });
    await engine.until(runId, ['success']);
    await engine.db.query(sql.type(z.object({}))`
      INSERT INTO steps (run_id, step_key, node_id, label, kind, iteration, ordinal, status, caught, error, finished_at)
      SELECT ${runId}, 'double#' || i, 'double', 'double', 'tool', ARRAY[i], i + 10,
             CASE WHEN i % 100 = 0 THEN 'failed' ELSE 'success' END, i % 100 = 0,
             CASE WHEN i % 100 = 0 THEN 'no amount' END, clock_timestamp()
      FROM generate_series(1, ${items}::int) i`);
    const { page, context } = await stage.open(`/runs/${runId}`);
    await row(page, /all 1,200 items 12 failed/).waitFor();
    await showView(page, 'Graph');
    await card(page, 'all').getByText('1,200 items').waitFor();
    await card(page, 'double').getByText('12 failed', { exact: true }).waitFor();
    await showView(page, 'By node');
    const nodes = page.getByRole('table', { name: 'Steps by node' });
    await nodes.getByRole('row', { name: /^all Map · 1,200 items 1 12 failed/ }).waitFor();
    await nodes
      .getByRole('row', { name: /^double/ })
      .getByRole('button', { name: '12 failed' })
      .click();
    await page.waitForURL(/step=double%23100/);
    // The last failed item is not among the first 1,000 steps.
    await nodes.getByRole('button', { name: 'double' }).click();
    const steps = page.getByRole('region', { name: 'Steps of double' });
    await steps.getByRole('button', { name: 'double, iteration 1200' }).click();
    await showView(page, 'Graph');
    await card(page, 'double').getByText('#1200 of 1,200').waitFor();
    await context.close();
  });

  test('are all reachable in the tree, also beyond the first 100', async () => {
    const { engine } = stage;
    const runId = await engine.start(doubling({ on_item_error: 'collect' }), { list: [] });
    await engine.until(runId, ['success']);
    await engine.db.query(sql.type(z.object({}))`
      INSERT INTO steps (run_id, step_key, node_id, label, kind, iteration, ordinal, status, caught, error, finished_at)
      SELECT ${runId}, 'double#' || i, 'double', 'double', 'tool', ARRAY[i], i + 10,
             CASE WHEN i > 1000 THEN 'failed' ELSE 'success' END, i > 1000,
             CASE WHEN i > 1000 THEN 'no amount' END, clock_timestamp()
      FROM generate_series(1, 1200) i`);
    const { page, context } = await stage.open(`/runs/${runId}`);
    await row(page, /all 1,200 items 200 failed/).waitFor();
    await page.getByRole('textbox', { name: 'Search steps' }).fill('double#1199');
    await page.getByText(/^0 of /).waitFor();
    await page.getByRole('button', { name: 'Load more failed steps' }).click();
    await row(page, /^double #1199 Failed/).click();
    await page.waitForURL(/step=double%231199/);
    await context.close();
  });
});
