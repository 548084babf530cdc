import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { describeConsole, placeOf, type Stage } from './browser.ts';

const MOST_FONT_BYTES = 120_000;
const assets = join(import.meta.dirname, '../../console/dist/assets');

describeConsole('type and density', (given) => {
  let stage: Stage;
  let workflowId: string;
  beforeAll(async () => {
    stage = given();
    const graph = { nodes: [{ id: 'a', kind: 'agent', mock: { output: 'x' } }], edges: [] };
    workflowId = await stage.engine.define(graph as never, 'Letters');
    const run = await stage.call('POST', `/api/workflows/${workflowId}/runs`, { order: 'A-1042' });
    await stage.engine.until(run.body.id, ['success']);
  });

  test('the console brings its own font, small, and loads it with the document', async () => {
    const fonts = readdirSync(assets).filter((name) => name.endsWith('.woff2'));
    const bytes = fonts.map((name) => statSync(join(assets, name)).size);
    expect(bytes.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(MOST_FONT_BYTES);
    const served = await fetch(`${stage.url}/assets/${fonts[0]}`);
    expect(served.headers.get('content-type')).toBe('font/woff2');
    const { page, context, problems } = await stage.open('/runs');
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.evaluate('document.fonts.ready');
    const loaded = await page.evaluate<string[]>(
      `[...document.fonts].filter(({ status }) => status === 'loaded').map(({ family }) => family)`,
    );
    expect(loaded).toContain('Inter');
    expect(await page.locator('link[rel="preload"][as="font"]').count()).toBe(1);
    expect(problems).toEqual([]);
    await context.close();
  });

  test('the text keeps its place if the font never arrives', async () => {
    const { page, context } = await stage.open('/no-such-page');
    const places: number[][] = [];
    for (const blocked of [false, true]) {
      if (blocked) await page.route('**/*.woff2', (route) => route.abort());
      await page.goto(`${stage.url}/runs`);
      await page.getByRole('link', { name: 'Letters' }).waitFor();
      await page.evaluate('document.fonts.ready');
      const { y, height } = await placeOf(page.getByRole('row').nth(1));
      places.push([y, y + height]);
    }
    const [arrived, never] = places;
    for (const [at, edge] of arrived!.entries()) {
      expect(Math.abs(edge - never![at]!)).toBeLessThanOrEqual(1);
    }
    await context.close();
  });

  test('rows of runs have one line of 13 px, with the end of the id, which a button copies', async () => {
    const { page, context, problems } = await stage.open('/runs');
    const row = page.getByRole('row').filter({ hasText: 'Letters' });
    const { height } = await placeOf(row);
    expect(height).toBeGreaterThanOrEqual(36);
    expect(height).toBeLessThanOrEqual(40);
    const look = (property: string) =>
      row
        .getByRole('cell')
        .last()
        .evaluate((cell, name) => window.getComputedStyle(cell).getPropertyValue(name), property);
    expect(await look('font-size')).toBe('13px');
    expect(await look('font-variant-numeric')).toBe('tabular-nums');
    expect(await row.textContent()).not.toMatch(/run_/);
    await row.getByText('Owner · manual').waitFor();
    await row.getByText('order: A-1042').waitFor();
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await row.hover();
    await row.getByRole('button', { name: /^Copy the ID/ }).click();
    expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(/^run_/);
    expect(problems).toEqual([]);
    await context.close();
  });

  test('on a phone, runs are cards and nothing scrolls sideways', async () => {
    const { page, context, problems } = await stage.open('/runs', { width: 390, height: 844 });
    const table = page.getByRole('group').or(page.locator('.run-table')).last();
    await page.getByRole('link', { name: 'Letters' }).waitFor();
    for (const part of ['Success', '$0', 'manual']) {
      const { x, width } = await placeOf(table.getByText(part, { exact: false }).first());
      expect(x).toBeGreaterThanOrEqual(0);
      expect(x + width).toBeLessThanOrEqual(390);
    }
    await stage.call('PUT', `/api/workflows/${workflowId}`, {
      graph: { nodes: [{ id: 'b', kind: 'agent', mock: { output: 'y' } }], edges: [] },
      note: `Answers with ${'a very long word '.repeat(8)}`,
    });
    await stage.call('POST', '/api/schedules', {
      ...{ workflow_id: workflowId, name: 'Each morning', timezone: 'Europe/Berlin' },
      ...{ cron: '30 7 * * 1-5', input: {} },
    });
    const model = 'openai/a-model-with-a-rather-long-name-2026-11-29';
    await stage.call('PUT', '/api/workspace/prices', {
      prices: [{ model, input_usd_per_million: 1.25, output_usd_per_million: 10 }],
    });
    for (const [path, shown] of [
      ['/runs'],
      ['/workflows'],
      ['/audit'],
      ['/members'],
      ['/data/keys'],
      ['/keys'],
      ['/schedules', 'Each morning'],
      [`/workflows/${workflowId}?tab=versions`, 'Answers with'],
      ['/usage', model],
    ] as const) {
      await page.goto(stage.url + path);
      await page
        .getByRole('main')
        .getByRole('row')
        .filter(shown === undefined ? {} : { hasText: shown })
        .nth(shown === undefined ? 1 : 0)
        .or(page.locator('.empty'))
        .first()
        .waitFor();
      const wide = await page.evaluate<string[]>(`[...document.querySelectorAll('main *')]
        .filter((each) => each.scrollWidth > each.clientWidth + 1 && !each.matches('.section-tabs, [role="tablist"]'))
        .filter((each) => ['auto', 'scroll'].includes(getComputedStyle(each).overflowX))
        .map((each) => each.className)`);
      expect([path, ...wide]).toEqual([path]);
    }
    expect(problems).toEqual([]);
    await context.close();
  });

  test('a wide window is filled, and the rest is on both sides', async () => {
    const { page, context } = await stage.open('/runs', { width: 1920, height: 1080 });
    const { x, width } = await placeOf(page.getByRole('main').locator('> *').first());
    expect(width).toBeGreaterThan(1_600);
    expect(Math.abs(x - 208 - (1920 - x - width))).toBeLessThanOrEqual(2);
    await context.close();
  });
});
