import { beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { z } from 'zod';
import { sql } from '#shared/db/pool.ts';
import { mock } from '#test/support/engine.ts';
import { obstacles } from './axe.ts';
import { describeConsole, type Stage } from './browser.ts';

const MOST_ACTIONS = 2;

describeConsole('the first visit', (given) => {
  let stage: Stage;
  let failed: string;
  beforeAll(async () => {
    stage = given();
    const { engine } = stage;
    await engine.db.query(sql.type(z.object({}))`
      INSERT INTO examples_made (workspace_id, key, id) SELECT id, 'example', 'wf_x' FROM workspaces`);
    const start = async (graph: object): Promise<string> => {
      const { body } = await stage.call('POST', '/api/workflows', { name: 'Refunds', graph });
      return (await stage.call('POST', `/api/workflows/${body.id}/runs`, {})).body.id;
    };
    failed = await start({ nodes: [mock('book', { fail_times: 1 })], edges: [] });
    await engine.until(failed, ['failed']);
    const gate = { id: 'sign', kind: 'human_gate', prompt: 'Pay?', title: 'Refund 240 USD' };
    await engine.until(await start({ nodes: [gate], edges: [] }), ['paused']);
    const later = { ...gate, title: 'Refund 10 USD' };
    await engine.until(await start({ nodes: [later], edges: [] }), ['paused']);
  });

  const steps = (page: Page) =>
    page.getByRole('list').filter({ hasText: 'past runs' }).getByRole('listitem');

  test('leads to the first decision in two actions, and ticks off what has happened', async () => {
    const { page, context, problems } = await stage.open('/');
    await page.getByRole('heading', { name: 'Start here' }).waitFor();
    await steps(page).nth(2).waitFor();
    expect(await page.getByText('(done)').count()).toBe(0);
    expect(await obstacles(page)).toEqual([]);
    const actions = [
      () => page.getByRole('link', { name: 'Decide' }).click(),
      () => page.getByRole('button', { name: /^Approve/ }).click(),
    ];
    for (const act of actions) await act();
    expect(actions.length).toBeLessThanOrEqual(MOST_ACTIONS);
    // Without another action, the decision is sent after some seconds.
    await page
      .getByText('You approved this')
      .or(page.getByRole('heading', { name: 'Refund 10 USD' }))
      .first()
      .waitFor();
    await page.getByRole('link', { name: 'Overview' }).click();
    await steps(page).nth(0).getByText('(done)').waitFor();
    // What was decided, although another gate waits.
    await steps(page).nth(0).getByText('Refund 240 USD').waitFor();
    await steps(page)
      .nth(0)
      .getByText(/^Done in .+ for \$/)
      .waitFor();
    await steps(page).nth(0).getByRole('link', { name: 'open result' }).waitFor();
    await steps(page).nth(1).getByRole('link', { name: 'Open the run' }).waitFor();
    await stage.call('POST', `/api/runs/${failed}/resume`);
    await stage.engine.until(failed, ['success']);
    await steps(page).nth(1).getByText('(done)').waitFor();
    await stage.call('POST', `/api/runs/${failed}/rerun`, { mode: 'recorded' });
    await steps(page).nth(2).getByText('(done)').waitFor();
    expect(await obstacles(page)).toEqual([]);
    await page.getByRole('button', { name: 'Hide these steps' }).click();
    await page.reload();
    await page.getByText('Pending approvals').first().waitFor();
    expect(await page.getByRole('heading', { name: 'Start here' }).count()).toBe(0);
    expect(problems).toEqual([]);
    await context.close();
  });
});
