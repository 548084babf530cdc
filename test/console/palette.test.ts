import { beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { obstacles } from './axe.ts';
import { describeConsole, type Stage } from './browser.ts';

let stage: Stage;
const graph = {
  nodes: [{ id: 'sign', kind: 'human_gate', label: 'Sign', prompt: 'Sign?' }],
  edges: [],
};

describeConsole('the command palette', (opened) => {
  let workflowId: string;
  let runId: string;
  beforeAll(async () => {
    stage = opened();
    const name = 'Zebra <img src=x onerror=alert(1)>';
    workflowId = (await stage.call('POST', '/api/workflows', { name, graph })).body.id;
    runId = (await stage.call('POST', `/api/workflows/${workflowId}/runs`, {})).body.id;
  });

  const field = (page: Page) => page.getByRole('combobox', { name: 'Search or run a command' });
  const chosen = (page: Page) => page.locator('[role="option"][aria-selected="true"]');

  test('opens with Ctrl+K, and finds and opens pages by keyboard alone', async () => {
    const { page, context, problems } = await stage.open('/');
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.keyboard.press('Control+k');
    await field(page).waitFor();
    await page.getByRole('option', { name: /Zebra/ }).first().waitFor();
    expect(await obstacles(page)).toEqual([]);
    await page.keyboard.type('zbr');
    await page.getByRole('option', { name: 'Search runs for “zbr”' }).waitFor();
    expect(await chosen(page).textContent()).toContain('Zebra');
    const active = await field(page).getAttribute('aria-activedescendant');
    expect(await chosen(page).getAttribute('id')).toBe(active);
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/workflows/${workflowId}`);
    await page.keyboard.press('Control+k');
    await field(page).fill(runId);
    await page.getByRole('option', { name: `Open run ${runId}` }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/runs/${runId}`);
    await page.keyboard.press('Control+k');
    await field(page).fill('cancel this');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Cancel this run?' }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k');
    await field(page).fill('run zebra');
    await page.getByRole('option', { name: /^Run Zebra/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Run workflow' }).waitFor();
    await page.keyboard.press('Escape');
    await page.waitForURL(`**/workflows/${workflowId}`);
    await page.keyboard.press('Control+k');
    await field(page).fill('nothing like 10%');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await page.waitForURL(/runs\?q=nothing/);
    await page.getByText('No matching runs').waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });

  test('offers the actions of the console, and nothing that only shares letters', async () => {
    const { page, context, problems } = await stage.open('/');
    await page.getByRole('heading', { level: 1 }).waitFor();
    const search = async (typed: string): Promise<void> => {
      await page.keyboard.press('Control+k');
      await field(page).fill(typed);
    };
    for (const [typed, path, dialog] of [
      ['new secret', '/secrets', 'New secret'],
      ['new budget', '/budgets', 'New budget'],
      ['new workflow', '/workflows', 'New workflow'],
    ] as const) {
      await search(typed);
      await page.keyboard.press('Enter');
      await page.waitForURL(`**${path}`);
      await page.getByRole('dialog', { name: dialog }).waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog', { name: dialog }).waitFor({ state: 'detached' });
    }
    await search('dark');
    expect(await page.getByRole('option').allTextContents()).toEqual([
      'Toggle theme: dark',
      'Search runs for “dark”',
    ]);
    await page.keyboard.press('Enter');
    await page.locator('html[data-mantine-color-scheme="dark"]').waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });

  test('opens the approval that waits longest, and a step of the run on the page', async () => {
    await stage.engine.until(runId, ['paused']);
    const { page, context, problems } = await stage.open(`/runs/${runId}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.keyboard.press('Control+k');
    await field(page).fill('go to step sign');
    await page.getByRole('option', { name: /^Go to step Sign/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/step=sign/);
    await page.getByRole('button', { name: 'Search Ctrl K' }).click();
    await field(page).fill('approve next');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/approvals/${runId}/sign`);
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy the link to this approval' }).click();
    const copied = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(copied).toBe(`${stage.url}/approvals/${runId}/sign`);
    expect(problems).toEqual([]);
    await context.close();
  });

  test('leaves keys alone while the user types', async () => {
    const { page, context, problems } = await stage.open('/workflows');
    const search = page.getByRole('textbox').first();
    await search.fill('g');
    await search.press('r');
    await search.press('?');
    expect(new URL(page.url()).pathname).toBe('/workflows');
    expect(await search.inputValue()).toBe('gr?');
    await search.fill('');
    await search.blur();
    await page.keyboard.press('g');
    await page.keyboard.press('a');
    // It may have opened the first approval already.
    await page.waitForURL(/\/approvals(\/|$)/);
    await page.keyboard.press('g');
    await page.keyboard.press('r');
    await page.waitForURL('**/runs');
    await page.keyboard.press('?');
    const sheet = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await sheet.getByText('Go to Approvals').waitFor();
    expect(await obstacles(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await sheet.waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
    await context.close();
  });
});
