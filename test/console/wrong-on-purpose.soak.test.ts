import { beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { z } from 'zod';
import type { Json } from '#shared/json.ts';
import { sql } from '#shared/db/pool.ts';
import { chain, echo, edge, mock } from '#test/support/engine.ts';
import { obstacles } from './axe.ts';
import { describeConsole, type Stage } from './browser.ts';

/** What no one intends, and what large workspaces have. Approvals with 500 values: see edited-arguments.test.ts. */
describeConsole('the console with what is wrong or large', (given) => {
  let stage: Stage;
  beforeAll(() => {
    stage = given();
  });

  const undo = (page: Page) => page.getByRole('group', { name: 'Decision not sent yet' });
  const decide = (page: Page, name: 'Approve' | 'Reject') =>
    page.getByRole('form', { name: 'Decision' }).getByRole('button', { name }).click();
  const pausedAtGate = async (title: string, input: Record<string, Json>): Promise<string> => {
    const { engine } = stage;
    const gate = { id: 'sign', kind: 'human_gate', label: 'Sign it', prompt: 'Sign?', title };
    const workflowId = await engine.define(chain(gate as never), title);
    const runId = await engine.trigger(workflowId, input);
    await engine.until(runId, ['paused']);
    return runId;
  };

  test('names a gate by its label if its title cannot be rendered', async () => {
    const runId = await pausedAtGate('Pay {order.total.cents}', { order: 'A-1042' });
    const { page, context, problems } = await stage.open('/approvals');
    await page.getByRole('heading', { name: 'Sign it' }).waitFor();
    expect(await obstacles(page)).toEqual([]);
    await page.goto(`${stage.url}/runs/${runId}`);
    await page.getByRole('row', { name: /^Sign it/ }).waitFor();
    await page.goto(`${stage.url}/approvals/${runId}/sign`);
    await decide(page, 'Approve');
    await undo(page).getByText('Approved: Sign it').waitFor();
    await undo(page).getByRole('button', { name: 'Send now' }).click();
    await page.getByText('You approved this just now').waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });

  test('decides a gate once if two tabs decide it at the same time', async () => {
    const runId = await pausedAtGate('Two tabs', {});
    const visit = await stage.open(`/approvals/${runId}/sign`);
    const { page: one, context } = visit;
    const other = await context.newPage();
    await other.goto(`${stage.url}/approvals/${runId}/sign`);
    await decide(one, 'Approve');
    await decide(other, 'Reject');
    // Each is sent after the time to undo it, or once the other tab hides its page.
    await stage.engine.until(runId, ['success', 'failed']);
    const { steps } = await stage.engine.run(runId);
    const word = steps[0]?.decision?.approved === true ? 'approved' : 'rejected';
    // Both pages show the decision that counts, and the other one says that its own was not sent.
    for (const page of [one, other]) {
      await page.getByText(new RegExp(`^You ${word} this`)).waitFor();
    }
    const loser = word === 'approved' ? other : one;
    await loser.getByText(/^Not (approved|rejected): Two tabs/).waitFor();
    await context.close();
  });

  const long = (word: string): string =>
    `${'Dear Ann, '.repeat(5_000)}${word}${' Regards.'.repeat(5_000)}`;

  test('shows the changed word of outputs with 100 kB', async () => {
    const { engine } = stage;
    const workflowId = await engine.define(chain(mock('write', { output: '{letter}' })), 'Long');
    const ids: string[] = [];
    for (const word of ['oil', 'tea']) {
      ids.push(await engine.trigger(workflowId, { letter: long(word) }));
    }
    for (const id of ids) await engine.until(id, ['success']);
    const [older, newer] = ids;
    const { page, context, problems } = await stage.open(
      `/runs/${older}/compare/${newer}?step=write`,
    );
    const changes = page.getByRole('group', { name: 'Differences' });
    await changes.locator('del').getByText('oil').waitFor();
    await changes.locator('ins').getByText('tea').waitFor();
    expect((await changes.innerText()).length).toBeLessThan(1_000);
    expect(await obstacles(page)).toEqual([]);
    expect(problems).toEqual([]);
    await context.close();
  });

  test('shows the changed word of versions with a prompt of 100 kB', async () => {
    const graph = (word: string) => chain(mock('write', { output: 'x' }, { prompt: long(word) }));
    const { id, etag } = (
      await stage.call('POST', '/api/workflows', { name: 'Long prompt', graph: graph('oil') })
    ).body;
    await stage.call('PUT', `/api/workflows/${id}/draft`, { graph: graph('tea') });
    expect(etag).toEqual(expect.any(String));
    const { page, context, problems } = await stage.open(`/workflows/${id}/edit?publish=yes`);
    const dialog = page.getByRole('dialog', { name: 'Publish this draft?' });
    await dialog.locator('del').getByText('oil').waitFor();
    await dialog.locator('ins').getByText('tea').waitFor();
    await dialog.getByRole('button', { name: 'Publish draft' }).click();
    await page.getByText('Version 2 published').waitFor();
    await page.goto(`${stage.url}/workflows/${id}?tab=versions`);
    await page.getByRole('row', { name: /^2 / }).waitFor();
    expect(await obstacles(page)).toEqual([]);
    expect(problems).toEqual([]);
    await context.close();
  });

  test('works without the files of its code editor and of its layout until they arrive', async () => {
    const id = await stage.engine.define(
      { nodes: [echo('one', '1'), echo('two', 'one + 1')], edges: [edge('one', 'two')] },
      'Files',
    );
    const { page, context } = await stage.open('/login');
    const files = '**/assets/{code-surface,layout-worker}-*.js';
    await page.route(files, (route) => route.abort());
    await page.goto(`${stage.url}/workflows/${id}/edit?node=two`);
    await page.locator('.react-flow__node[data-id="two"]').waitFor();
    await page.getByText('A part of the console could not be loaded.').waitFor();
    await page.getByLabel('Label', { exact: true }).fill('Sum');
    await page.unroute(files);
    const expression = page.getByRole('textbox', { name: 'expression' });
    await expression.getByText('one + 1').waitFor();
    expect(await page.getByLabel('Label', { exact: true }).inputValue()).toBe('Sum');
    await context.close();
  });

  test('has the failed items first when all 10,000 of a map failed', async () => {
    const { engine } = stage;
    const graph = {
      nodes: [
        { id: 'all', kind: 'map', items: 'list', on_item_error: 'collect' } as never,
        echo('double', 'all.item.amount * 2'),
      ],
      edges: [edge('all', 'double', 'true'), edge('double', 'all')],
    };
    const runId = await engine.start(graph, { list: [] });
    await engine.until(runId, ['success']);
    await engine.db.query(sql.type(z.object({}))`
      INSERT INTO steps (run_id, step_key, node_id, label, kind, iteration, ordinal, status, caught, error, finished_at)
      SELECT ${runId}, 'double#' || i, 'double', 'double', 'tool', ARRAY[i], i + 10, 'failed', true, 'no amount',
             clock_timestamp()
      FROM generate_series(1, 10000) i`);
    const { page, context, problems } = await stage.open(`/runs/${runId}`);
    const tree = page.getByRole('treegrid', { name: 'Steps' });
    await tree.getByRole('row', { name: /all 10,000 items 10,000 failed/ }).waitFor();
    expect(await obstacles(page)).toEqual([]);
    await tree.getByRole('button', { name: '10,000 failed' }).click();
    await page.waitForURL(/step=double%231$/);
    const step = page.getByRole('complementary', { name: 'Selected step' });
    await step.getByText('no amount').first().waitFor();
    await page.getByRole('tab', { name: 'Graph' }).click();
    const card = (id: string) => page.locator(`.react-flow__node[data-id="${id}"]`);
    await card('all').getByText('10,000 items').waitFor();
    await card('double').getByText('10,000 failed', { exact: true }).waitFor();
    expect(await obstacles(page)).toEqual([]);
    expect(problems).toEqual([]);
    await context.close();
  });

  test('says what to do when an experiment has no run to rehearse', async () => {
    const id = await stage.engine.define(chain(echo('one', '1')), 'Never run');
    const { page, context } = await stage.open(`/workflows/${id}?tab=experiments`);
    await page.getByRole('button', { name: 'Try on past runs' }).click();
    const dialog = page.getByRole('dialog', { name: 'Try on past runs' });
    await dialog.getByRole('button', { name: 'Start experiment' }).click();
    await dialog.getByText(/^No run fits: the workflow has no run that has ended/).waitFor();
    expect(await obstacles(page)).toEqual([]);
    await context.close();
  });

  test('lists 500 runs and an experiment with them', async () => {
    const { engine } = stage;
    const workflowId = await engine.define(chain(echo('one', 'letter')), 'Many runs');
    const first = await engine.trigger(workflowId, { letter: 'tea' });
    await engine.until(first, ['success']);
    const started = await stage.call('POST', `/api/workflows/${workflowId}/experiments`, {
      ...{ candidate: { version: 1 }, runs: { last: 1 } },
    });
    const experimentId = started.body.id;
    const { page, context, problems } = await stage.open(`/experiments/${experimentId}`);
    await page.getByText('Same output in the run').waitFor();
    await engine.db.query(sql.type(z.object({}))`
      INSERT INTO runs (id, workspace_id, workflow_id, workflow_version, status, trigger, input, created_at, started_at, finished_at)
      SELECT left(id, 20) || lpad(i::text, 10, '0'), workspace_id, workflow_id, workflow_version, status, trigger, input,
             created_at + i * interval '1 ms', started_at, finished_at
      FROM runs, generate_series(1, 499) i WHERE id = ${first}`);
    await engine.db.query(sql.type(z.object({}))`
      INSERT INTO experiment_runs (experiment_id, n, run_id, outcome, badness, checks_won, checks_lost, diff)
      SELECT ${experimentId}, i + 1000, left(${first}, 20) || lpad(i::text, 10, '0'), 'changed', 1, '[]', '[]',
             json_build_object('more', false, 'differences', json_build_array(
               json_build_object('path', 'one', 'change', 'changed', 'from', 'tea', 'to', 'oil ' || i % 250)))
      FROM generate_series(1, 499) i`);
    await page.reload();
    // Runs with the same change are one row.
    await page.getByText('All 500', { exact: true }).waitFor();
    const rows = page
      .getByRole('table', { name: 'Runs of the experiment, the worst first' })
      .getByRole('row');
    await rows.nth(251).waitFor();
    expect(await rows.count()).toBe(252);
    expect(await obstacles(page)).toEqual([]);

    await page.goto(`${stage.url}/runs?workflow_id=${workflowId}`);
    const table = page.getByRole('table', { name: 'Runs, newest first' });
    const more = page.getByRole('button', { name: 'Load more' });
    await table.getByRole('row').nth(1).waitFor();
    while (await more.isVisible()) {
      const before = await table.getByRole('row').count();
      await more.click();
      await table.getByRole('row').nth(before).waitFor();
    }
    expect(await table.getByRole('row').count()).toBe(501);
    expect(problems).toEqual([]);
    await context.close();
  });
});
