import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { obstacles } from '#test/console/axe.ts';
import { eventually } from '#test/support/engine.ts';
import { describeConsole, pressInDialog, type Stage } from '#test/console/browser.ts';
import { shortId } from '#console/src/parts/text/short-id.ts';
import { soakTest } from '#test/support/soak.ts';

const agent = (id: string, mock: Record<string, unknown> = {}) => ({
  id,
  kind: 'agent',
  label: id.charAt(0).toUpperCase() + id.slice(1),
  mock: { output: `${id} done`, ...mock },
});

/** A condition with a branch that is not taken, three iterations, and a gate. */
const graph = {
  nodes: [
    agent('draft'),
    { id: 'check', kind: 'condition', expression: 'true' },
    agent('never'),
    { id: 'rounds', kind: 'loop', expression: 'true', max_iterations: 3 },
    agent('polish', { cost_usd: 0.01 }),
    { id: 'sign', kind: 'human_gate', label: 'Sign', prompt: 'Sign <b>{draft}</b>?' },
    agent('send'),
  ],
  edges: [
    { source: 'draft', target: 'check' },
    { source: 'check', target: 'never', condition_value: 'false' },
    { source: 'check', target: 'rounds', condition_value: 'true' },
    { source: 'rounds', target: 'polish', condition_value: 'true' },
    { source: 'polish', target: 'rounds' },
    { source: 'rounds', target: 'sign' },
    { source: 'sign', target: 'send', condition_value: 'true' },
  ],
};

const failingOnce = {
  nodes: [agent('find'), agent('book', { fail_times: 1 })],
  edges: [{ source: 'find', target: 'book' }],
};

