import { beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { sql } from '#shared/db/pool.ts';
import { echo, edge } from '#test/support/engine.ts';
import { obstacles } from '#test/console/axe.ts';
import { describeConsole, type Stage } from '#test/console/browser.ts';

const ITEMS = 10_000;

describeConsole('the page of a run with 20,000 steps', (given) => {
  let stage: Stage;
  beforeAll(() => {
    stage = given();
  });

  /** A run whose map has had all its items. The last one has failed. */
  async function largeRun(): Promise<string> {
    const { engine } = stage;
    const workflowId = await engine.define({
      nodes: [{ id: 'all', kind: 'map', items: 'list' } as never, echo('one'), echo('two')],
      edges: [edge('all', 'one', 'true'), edge('one', 'two'), edge('two', 'all')],
    });
    const runId = await engine.trigger(workflowId, { list: [] });
    await engine.until(runId, ['success']);
    await engine.db.query(sql.type(z.object({}))`
      INSERT INTO steps (run_id, step_key, node_id, label, kind, iteration, ordinal, status, output, finished_at)
      SELECT ${runId}, n.id || '#' || i, n.id, n.id, 'tool', ARRAY[i], i * 2 + n.at,
             CASE WHEN i = ${ITEMS}::int AND n.id = 'two' THEN 'failed' ELSE 'success' END, '1', clock_timestamp()
      FROM generate_series(1, ${ITEMS}::int) i, (VALUES ('one', 1), ('two', 2)) n(id, at)`);
    return runId;
  }

  test('counts the steps of each node, and shows them page by page', async () => {
    const { page, context, problems } = await stage.open(`/runs/${await largeRun()}`);
    await page.getByText('of 20,001 steps').waitFor();
    await page.getByRole('button', { name: 'Show all by node' }).click();
    const nodes = page.getByRole('table', { name: 'Steps by node' });
    await nodes.waitFor();
    const two = nodes.getByRole('row', { name: /^two/ });
    expect(await two.innerText()).toMatch(/10,000\s+1 failed\s+Success\s+9,999/);
    expect(await obstacles(page)).toEqual([]);

    await two.getByRole('button', { name: 'two' }).click();
    const list = page.getByRole('region', { name: 'Steps of two' });
    // Those that failed come first.
    await list.getByRole('button', { name: `two, iteration ${ITEMS}` }).waitFor();
    expect(await list.getByRole('row').count()).toBe(1);
    await list.getByRole('button', { name: 'All' }).click();
    await list.getByRole('button', { name: 'two, iteration 100', exact: true }).waitFor();
    expect(await list.getByRole('row').count()).toBe(100);
    await list.getByRole('button', { name: 'Load more' }).click();
    await list.getByRole('button', { name: 'two, iteration 200', exact: true }).waitFor();

    // A step that is not in the record of the run.
    await list.getByRole('button', { name: 'failed' }).click();
    await list.getByRole('button', { name: `two, iteration ${ITEMS}` }).click();
    await page
      .getByRole('complementary', { name: 'Selected step' })
      .getByText('Failed')
      .first()
      .waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });
});
