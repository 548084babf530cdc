import { beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { echo, edge, eventually, mock } from '#test/support/engine.ts';
import { obstacles } from '#test/console/axe.ts';
import { describeConsole, placeOf, type Stage } from '#test/console/browser.ts';

const gate = { id: 'sign', kind: 'human_gate', label: 'Sign', prompt: 'Sign?' } as const;

describeConsole('the page of a run', (given) => {
  let stage: Stage;
  beforeAll(() => {
    stage = given();
  });

  async function started(nodes: object[], edges: ReturnType<typeof edge>[], status: string) {
    const { engine } = stage;
    const workflowId = await engine.define({ nodes: nodes as never, edges }, 'Letters');
    const runId = await engine.trigger(workflowId);
    await engine.until(runId, [status as never]);
    return runId;
  }
  const separator = (page: Page) => page.getByRole('separator', { name: 'Width of the steps' });
  const steps = (page: Page) => page.getByRole('treegrid', { name: 'Steps' });
  const side = (page: Page, name: string) => page.getByRole('complementary', { name });

  for (const scheme of ['light', 'dark'] as const) {
    test(`has two panes, whose widths are kept, in the ${scheme} scheme`, async () => {
      const runId = await started([echo('a'), echo('b')], [edge('a', 'b')], 'success');
      const { page, context, problems } = await stage.open(`/runs/${runId}`, { scheme });
      // The steps start high on the page, beside the result of the run.
      expect((await placeOf(page.getByRole('tab', { name: 'Steps' }))).y).toBeLessThan(190);
      await side(page, 'The whole run').getByText('Output', { exact: true }).waitFor();
      await steps(page).getByRole('row', { name: /^b/ }).click();
      await side(page, 'Selected step').waitFor();
      expect(await obstacles(page)).toEqual([]);

      const width = async () => Math.round((await placeOf(steps(page))).width);
      const before = await width();
      await separator(page).focus();
      for (let presses = 0; presses < 4; presses += 1) await page.keyboard.press('ArrowLeft');
      await eventually(async () => (await width()) < before - 40);
      const narrower = await width();
      await page.reload();
      await steps(page).waitFor();
      expect(await width()).toBe(narrower);

      const { x, y } = await placeOf(separator(page));
      await page.mouse.move(x + 1, y + 200);
      await page.mouse.down();
      await page.mouse.move(x + 151, y + 200, { steps: 3 });
      await page.mouse.up();
      await eventually(async () => (await width()) > narrower + 120);
      // Neither pane makes the page scroll.
      const scrolls = 'document.documentElement.scrollHeight > window.innerHeight';
      expect(await page.evaluate(scrolls)).toBe(false);
      expect(problems).toEqual([]);
      await context.close();
    });
  }

  test('has one button for what the run needs, and a menu and details for the rest', async () => {
    const runId = await started(
      [mock('find', { output: 'x' }), gate],
      [edge('find', 'sign')],
      'paused',
    );
    const { page, context, problems } = await stage.open(`/runs/${runId}?step=find`);
    await page.getByRole('button', { name: 'Decide' }).click();
    await side(page, 'Selected step').getByRole('button', { name: 'Approve' }).waitFor();

    await page.getByRole('button', { name: 'More actions' }).click();
    const items = page.getByRole('menuitem');
    expect(await items.allInnerTexts()).toEqual([
      'Cancel run',
      'Compare with…',
      'Copy link',
      'Print',
      'Open in the Temporal UI',
    ]);
    expect(await obstacles(page)).toEqual([]);
    await items.filter({ hasText: 'Compare with…' }).click();
    await page.getByRole('dialog', { name: 'Compare with another run' }).waitFor();
    await page.keyboard.press('Escape');
    // The focus is back where it was, for people who use the keyboard.
    const active = 'document.activeElement?.getAttribute("aria-label")';
    await eventually(async () => (await page.evaluate(active)) === 'More actions');

    await page.getByRole('button', { name: 'Details' }).click();
    const details = page.getByRole('dialog', { name: 'Details' });
    await details.getByText(runId).waitFor();
    await details.getByText('Created').waitFor();
    expect(await obstacles(page)).toEqual([]);
    await page.keyboard.press('Escape');

    await side(page, 'Selected step').getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('button', { name: 'Send now' }).click();
    await page.getByRole('button', { name: 'Run again' }).waitFor();
    expect(await page.getByRole('button', { name: 'Decide' }).count()).toBe(0);
    expect(problems).toEqual([]);
    await context.close();
  });

  test('shows the graph at full height, with a map and a search above 20 nodes', async () => {
    const nodes = Array.from({ length: 24 }, (_, at) => echo(`n${at}`));
    const edges = nodes.slice(1).map(({ id }, at) => edge(`n${at}`, id));
    const runId = await started(nodes, edges, 'success');
    const { page, context, problems } = await stage.open(`/runs/${runId}?tab=graph`);
    const graph = page.getByRole('region', { name: 'Graph' });
    const { height } = await placeOf(graph);
    expect(height).toBeGreaterThan(500);
    await graph.locator('.react-flow__minimap').waitFor();
    const last = graph.locator('.react-flow__node[data-id="n23"]');
    const inView = async () => {
      const [frame, card] = await Promise.all([placeOf(graph), placeOf(last)]);
      return card.x >= frame.x && card.x + card.width <= frame.x + frame.width;
    };
    expect(await inView()).toBe(false);
    await page.getByRole('combobox', { name: 'Find a node' }).fill('n23');
    await page.getByRole('option', { name: 'n23' }).click();
    await eventually(inView);
    await side(page, 'Selected step').getByText('n23').first().waitFor();
    // People can read it.
    const size = 'getComputedStyle(document.querySelector(".react-flow__viewport")).transform';
    const zoom = Number(/matrix\(([\d.]+)/.exec(await page.evaluate<string>(size))?.[1]);
    expect(zoom).toBeGreaterThanOrEqual(0.5);
    expect(await obstacles(page)).toEqual([]);
    expect(problems).toEqual([]);
    await context.close();
  });

  test('has its panes below each other on a phone', async () => {
    const runId = await started([echo('a'), gate], [edge('a', 'sign')], 'paused');
    const { page, context, problems } = await stage.open(`/runs/${runId}`, {
      width: 390,
      height: 844,
    });
    await page.getByRole('button', { name: 'Approve' }).waitFor();
    expect(await separator(page).count()).toBe(0);
    // Nothing is over anything else.
    const ends = async (name: string) => {
      const { y, height } = await placeOf(page.getByRole('button', { name }));
      return y + height;
    };
    expect((await placeOf(page.getByRole('tab', { name: 'Steps' }))).y).toBeGreaterThan(
      await ends('Reject'),
    );
    const rows = await placeOf(steps(page));
    const data = page.getByRole('heading', { name: 'Input and output' });
    expect((await placeOf(data)).y).toBeGreaterThan(rows.y + rows.height);
    const overflows = 'document.documentElement.scrollWidth > window.innerWidth';
    expect(await page.evaluate(overflows)).toBe(false);
    await page.getByRole('tab', { name: 'Graph' }).click();
    await page.getByRole('region', { name: 'Graph' }).waitFor();
    expect(await page.evaluate(overflows)).toBe(false);
    expect(await obstacles(page)).toEqual([]);
    await page.getByRole('button', { name: 'Decide' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).waitFor();
    await page.getByRole('button', { name: 'Close step' }).click();
    await page.getByText('State so far').waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });

  test('names the times of a run alike in its header, its list and a comparison', async () => {
    const runId = await started([echo('a')], [], 'success');
    const { page, context } = await stage.open(`/runs/${runId}`);
    for (const name of ['Total', 'Working', 'Waiting']) {
      await page.getByText(new RegExp(`^${name} \\d`)).waitFor();
    }
    // Once: nowhere else on the page is a step or a bar called that.
    expect(await page.getByText(/working/i).count()).toBe(1);
    await page.goto(`${stage.url}/runs/${runId}/compare/${runId}`);
    const figures = page.getByRole('table', { name: 'Figures of the runs' });
    for (const name of ['Total', 'Working', 'Waiting']) {
      await figures.getByRole('rowheader', { name }).waitFor();
    }
    await page.goto(`${stage.url}/runs`);
    await page.getByRole('columnheader', { name: 'Working' }).waitFor();
    await context.close();
  });

  test('has an override, but nothing to mend, where a budget stopped the run', async () => {
    const { engine } = stage;
    const nodes = [mock('dear', { cost_usd: 0.5 }), mock('next', { cost_usd: 0.1 })];
    const workflowId = await engine.define({ nodes, edges: [edge('dear', 'next')] }, 'Dear');
    const capped = { run_cap_usd: 0.2, overrun: 'one_step' };
    await stage.call('PUT', `/api/workflows/${workflowId}`, capped);
    const runId = await engine.trigger(workflowId);
    await engine.until(runId, ['failed']);
    const { page, context } = await stage.open(`/runs/${runId}`);
    await page.getByRole('button', { name: 'Override budget' }).click();
    const buttons = page.getByRole('dialog').locator('form button[type]');
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).waitFor();
    const names = (await buttons.allInnerTexts()).filter((name) => name !== '');
    expect(names).toEqual(['Cancel', 'Override and resume']);
    await page.keyboard.press('Escape');
    expect(await page.getByRole('link', { name: 'Fix in the editor' }).count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Resume' }).count()).toBe(0);
    await page.getByRole('button', { name: 'More actions' }).click();
    expect(await page.getByRole('menuitem').first().innerText()).toBe('Resume');
    await context.close();
  });

  test('says once that a budget refuses a start, and links it', async () => {
    const { engine } = stage;
    const workflowId = await engine.define({ nodes: [mock('a', { cost_usd: 0.2 })], edges: [] });
    const budget = {
      scope: 'workflow',
      workflow_id: workflowId,
      limit_usd: 0.5,
      reservation_estimate_usd: 1,
    };
    const made = await stage.call('POST', '/api/budgets', { name: 'None', ...budget });
    expect(made.status).toBe(201);
    const { page, context } = await stage.open(`/workflows/${workflowId}?run=true`);
    const dialog = page.getByRole('dialog', { name: 'Run workflow' });
    await dialog.getByText('has no room').waitFor();
    await dialog.getByRole('button', { name: 'Run', exact: true }).click();
    await dialog.getByRole('alert').getByText('exhausted').waitFor();
    expect(await dialog.getByText(/has no room|exhausted/).count()).toBe(1);
    expect(await obstacles(page)).toEqual([]);
    await dialog.getByRole('link', { name: 'Open budgets' }).click();
    await page.getByRole('heading', { name: 'Budgets', level: 1 }).waitFor();
    await context.close();
  });

  test('is a record on paper, and the same as before on the screen', async () => {
    const { engine } = stage;
    const nodes = [gate, echo('good', '1'), echo('bad', 'good / 0')];
    const edges = [edge('sign', 'good', 'true'), edge('good', 'bad')];
    const runId = await started(nodes, edges, 'paused');
    await stage.call('POST', `/api/runs/${runId}/approve`, { reason: 'as agreed' });
    await engine.until(runId, ['failed']);
    const { page, context, problems } = await stage.open(`/runs/${runId}`, { scheme: 'dark' });
    await steps(page).getByRole('row', { name: /^good/ }).click();
    await page.getByRole('textbox', { name: 'Search steps' }).fill('o');

    await page.emulateMedia({ media: 'print' });
    const record = page.getByRole('article');
    await record.getByRole('heading', { name: 'Letters' }).waitFor();
    for (const text of [runId, 'division by zero', 'as agreed', 'Started manually', 'Failed']) {
      await record.getByText(text).first().waitFor();
    }
    expect(await record.getByRole('row').count()).toBe(4);
    // Nothing else: no sidebar, no buttons, no panes.
    const shown = await page.locator('body').innerText();
    expect(shown).not.toContain('Governance');
    expect(shown).not.toContain('Checkpoints');
    expect(await page.getByRole('button').count()).toBe(0);
    expect(await page.getByRole('navigation').count()).toBe(0);
    // Dark on white, also in the dark scheme: backgrounds are not printed.
    const colour = 'getComputedStyle(document.querySelector(".run-record")).color';
    expect(await page.evaluate(colour)).toBe('rgb(0, 0, 0)');

    await page.emulateMedia({ media: 'screen' });
    await side(page, 'Selected step').getByText('good').first().waitFor();
    expect(await page.getByRole('textbox', { name: 'Search steps' }).inputValue()).toBe('o');
    expect(await record.count()).toBe(0);
    expect(problems).toEqual([]);
    await context.close();
  });
});
