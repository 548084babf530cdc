import { beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { echo, edge } from '#test/support/engine.ts';
import { obstacles } from './axe.ts';
import { describeConsole, placeOf, type Stage } from './browser.ts';

const env = { ENCRYPTION_KEY: 'a key for the tests alone' };
const phone = { width: 390, height: 844 };
/** The smallest text that people read without effort, in pixels of the window. */
const READABLE_PX = 9;

describeConsole(
  'the look of pages',
  (given) => {
    let stage: Stage;
    beforeAll(() => {
      stage = given();
    });

    const started = async (nodes: object[], edges: object[], input: object, status: string) => {
      const { engine } = stage;
      const workflowId = await engine.define({ nodes, edges } as never, 'Letters');
      const runId = await engine.trigger(workflowId, input as never);
      await engine.until(runId, [status as never]);
      return { workflowId, runId };
    };

    test('keeps the buttons of a dialog that is longer than the window in view', async () => {
      await stage.engine.define({ nodes: [echo('a')], edges: [] } as never, 'Plans');
      for (const [path, opens, submits] of [
        ['/data/keys', 'New data key', 'Create key'],
        ['/webhooks', 'New endpoint', 'Create endpoint'],
        ['/schedules', 'New schedule', 'Create schedule'],
      ] as const) {
        const { page, context, problems } = await stage.open(path, { width: 1280, height: 600 });
        await page.getByRole('button', { name: opens, exact: true }).click();
        const dialog = page.getByRole('dialog');
        const submit = dialog.getByRole('button', { name: submits, exact: true });
        await submit.waitFor();
        const { y, height } = await placeOf(submit);
        expect(y + height).toBeLessThan(600);
        // Nothing that has the focus stands behind them.
        const last = dialog.getByRole('textbox').last();
        await last.focus();
        const field = await placeOf(last);
        expect(field.y).toBeLessThan(y);
        expect(problems).toEqual([]);
        await context.close();
      }
    });

    test('keeps the fields of a card on a phone apart, also empty ones', async () => {
      const made = await stage.call('PUT', '/api/secrets/CRM_TOKEN', {
        value: 'abc123456789',
        allowed_hosts: ['crm.example.com'],
      });
      expect(made.status).toBeLessThan(300);
      const { page, context, problems } = await stage.open('/secrets', phone);
      const cells = page.getByRole('row').filter({ hasText: 'CRM_TOKEN' }).locator('td');
      await cells.first().waitFor();
      expect(await overlaps(page, 'td[data-column]')).toEqual([]);
      await page.goto(`${stage.url}/settings`);
      const free = page.getByRole('row').filter({ hasText: 'Free' }).locator('td');
      await free.first().waitFor();
      expect(await free.nth(1).getAttribute('data-column')).toBe('Runs per month');
      expect(problems).toEqual([]);
      await context.close();
    });

    test('compares two runs within the width of a phone', async () => {
      const { workflowId, runId } = await started([echo('a')], [], {}, 'success');
      const other = await stage.engine.trigger(workflowId);
      await stage.engine.until(other, ['success']);
      const { page, context, problems } = await stage.open(
        `/runs/${runId}/compare/${other}`,
        phone,
      );
      const table = page.getByRole('table', { name: 'Compared steps' });
      await table.waitFor();
      const { x, width } = await placeOf(table);
      expect(x + width).toBeLessThanOrEqual(phone.width);
      // Each value says whose it is.
      const total = page.getByRole('row').filter({ hasText: 'Total' }).locator('td');
      expect(await total.first().getAttribute('data-column')).toBe('Older run');
      expect(await obstacles(page)).toEqual([]);
      expect(problems).toEqual([]);
      await context.close();
    });

    test('names the items of a map, and cuts the note of a step before its name', async () => {
      const { runId } = await started(
        [
          { id: 'each', kind: 'map', items: 'list' },
          { ...echo('score', 'each.item.amount * 2'), label: 'Score firm' },
          echo('ask'),
        ],
        [
          edge('each', 'score', 'true'),
          edge('score', 'each'),
          edge('score', 'ask', 'error'),
          edge('ask', 'each'),
        ],
        { list: [{}, {}] },
        'success',
      );
      const { page, context } = await stage.open(`/runs/${runId}`);
      await page.getByText('Item 2', { exact: true }).waitFor();
      const name = page.locator('.trace-label').filter({ hasText: 'Score firm' }).first();
      expect(await name.evaluate((it: any) => it.scrollWidth <= it.clientWidth)).toBe(true);
      await context.close();
    });

    test('says that a run was cancelled, and not that it failed', async () => {
      const gate = { id: 'sign', kind: 'human_gate', prompt: 'Sign?' };
      const { runId } = await started([gate], [], {}, 'paused');
      expect((await stage.call('POST', `/api/runs/${runId}/cancel`, {})).status).toBe(200);
      await stage.engine.until(runId, ['failed']);
      const { page, context } = await stage.open(`/runs/${runId}?tab=log`);
      await page.getByText('Run cancelled', { exact: true }).waitFor();
      expect(await page.getByText('Run failed').count()).toBe(0);
      await context.close();
    });

    test('does not count a failed rehearsal as a failure', async () => {
      const node = { id: 'write', kind: 'agent', prompt: '{topic}', mock: { output: 'x' } };
      const { runId } = await started([node], [], { topic: 'a' }, 'success');
      const rerun = { mode: 'recorded', input: { topic: 'b' } };
      const { body } = await stage.call('POST', `/api/runs/${runId}/rerun`, rerun);
      await stage.engine.until(body.id, ['failed']);
      const { page, context } = await stage.open('/');
      await page.getByRole('heading', { name: 'Recent failures' }).waitFor();
      await page.getByText('No recent failures').waitFor();
      expect(await page.locator(`a[href="/runs/${body.id}"]`).count()).toBe(0);
      await context.close();
    });

    test('keeps the names of a large graph readable', async () => {
      const nodes = Array.from({ length: 12 }, (_, at) => ({
        ...echo(`n${at}`),
        label: 'Understand the ticket',
      }));
      const edges = nodes.slice(1).map(({ id }, at) => edge(`n${at}`, id));
      const workflowId = await stage.engine.define({ nodes, edges } as never, 'Long');
      const { page, context, problems } = await stage.open(`/workflows/${workflowId}`);
      const name = page.locator('.graph-card-name').first();
      await name.waitFor();
      await page.locator('.react-flow[data-far]').waitFor();
      const size = await name.evaluate(
        (it: any) =>
          (Number.parseFloat((globalThis as any).getComputedStyle(it).fontSize) *
            it.getBoundingClientRect().width) /
          it.offsetWidth,
      );
      expect(size).toBeGreaterThanOrEqual(READABLE_PX);
      expect(await obstacles(page)).toEqual([]);
      expect(problems).toEqual([]);
      await context.close();
    });
  },
  { env },
);

/** The pairs of such elements where the second begins before the first ends. */
const overlaps = (page: Page, selector: string): Promise<string[]> =>
  page.evaluate<
    string[]
  >(`[...document.querySelectorAll(${JSON.stringify(selector)})].flatMap((cell) => {
    const next = cell.nextElementSibling;
    if (next === null || getComputedStyle(next).display === 'none') return [];
    const line = parseFloat(getComputedStyle(cell).lineHeight);
    const { top, height } = cell.getBoundingClientRect();
    return next.getBoundingClientRect().top < top + Math.min(height, line) || height < line - 1
      ? [cell.dataset.column + ' ' + next.dataset.column] : [];
  })`);