describeConsole('run pages', (given) => {
  let stage: Stage;
  beforeAll(() => {
    stage = given();
  });

  async function start(content: unknown, more: Record<string, unknown> = {}): Promise<string> {
    const workflow = await stage.call('POST', '/api/workflows', {
      name: 'Letters',
      graph: content,
      ...more,
    });
    const run = await stage.call('POST', `/api/workflows/${workflow.body.id}/runs`, {});
    expect(run.status).toBe(201);
    return run.body.id;
  }

  async function rest(runId: string, status: string): Promise<void> {
    for (let looks = 0; looks < 150; looks += 1) {
      const { body } = await stage.call('GET', `/api/runs/${runId}`);
      if (body.status === status) return;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error(`The run did not become ${status}`);
  }

  const node = (page: Page, id: string) => page.locator(`.react-flow__node[data-id="${id}"]`);
  const state = (page: Page) => page.locator('main .mantine-Badge-root').first();
  const detail = (page: Page) => page.getByRole('complementary', { name: 'Selected step' });
  const showView = (page: Page, name: string) => page.getByRole('tab', { name }).click();
  const selected = (page: Page): string | null => new URL(page.url()).searchParams.get('step');

  test('show a run up to its gate, and update as it continues', async () => {
    const runId = await start(graph);
    await rest(runId, 'paused');
    const { page, context, problems } = await stage.open(`/runs/${runId}`);
    await expectText(state(page), 'paused');
    await page.getByRole('status').filter({ hasText: 'live' }).waitFor();
    // The gate's prompt is rendered as text, never as markup.
    await page.getByText('Sign <b>draft done</b>?').first().waitFor();
    await showView(page, 'Graph');

    await expectText(node(page, 'draft'), 'success');
    await expectText(node(page, 'never'), 'skipped');
    await expectText(node(page, 'rounds'), '3 iterations');
    await expectText(node(page, 'polish'), '#3');
    expect(await node(page, 'send').textContent()).not.toContain('success');

    await stage.call('POST', `/api/runs/${runId}/approve`, {});
    await expectText(state(page), 'success');
    await expectText(node(page, 'send'), 'success');
    await page.getByRole('status').filter({ hasText: 'ended' }).waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });

  soakTest('show the whole graph in a view of its own', async () => {
    const runId = await start(graph);
    await rest(runId, 'paused');
    const { page, context } = await stage.open(`/runs/${runId}?tab=graph`, { width: 1920 });
    const map = page.locator('.graph-frame');
    const cards = map.locator('.react-flow__node');
    await cards.nth(graph.nodes.length - 1).waitFor();
    await eventually(async () => {
      const frame = (await map.boundingBox())!;
      const places = await Promise.all((await cards.all()).map((card) => card.boundingBox()));
      return places.every(
        (place) =>
          place !== null &&
          place.y >= frame.y &&
          place.y + place.height <= frame.y + frame.height &&
          place.x >= frame.x &&
          place.x + place.width <= frame.x + frame.width,
      );
    });
    await context.close();
  });

  soakTest('share one selection between graph, tree and log', async () => {
    const runId = await start(graph);
    await rest(runId, 'paused');
    const { page, context } = await stage.open(`/runs/${runId}`);

    // From the tree: an earlier iteration.
    const steps = page.getByRole('treegrid', { name: 'Steps' });
    await steps.getByRole('row', { name: /^Polish #2/ }).click();
    await expectText(detail(page), 'polish#2');
    expect(selected(page)).toBe('polish#2');
    await steps.getByRole('row', { name: /^Polish #2 Success/, selected: true }).waitFor();
    await showView(page, 'Graph');
    await expectText(node(page, 'polish'), '#2 of 3');
    await showView(page, 'Steps');

    // From the tree, with the keyboard.
    await steps.focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('Enter');
    await expectText(detail(page), 'draft');
    expect(selected(page)).toBe('draft');

    // From the graph, with the keyboard.
    await showView(page, 'Graph');
    await node(page, 'sign').focus();
    await page.keyboard.press('Enter');
    await expectText(detail(page), 'Sign');
    expect(selected(page)).toBe('sign');

    // From the log; the address alone restores the selection.
    await showView(page, 'Event log');
    const log = page.getByRole('listbox', { name: 'Event log' });
    await log
      .getByRole('option', { name: /Step succeeded\s*polish/i })
      .first()
      .click();
    await expectText(detail(page), 'polish#1');
    await page.reload();
    await expectText(detail(page), 'polish#1');
    // The start and end of this iteration only.
    await log.getByRole('option', { selected: true }).nth(1).waitFor();
    expect(await log.getByRole('option', { selected: true }).count()).toBe(2);
    await page.getByRole('button', { name: 'Close step' }).click();
    await detail(page).waitFor({ state: 'detached' });
    expect(selected(page)).toBeNull();
    await context.close();
  });

  soakTest('preview and perform a resume', async () => {
    const runId = await start({
      nodes: [agent('find'), agent('book', { fail_times: 1 })],
      edges: [{ source: 'find', target: 'book' }],
    });
    await rest(runId, 'failed');
    const { page, context, problems } = await stage.open(`/runs/${runId}`);
    await expectText(state(page), 'failed');
    await page.getByRole('button', { name: 'Resume' }).click();
    const dialog = page.getByRole('dialog');
    await expectText(dialog, '“Book” runs again');
    await expectText(dialog, '1 finished step is kept');
    await pressInDialog(page, 'Resume');
    await expectText(state(page), 'success');
    expect(await page.getByRole('button', { name: 'Resume' }).count()).toBe(0);
    expect(problems).toEqual([]);
    await context.close();
  });

  soakTest('find a failure and resume from it in three actions, with the mouse', async () => {
    const runId = await start(failingOnce);
    await rest(runId, 'failed');
    const { page, context, problems } = await stage.open('/runs');
    await page.getByRole('link', { name: shortId(runId) }).click();
    // The page opens at the step that failed, with its error.
    await expectText(detail(page).getByLabel('the error'), 'Mock failure 1 of 1');
    expect(selected(page)).toBe('book');
    expect(await obstacles(page)).toEqual([]);
    await page.getByRole('button', { name: 'Resume' }).click();
    await pressInDialog(page, 'Resume');
    await expectText(state(page), 'success');
    expect(problems).toEqual([]);
    await context.close();
  });

  soakTest(
    'find a failure and resume from it in three actions, with the keyboard alone',
    async () => {
      const runId = await start(failingOnce);
      await rest(runId, 'failed');
      const { page, context, problems } = await stage.open('/runs');
      await page.getByRole('link', { name: shortId(runId) }).focus();
      await page.keyboard.press('Enter');
      await expectText(detail(page).getByLabel('the error'), 'Mock failure 1 of 1');
      await page.keyboard.press('r');
      await page.getByRole('dialog').getByText('“Book” runs again').waitFor();
      await page.keyboard.press('Enter');
      await expectText(state(page), 'success');
      expect(problems).toEqual([]);
      await context.close();
    },
  );

  soakTest('lead from the failed step to its node in the editor', async () => {
    const runId = await start(failingOnce);
    await rest(runId, 'failed');
    const { page, context, problems } = await stage.open(`/runs/${runId}`, { width: 390 });
    // A narrow window shows the step over the run, so only when asked.
    await page.getByRole('button', { name: 'Show failed step' }).waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.getByRole('link', { name: 'Fix in the editor' }).click();
    await page.waitForURL(/\/edit\?node=book/);
    const id = page.getByRole('textbox', { name: 'ID', exact: true });
    await id.waitFor();
    expect(await id.inputValue()).toBe('book');
    expect(problems).toEqual([]);
    await context.close();
  });

  soakTest('move in the tree with the keyboard alone', async () => {
    const runId = await start({
      nodes: [
        agent('draft'),
        { id: 'rounds', kind: 'loop', expression: 'true', max_iterations: 2 },
        agent('polish'),
        agent('check'),
        agent('send', { fail_times: 9 }),
      ],
      edges: [
        { source: 'draft', target: 'rounds' },
        { source: 'rounds', target: 'polish', condition_value: 'true' },
        { source: 'polish', target: 'check' },
        { source: 'check', target: 'rounds' },
        { source: 'rounds', target: 'send', condition_value: 'false' },
      ],
    });
    await rest(runId, 'failed');
    const { page, context, problems } = await stage.open(`/runs/${runId}?step=draft`);
    const steps = page.getByRole('treegrid', { name: 'Steps' });
    const rows = steps.getByRole('row');
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    const active = async () => {
      const id = await steps.getAttribute('aria-activedescendant');
      return page.locator(`[id="${id}"]`).innerText();
    };
    await rows.filter({ hasText: 'Iteration 2' }).waitFor();
    const all = await rows.count();
    await steps.focus();
    await press('Home', 'ArrowDown', 'ArrowLeft');
    expect(await active()).toMatch(/^rounds/);
    expect(await rows.count()).toBe(all - 6);
    await press('ArrowRight', 'ArrowRight', 'ArrowRight');
    expect(await active()).toMatch(/^Polish/);
    // The step beside the tree follows.
    await expectText(detail(page), 'polish#1');
    await press('j');
    await expectText(detail(page), 'check#1');
    await press('k', 'k');
    expect(selected(page)).toBe('rounds');
    await press('f');
    expect(selected(page)).toBe('send');
    await steps.focus();
    await press('Escape');
    await detail(page).waitFor({ state: 'detached' });
    await press('Enter');
    await expectText(detail(page), 'Mock failure');
    // A filter shows the rows around its matches.
    await page.getByRole('textbox', { name: 'Search steps' }).fill('check#2');
    await page.getByText('1 of 7 steps').waitFor();
    expect(await rows.count()).toBe(4);
    expect(await obstacles(page)).toEqual([]);
    expect(problems).toEqual([]);
    await context.close();
  });

  soakTest('cancel a waiting run', async () => {
    const runId = await start(graph);
    await rest(runId, 'paused');
    const { page, context } = await stage.open(`/runs/${runId}`);
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Cancel run' }).click();
    const dialog = page.getByRole('dialog');
    await expectText(dialog, 'The open gate closes without a decision');
    await pressInDialog(page, 'Cancel run');
    await expectText(state(page), 'cancelled');
    await page.getByRole('button', { name: 'Resume' }).waitFor();
    await context.close();
  });

  soakTest('override a run cap with a new one', async () => {
    const runId = await start(
      {
        nodes: [agent('dear', { cost_usd: 0.5 }), agent('next', { cost_usd: 0.1 })],
        edges: [{ source: 'dear', target: 'next' }],
      },
      { run_cap_usd: 0.2, overrun: 'one_step' },
    );
    await rest(runId, 'failed');
    const { page, context } = await stage.open(`/runs/${runId}`);
    await page.getByRole('progressbar', { name: /of the cap/ }).waitFor();
    await page.getByRole('button', { name: 'Override budget' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('New run cap (USD)').fill('0.3');
    await expectText(dialog, 'Enter more than the cost so far');
    await dialog.getByLabel('New run cap (USD)').fill('2');
    await dialog.getByLabel('Reason').fill('month-end close');
    await pressInDialog(page, 'Override and resume');
    await expectText(state(page), 'success');
    await context.close();
  });

  test('approve a gate', async () => {
    const runId = await start(graph);
    await rest(runId, 'paused');
    const { page, context, problems } = await stage.open(`/runs/${runId}?step=sign`);
    await page.getByLabel('Reason').fill('as agreed');
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('button', { name: 'Send now' }).click();
    await expectText(state(page), 'success');
    await expectText(detail(page), 'as agreed');
    expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
    expect(problems).toEqual([]);
    await context.close();
  });

  soakTest('reconnect a broken stream and catch up', async () => {
    const runId = await start(graph);
    await rest(runId, 'paused');
    const { page, context } = await stage.open('/runs');
    let sockets = 0;
    let cut: (() => void) | undefined;
    // The second stream opens only after the page has said that it reconnects.
    const told = Promise.withResolvers<undefined>();
    await page.routeWebSocket(/\/runs\/[^/]+\/stream/, async (socket) => {
      sockets += 1;
      if (cut !== undefined) await told.promise;
      socket.connectToServer();
      cut = () => void socket.close({ code: 1001, reason: 'gone' });
    });
    await page.getByRole('link', { name: shortId(runId) }).click();
    await page.getByRole('status').filter({ hasText: 'live' }).waitFor();
    expect(sockets).toBe(1);
    cut?.();
    await page.getByRole('status').filter({ hasText: 'reconnecting' }).waitFor();
    told.resolve(undefined);
    await page.getByRole('status').filter({ hasText: 'live' }).waitFor();
    await stage.call('POST', `/api/runs/${runId}/approve`, {});
    await expectText(state(page), 'success');
    expect(sockets).toBe(2);
    await context.close();
  });

  soakTest('show the end of a run that ends while the page loads', async () => {
    const runId = await start(graph);
    await rest(runId, 'paused');
    const { page, context, problems } = await stage.open('/runs');
    // The stream opens after the end of the run, and only then the first read arrives.
    const ended = Promise.withResolvers<undefined>();
    await page.routeWebSocket(/\/runs\/[^/]+\/stream/, async (socket) => {
      await ended.promise;
      socket.connectToServer();
    });
    await page.route(
      `**/api/runs/${runId}`,
      async (route) => {
        const response = await route.fetch();
        await stage.call('POST', `/api/runs/${runId}/approve`, {});
        await rest(runId, 'success');
        ended.resolve(undefined);
        await page.waitForTimeout(1_000);
        await route.fulfill({ response });
      },
      { times: 1 },
    );
    await page.getByRole('link', { name: shortId(runId) }).click();
    await expectText(state(page), 'success');
    expect(problems).toEqual([]);
    await context.close();
  });

  soakTest('report an unknown run without further requests', async () => {
    const { page, context } = await stage.open('/runs/run_nothing');
    let asked = 0;
    await expectText(page.getByRole('alert'), 'Run not found');
    const log = page.getByRole('link', { name: 'Search the audit log' });
    expect(await log.getAttribute('href')).toContain('target_id=run_nothing');
    expect(await obstacles(page)).toEqual([]);
    await page.waitForTimeout(1_000);
    page.on('request', (request) => {
      if (request.url().includes('run_nothing')) asked += 1;
    });
    page.on('websocket', () => (asked += 1));
    await page.waitForTimeout(1_500);
    expect(asked).toBe(0);
    await context.close();
  });

  test('filter runs by the URL', async () => {
    await rest(await start(failingOnce), 'failed');
    const { page, context, problems } = await stage.open('/runs?status=failed');
    const table = page.getByRole('table', { name: 'Runs, newest first' });
    await table.waitFor();
    const states = await table.locator('tbody .mantine-Badge-root').allTextContents();
    expect(states).toContain('Failed');
    const failed = ['Failed', 'Cancelled', 'Stopped by budget'];
    expect(states.filter((each) => !failed.includes(each))).toEqual([]);
    await page.getByRole('button', { name: 'Filters', exact: true }).click();
    await page.getByLabel('Started by').first().click();
    await page.getByRole('option', { name: 'schedule' }).click();
    await page.getByText('No matching runs').waitFor();
    expect(new URL(page.url()).search).toContain('trigger=schedule');
    expect(await obstacles(page)).toEqual([]);
    await page.keyboard.press('Escape');
    const chips = page.getByRole('group', { name: 'Filters in use' });
    expect(await chips.locator('.mantine-Pill-label').allTextContents()).toEqual([
      'Failed',
      'Started by schedule',
    ]);
    await chips.getByRole('button', { name: 'Remove filter Started by schedule' }).click();
    await table.waitFor();
    await page.getByRole('button', { name: 'Export' }).click();
    const saved = page.waitForEvent('download');
    await page.getByRole('menuitem', { name: 'NDJSON' }).click();
    expect((await saved).suggestedFilename()).toBe('runs.ndjson');
    const lines = readFileSync(await (await saved).path(), 'utf8')
      .trimEnd()
      .split('\n');
    expect(new Set(lines.map((line) => JSON.parse(line).status))).toEqual(new Set(['failed']));
    const views = page.getByRole('button', { name: 'Views' });
    await views.click();
    await page.getByLabel('Save the current filters as').fill('Failed <b>ones</b>');
    await page.keyboard.press('Enter');
    const view = page.getByRole('link', { name: 'Failed <b>ones</b>' });
    await view.waitFor();
    expect(await obstacles(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await chips.getByRole('button', { name: 'Clear filters' }).click();
    await chips.waitFor({ state: 'detached' });
    expect(new URL(page.url()).search).toBe('');
    await views.click();
    await view.click();
    await page.waitForURL(/status=failed/);
    await view.waitFor({ state: 'detached' });
    await views.click();
    await page.getByRole('button', { name: 'Remove view Failed <b>ones</b>' }).click();
    await view.waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    expect(problems).toEqual([]);
    await context.close();
  });

  soakTest('find runs by words, and ignore values that are none', async () => {
    const { body } = await stage.call('POST', '/api/workflows', { name: 'Found', graph });
    const found = await stage.call('POST', `/api/workflows/${body.id}/runs`, { note: 'okapi-17' });
    const { page, context, problems } = await stage.open('/runs?status=done&version=x&q=%25_');
    await page.getByText('Type a letter or a digit').waitFor();
    const table = page.getByRole('table', { name: 'Runs, newest first' });
    await table.waitFor();
    await page.getByRole('textbox', { name: 'Search runs' }).fill('okapi 17');
    await page.waitForURL(/q=okapi/);
    await table.getByRole('link', { name: shortId(found.body.id) }).waitFor();
    // The list that was shown before has it as well.
    await eventually(async () => (await table.locator('tbody tr').count()) === 1);
    await page.reload();
    await table.getByRole('link', { name: shortId(found.body.id) }).waitFor();
    expect(await obstacles(page)).toEqual([]);
    expect(problems).toEqual([]);
    await context.close();
  });

  soakTest('act on several runs at once, with time to undo', async () => {
    const gate = { id: 'sign', kind: 'human_gate', label: 'Sign', prompt: 'Sign?' };
    const form = { type: 'object', properties: { note: { type: 'string' } }, required: ['note'] };
    const create = async (name: string, node: object) =>
      (await stage.call('POST', '/api/workflows', { name, graph: { nodes: [node], edges: [] } }))
        .body.id;
    const plain = await create('Plain <b>', gate);
    const ids: string[] = [];
    for (let run = 0; run < 3; run += 1) {
      ids.push((await stage.call('POST', `/api/workflows/${plain}/runs`, {})).body.id);
    }
    for (const id of ids) await rest(id, 'paused');
    const { page, context, problems } = await stage.open(`/runs?workflow_id=${plain}`);
    const box = (at: number) => page.getByRole('checkbox', { name: `Select ${ids[at]}` });
    await box(2).click();
    await box(0).click({ modifiers: ['Shift'] });
    await expectText(page.getByRole('toolbar'), '3 runs selected');
    expect(await box(1).isChecked()).toBe(true);
    expect(await obstacles(page)).toEqual([]);
    const approve = async () => {
      await page.getByRole('button', { name: 'Approve (3)' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Approve 3 runs' }).click();
      await expectText(page.getByRole('alert'), 'Approving 3 runs in 5 s');
    };
    await approve();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.waitForTimeout(6_000);
    for (const id of ids) await rest(id, 'paused');
    await page.getByRole('checkbox', { name: 'Select all runs shown' }).click();
    await approve();
    for (const id of ids) await rest(id, 'success');
    await expectText(page.getByRole('alert'), '3 runs approved');

    const formed = await create('Formed', { ...gate, input_schema: form });
    const { id } = (await stage.call('POST', `/api/workflows/${formed}/runs`, {})).body;
    await rest(id, 'paused');
    await page.goto(`${stage.url}/runs?workflow_id=${formed}`);
    await page.getByRole('checkbox', { name: `Select ${id}` }).click();
    // Its approval needs input.
    expect(await page.getByRole('button', { name: 'Approve (0)' }).isDisabled()).toBe(true);
    expect(await obstacles(page)).toEqual([]);
    expect(problems).toEqual([]);
    await context.close();
  });
});

/** Waits until the element shows this text. */
const expectText = (locator: Locator, text: string): Promise<void> =>
  locator.filter({ hasText: text }).first().waitFor();
