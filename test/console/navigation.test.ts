import { expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { soakTest } from '#test/support/soak.ts';
import { obstacles } from './axe.ts';
import { describeConsole, type Stage, placeOf } from './browser.ts';

const MOST_ENTRIES = 10;

const sections: Record<string, readonly string[]> = {
  Workflows: ['Workflows', 'Templates', 'Schedules', 'Events', 'Queues'],
  Tools: ['Tools', 'Connections', 'Secrets'],
  Spend: ['Budgets', 'Usage'],
  Governance: ['Policies', 'Policy log', 'Audit log'],
  Data: ['Feeds', 'Records', 'Changes', 'Data keys'],
  Settings: ['Workspace', 'Members', 'API keys', 'Webhooks', 'Account'],
};

/** Navigation names contain each other, so each is exact. */
const navigation = (page: Page, name: string): Locator =>
  page.getByRole('navigation', { name, exact: true });

const heading = (page: Page, name: string): Locator =>
  page.getByRole('heading', { name, level: 1, exact: true });

describeConsole('the navigation', (opened) => {
  const stage = (): Stage => opened();

  test('has few entries, and the other pages of a section as tabs', async () => {
    const { page, context, problems } = await stage().open('/');
    const entries = navigation(page, 'Pages').getByRole('link');
    await heading(page, 'Overview').waitFor();
    const groups = navigation(page, 'Pages').getByRole('group');
    expect(
      await groups.evaluateAll((all) => all.map((group) => group.getAttribute('aria-label'))),
    ).toEqual(['Operate', 'Build', 'Control']);
    const names = await entries.locator('.mantine-NavLink-label').allTextContents();
    expect(names.length).toBeLessThanOrEqual(MOST_ENTRIES);
    expect(names).toContain('Spend');
    await entries.filter({ hasText: 'Spend' }).click();
    await heading(page, 'Budgets').waitFor();
    const tabs = navigation(page, 'Spend section');
    expect(await tabs.getByRole('link').allTextContents()).toEqual(['Budgets', 'Usage']);
    await tabs.getByRole('link', { name: 'Usage' }).focus();
    await page.keyboard.press('Enter');
    await heading(page, 'Usage').waitFor();
    const marked = tabs.locator('[aria-current="page"]');
    expect(await marked.allTextContents()).toEqual(['Usage']);
    const here = entries.and(page.locator('[aria-current]'));
    expect(await here.locator('.mantine-NavLink-label').allTextContents()).toEqual(['Spend']);
    expect(await obstacles(page)).toEqual([]);
    await page.goBack();
    await heading(page, 'Budgets').waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });

  soakTest('opens a dialog in its place for users who want less motion', async () => {
    const { page, context, problems } = await stage().open('/budgets');
    await page.evaluate(() => {
      const places = new Set<string>();
      window.places = places;
      const look = (): void => {
        const dialog = document.querySelector('[role="dialog"]');
        if (dialog !== null) {
          const { x, y, width } = dialog.getBoundingClientRect();
          places.add([x, y, width, window.getComputedStyle(dialog).opacity].join(' '));
        }
        window.requestAnimationFrame(look);
      };
      look();
    });
    await page.getByRole('button', { name: 'New budget' }).first().click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).waitFor();
    await page.waitForTimeout(500);
    const places = await page.evaluate(() => [...(window.places as Set<string>)]);
    expect(places).toHaveLength(1);
    expect(problems).toEqual([]);
    await context.close();
  });

  test('keeps the tabs in place on every page of a section', async () => {
    const { page, context } = await stage().open('/');
    const entries = navigation(page, 'Pages').getByRole('link');
    for (const [name, pages] of Object.entries(sections)) {
      await entries.filter({ hasText: name }).first().click();
      await heading(page, pages[0]!).waitFor();
      const tabs = navigation(page, `${name} section`);
      expect(await tabs.getByRole('link').allTextContents()).toEqual(pages);
      const places = new Set<string>();
      for (const label of pages) {
        await tabs.getByRole('link', { name: label, exact: true }).click();
        await heading(page, label).waitFor();
        const { x, y, height } = await placeOf(tabs);
        places.add([x, y, height].join());
      }
      expect([name, ...places]).toHaveLength(2);
    }
    await context.close();
  });

  soakTest('scrolls the tabs on a phone, and not the page', async () => {
    const { page, context } = await stage().open('/account', { width: 320, height: 700 });
    const tabs = navigation(page, 'Settings section');
    const current = tabs.locator('[aria-current="page"]');
    await current.waitFor();
    const { x, width } = await placeOf(current);
    expect(x).toBeGreaterThanOrEqual(0);
    // Scrolled positions can be off by a fraction of a pixel.
    expect(Math.floor(x + width)).toBeLessThanOrEqual(320);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
    await context.close();
  });

  soakTest('leads from a detail page back to its list, by link, key and palette', async () => {
    const { call, open } = stage();
    const { body: feed } = await call('POST', '/api/data/feeds', { name: 'Permits' });
    const { page, context, problems } = await open(`/data/feeds/${feed.id}`);
    await heading(page, 'Permits').waitFor();
    expect(await navigation(page, 'Data section').count()).toBe(0);
    await navigation(page, 'Breadcrumb').getByRole('link', { name: 'Feeds' }).click();
    await heading(page, 'Feeds').waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('u');
    await heading(page, 'Usage').waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search or run a command' }).fill('spend');
    await page.getByRole('option', { name: /Budgets/ }).click();
    await heading(page, 'Budgets').waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });
});
