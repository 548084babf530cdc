import { beforeAll, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { describeConsole, pressInDialog, type Stage } from './browser.ts';

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
  const selected = (page: Page): string | null => new URL(page.url()).searchParams.get('step');

  test('show a run up to its gate, and update as it continues', async () => {
    const runId = await start(graph);
    await rest(runId, 'paused');
    const { page, context, problems } = await stage.open(`/runs/${runId}`);
    await expectText(state(page), 'paused');
    await page.getByRole('status').filter({ hasText: 'live' }).waitFor();
    // The gate's prompt is rendered as text, never as markup.
    await page.getByText('Sign <b>draft done</b>?').first().waitFor();

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

  test('share one selection between graph, timeline, table and log', async () => {
    const runId = await start(graph);
    await rest(runId, 'paused');
    const { page, context } = await stage.open(`/runs/${runId}`);

    // From the table: an earlier iteration.
    const polishes = page.getByRole('table', { name: 'Steps' }).getByRole('button', {
      name: 'Polish',
    });
    await polishes.nth(1).click();
    await expectText(detail(page), 'polish#2');
    expect(selected(page)).toBe('polish#2');
    await expectText(node(page, 'polish'), '#2 of 3');
    const bars = page.getByRole('listbox', { name: 'Step timeline' });
    const bar = bars.getByRole('option', { selected: true });
    expect(await bar.getAttribute('aria-label')).toMatch(/^Polish, iteration 2: success, /);

    // From the timeline, with the keyboard.
    await bars.focus();
    await page.keyboard.press('Home');
    await expectText(detail(page), 'draft');
    expect(selected(page)).toBe('draft');

    // From the graph, with the keyboard.
    await node(page, 'sign').focus();
    await page.keyboard.press('Enter');
    await expectText(detail(page), 'Sign');
    expect(selected(page)).toBe('sign');

    // From the log; the address alone restores the selection.
    await page.getByRole('tab', { name: 'Event log' }).click();
    const log = page.getByRole('listbox', { name: 'Event log' });
    await log
      .getByRole('option', { name: /Step completed\s*polish/i })
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

  test('preview and perform a resume', async () => {
    const runId = await start({
      nodes: [agent('find'), agent('book', { fail_times: 1 })],
      edges: [{ source: 'find', target: 'book' }],
    });
    await rest(runId, 'failed');
    const { page, context, problems } = await stage.open(`/runs/${runId}`);
    await expectText(state(page), 'failed');
    await page.getByRole('button', { name: 'Resume' }).click();
    const dialog = page.getByRole('dialog');
    await expectText(dialog, "'Book' runs again");
    await expectText(dialog, '1 completed step is kept');
    await pressInDialog(page, 'Resume');
    await expectText(state(page), 'success');
    expect(await page.getByRole('button', { name: 'Resume' }).count()).toBe(0);
    expect(problems).toEqual([]);
    await context.close();
  });

  test('cancel a waiting run', async () => {
    const runId = await start(graph);
    await rest(runId, 'paused');
    const { page, context } = await stage.open(`/runs/${runId}`);
    await page.getByRole('button', { name: 'Cancel run' }).click();
    const dialog = page.getByRole('dialog');
    await expectText(dialog, 'The open gate closes without a decision');
    await pressInDialog(page, 'Cancel run');
    await expectText(state(page), 'failed');
    await page.getByRole('button', { name: 'Resume' }).waitFor();
    await context.close();
  });

  test('override a run cap with a new one', async () => {
    const runId = await start(
      {
        nodes: [agent('dear', { cost_usd: 0.5 }), agent('next', { cost_usd: 0.1 })],
        edges: [{ source: 'dear', target: 'next' }],
      },
      { run_cap_usd: 0.2 },
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
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByLabel('Reason').fill('as agreed');
    await page.getByRole('button', { name: 'Send approval' }).click();
    await expectText(state(page), 'success');
    await expectText(detail(page), 'as agreed');
    expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
    expect(problems).toEqual([]);
    await context.close();
  });

  test('reconnect a broken stream and catch up', async () => {
    const runId = await start(graph);
    await rest(runId, 'paused');
    const { page, context } = await stage.open('/runs');
    let sockets = 0;
    let cut: (() => void) | undefined;
    await page.routeWebSocket(/\/stream/, (socket) => {
      sockets += 1;
      socket.connectToServer();
      cut = () => void socket.close({ code: 1001, reason: 'gone' });
    });
    await page.getByRole('link', { name: runId }).click();
    await page.getByRole('status').filter({ hasText: 'live' }).waitFor();
    const before = sockets;
    cut?.();
    await page.getByRole('status').filter({ hasText: 'reconnecting' }).waitFor();
    await stage.call('POST', `/api/runs/${runId}/approve`, {});
    await expectText(state(page), 'success');
    expect(sockets).toBe(before + 1);
    await context.close();
  });

  test('report an unknown run without further requests', async () => {
    const { page, context } = await stage.open('/runs/run_nothing');
    let asked = 0;
    await expectText(page.getByRole('alert'), 'Run not found');
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
    const { page, context, problems } = await stage.open('/runs?status=failed');
    const table = page.getByRole('table', { name: 'Runs, newest first' });
    await table.waitFor();
    const states = await table.locator('tbody .mantine-Badge-root').allTextContents();
    expect(new Set(states)).toEqual(new Set(['Failed']));
    await page.getByLabel('Started by').first().click();
    await page.getByRole('option', { name: 'schedule' }).click();
    await page.getByText('No matching runs').waitFor();
    expect(new URL(page.url()).search).toContain('trigger=schedule');
    await page.getByRole('link', { name: 'Clear filters' }).click();
    await table.waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });
});

/** Waits until the element shows this text. */
const expectText = (locator: Locator, text: string): Promise<void> =>
  locator.filter({ hasText: text }).first().waitFor();
